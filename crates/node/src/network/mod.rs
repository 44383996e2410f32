//! The pod network of type `Routed`: each node's pods share a bridge, and the nodes route to each other.
//!
//! The cluster gives each node a range for its pods. From that follow the CNI configuration of this node, a route to the
//! range of every other node, and the rule that hides pod addresses from what is outside of the cluster.

mod masquerade;
mod routes;
mod run;

pub use masquerade::{Outside, masquerade_rules};
pub use routes::{PodRoute, pod_routes};
pub use run::run;
