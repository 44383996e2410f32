//! Where machines fetch what they boot with, while an installation runs.
//!
//! | host | what it is |
//! |---|---|
//! | [`AssetHost`] | this program, as a server of its own |
//! | [`Bucket`] | a bucket of an object store, with links that expire |
//! | [`check_served`] | a web server of the user's own, which is only looked at |
//!
//! Two kinds of files: those that anybody may have (an iPXE script, which firmware fetches over plain HTTP, because it trusts
//! none but public authorities), and those that hold secrets, which are served over TLS alone. Both are behind a path that nobody
//! can guess, and both are gone when the installation has no use for them any more.
//!
//! One port of the program's own server does both: the first byte of a connection tells them apart.

mod bucket;
mod identity;
mod serve;
mod served;

pub use bucket::{Bucket, BucketError, BucketPlace};
pub use identity::{Identity, IdentityError};
pub use serve::{AssetHost, Assets, StartError};
pub use served::{ServedError, check_served};
