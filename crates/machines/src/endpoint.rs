//! Keeping the API endpoint on healthy masters, where a platform has to.

use std::sync::Arc;

use landfall_platform::{Machine as Instance, error_chain};

use crate::{Machine, platforms::Sight, world::World};

/// Makes the endpoint of each platform that has one lead to the masters whose nodes are ready. A moment in which none is ready
/// changes nothing: a wrong endpoint is no worse than none.
pub(crate) async fn care(world: &World) {
    for platform in world.platforms.all() {
        let Some(endpoint) = &platform.connection.endpoint else { continue };
        let masters = world.machines.filter(|machine| machine.is_master() && !machine.is_deleting());
        let ready = |machine: &Arc<Machine>| machine.node_name().is_some_and(|name| world.nodes.is_ready(name));
        let instance = |machine: &Arc<Machine>| match platform.sight(machine.name()) {
            Sight::There(instance) => Some(Instance::clone(&instance)),
            Sight::Absent | Sight::Unknown => None,
        };
        let healthy: Vec<_> = masters.iter().filter(|machine| ready(machine)).filter_map(instance).collect();
        if healthy.is_empty() {
            continue;
        }
        if let Err(error) = endpoint.lead_to(&healthy).await {
            tracing::warn!(error = error_chain(&error), "the API endpoint could not be led to the healthy masters");
        }
    }
}
