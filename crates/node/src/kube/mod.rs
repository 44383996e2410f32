//! The cluster's API as machines use it: who is in the cluster, by which way, and what was known last.

mod access;
mod follow;
mod node;

pub use access::{ADMIN_CONFIG, Access, KUBELET_CONFIG};
pub use follow::{Known, follow, remembered};
pub use node::ClusterNode;
