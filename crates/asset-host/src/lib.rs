//! Serves what machines boot with, while an installation runs.
//!
//! Two kinds of files: those that anybody may have (an iPXE script, which firmware fetches over plain HTTP, because it trusts
//! none but public authorities), and those that hold secrets, which are served over TLS alone. Both are behind a path that nobody
//! can guess, and both are gone when the installation has no use for them any more.
//!
//! One port does both: the first byte of a connection tells them apart.

mod identity;
mod serve;

pub use identity::{Identity, IdentityError};
pub use serve::{AssetHost, Assets, StartError};
