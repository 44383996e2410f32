//! etcd's members, by the JSON form of its API, so that no further program is needed on the machine.

mod client;
mod keep;
mod members;

pub use client::Etcd;
pub use keep::keep_members;
pub use members::{EtcdMember, Leaving};
