//! etcd's members, by the JSON form of its API, so that no further program is needed on the machine.

mod client;
mod members;

pub use client::Etcd;
pub use members::EtcdMember;
