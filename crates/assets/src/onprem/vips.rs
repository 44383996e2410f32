//! What the machines must know about the virtual addresses.

use super::router_ids;
use crate::{Cluster, VipFacts, node::paths};

/// The port that haproxy takes API connections on.
pub(super) const BALANCER_PORT: u16 = 9445;
/// The port on which haproxy says that it runs.
pub(super) const BALANCER_READY_PORT: u16 = 9444;
/// The port on which haproxy says that it has an API server.
pub(super) const BALANCER_BACKENDS_PORT: u16 = 9454;

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
