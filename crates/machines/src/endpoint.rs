//! Keeping API and ingress on healthy machines, where a platform has to.

use std::sync::Arc;

use landfall_platform::{Machine as Instance, error_chain};

use crate::{
    Machine,
    platforms::{Platform, Sight},
    world::World,
};

/// Makes the endpoints of each platform that has them lead to machines whose nodes are ready: the API to masters, the ingress to
/// workers, or to masters where there are no workers and masters take applications. Those of a cluster that was made with workers do
/// not, so nothing there holds the ingress if the last worker goes. A moment in which none is ready changes nothing: a wrong
/// endpoint is no worse than none.
pub(crate) async fn care(world: &World) {
    for platform in world.platforms.all() {
        let Some(endpoint) = &platform.connection.endpoint else { continue };
        let (masters, workers): (Vec<_>, Vec<_>) = world.machines.all().into_iter().partition(|own| own.is_master());
        let healthy_masters = healthy(world, &platform, &masters);
        let serving = if workers.is_empty() {
            let takes_applications = |own: &&Arc<Machine>| own.node_name().is_some_and(|name| world.nodes.serves(name));
            let open: Vec<_> = masters.iter().filter(takes_applications).cloned().collect();
            healthy(world, &platform, &open)
        } else {
            healthy(world, &platform, &workers)
        };
        if !healthy_masters.is_empty()
            && let Err(error) = endpoint.lead_to(&healthy_masters).await
        {
            tracing::warn!(error = error_chain(&error), "the API endpoint could not be led to the healthy masters");
        }
        if !serving.is_empty()
            && let Err(error) = endpoint.lead_ingress_to(&serving).await
        {
            tracing::warn!(error = error_chain(&error), "the ingress could not be led to healthy machines");
        }
    }
}

/// The instances of those machines that stay and whose nodes are ready.
fn healthy(world: &World, platform: &Platform, machines: &[Arc<Machine>]) -> Vec<Instance> {
    let is_ready = |machine: &&Arc<Machine>| {
        !machine.is_deleting() && machine.node_name().is_some_and(|name| world.nodes.is_ready(name))
    };
    let instance = |machine: &Arc<Machine>| match platform.sight(machine) {
        Sight::There(instance) => Some(Instance::clone(&instance)),
        Sight::Absent | Sight::Unknown => None,
    };
    machines.iter().filter(is_ready).filter_map(instance).collect()
}
