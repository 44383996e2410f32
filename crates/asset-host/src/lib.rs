//! Where machines fetch what they boot with, while an installation runs.
//!
//! | host | what it is |
//! |---|---|
//! | [`AssetHost`] | this program, as a server of its own |
//! | [`Bucket`] | a bucket of an object store, with links that expire |
//! | [`check_served`] | a web server of the user's own, which is only looked at |
//!
//! Two kinds of files: public ones (an iPXE script, which firmware fetches over plain HTTP, because it trusts public authorities
//! only), and private ones, which hold secrets. Each kind is below a path of its own that cannot be guessed: the path of the public
//! ones travels in plain and tells nothing about the other. Private files are served over TLS alone, to the machine that they are
//! for, for a short while after it has fetched them, and never again when the installation has no use for them.
//!
//! One port of the program's own server does both: the first byte of a connection tells them apart.

mod bucket;
mod identity;
mod private;
mod serve;
mod served;

pub use bucket::{Bucket, BucketError, BucketPlace};
pub use identity::{Identity, IdentityError};
pub use private::Reader;
pub use serve::{AssetHost, Assets, StartError};
pub use served::{ServedError, check_served};
