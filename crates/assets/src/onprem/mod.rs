//! The API endpoint on platforms that have no load balancer: virtual addresses by keepalived, balancing by haproxy.
//!
//! keepalived answers which machine has a working balancer, haproxy answers which API server works; mixing the two makes
//! addresses wander when the last API server is slow. What a machine cannot know before it runs (its interface, the other
//! members) is filled in by `landfall-node`, with the same functions that render the first configuration.

mod files;
mod haproxy;
mod keepalived;
mod members;
mod router_ids;

pub(crate) use files::{onprem_files, onprem_units};
pub use haproxy::haproxy_config;
pub use keepalived::keepalived_config;
pub use members::{LocalNode, Member};
pub use router_ids::router_ids;

use crate::{Cluster, VipFacts, node::paths};

/// The port that haproxy takes API connections on.
const BALANCER_PORT: u16 = 9445;
/// The port on which haproxy says that it runs.
const BALANCER_READY_PORT: u16 = 9444;
/// The port on which haproxy says that it has an API server.
const BALANCER_BACKENDS_PORT: u16 = 9454;

/// The virtual addresses, if the cluster's machines hold them.
pub(crate) fn vip_facts(cluster: &Cluster<'_>) -> Option<VipFacts> {
    let router_ids = router_ids(cluster)?;
    Some(VipFacts {
        api: cluster.config.api_vips().to_vec(),
        ingress: cluster.config.ingress_vips().to_vec(),
        api_router_id: router_ids.api,
        ingress_router_id: router_ids.ingress,
        balancer_port: BALANCER_PORT,
        balancer_ready_port: BALANCER_READY_PORT,
        balancer_backends_port: BALANCER_BACKENDS_PORT,
        keepalived_config: paths::KEEPALIVED_CONFIG.to_owned(),
        haproxy_config: paths::HAPROXY_CONFIG.to_owned(),
    })
}
