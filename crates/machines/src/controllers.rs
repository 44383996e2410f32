//! All controllers, from the start of the process to its end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::future::{join, join_all, pending};
use k8s_openapi::api::{
    certificates::v1::CertificateSigningRequest,
    core::v1::{Node, NodeCondition},
};
use kube::{Api, Client};
use landfall_machine_api::MACHINE_ANNOTATION;
use landfall_platform::{MachineProvider, error_chain};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    Error, Machine, Metrics, Options, approval,
    cache::Cache,
    endpoint,
    follow::{Change, follow},
    health,
    lease::Election,
    machine,
    queue::work,
    serve::{self, Vitals},
    set,
    world::World,
};

/// Objects that are looked at side by side, by each controller.
const WORKERS: usize = 16;

/// Runs the controllers until `stop`. Where a lease is asked for, they wait until they lead, and return an error when they do not any
/// more; whatever is under way is then cut off, and begun anew by whoever leads next.
///
/// Dropping the future at any await is as good as a crash: everything it began ends with it.
pub async fn run(
    client: Client,
    providers: Vec<Arc<dyn MachineProvider>>,
    options: Options,
    metrics: Metrics,
    stop: CancellationToken,
) -> Result<(), Error> {
    let ready = Arc::new(AtomicBool::new(options.lease.is_some()));
    let listener = match options.listen {
        Some(address) => Some(serve::listen(address).await?),
        None => None,
    };
    let vitals = Vitals { metrics: metrics.clone(), ready: Arc::clone(&ready) };
    let serving = async {
        match listener {
            Some(listener) => serve::serve(listener, vitals).await,
            None => pending().await,
        }
    };
    tokio::select! {
        outcome = control(client, providers, options, metrics, &ready, &stop) => outcome,
        () = serving => Ok(()),
    }
}

async fn control(
    client: Client,
    providers: Vec<Arc<dyn MachineProvider>>,
    options: Options,
    metrics: Metrics,
    ready: &AtomicBool,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let Some(lease) = options.lease.clone() else {
        manage(&World::new(client, providers, options, metrics), ready, stop).await;
        return Ok(());
    };
    let mut election = Election::new(client.clone(), &options.namespace, lease.clone());
    tokio::select! {
        () = election.lead() => {}
        () = stop.cancelled() => return Ok(()),
    }
    metrics.leads(true);
    // Who waits to lead is ready to do so. Who leads is ready when all is known that is to be kept.
    ready.store(false, Ordering::SeqCst);
    tracing::info!(infra_id = %options.infra_id, "leading");
    let holding = Election::new(client.clone(), &options.namespace, lease.clone());
    // A task of its own: whatever is worked on, however long a list is that has to be read, the lease is renewed in time.
    let mut keeping = AbortOnDropHandle::new(tokio::spawn(async move { election.keep().await }));
    let world = World::new(client, providers, options, metrics.clone());
    let outcome = tokio::select! {
        lost = &mut keeping => Err(lost.unwrap_or(Error::LeaseLost(lease.name))),
        all_is_done = manage(&world, ready, stop) => Ok(all_is_done),
    };
    metrics.leads(false);
    // What was cut off may still happen. Then the next leader comes when the lease has ended, as after a crash.
    drop(keeping);
    if matches!(outcome, Ok(true)) {
        holding.release().await;
    }
    outcome.map(drop)
}

/// Follows the objects and does what they say, until `stop`; then ends what is under way. Whether nothing of that can still happen.
async fn manage(world: &Arc<World>, ready: &AtomicBool, stop: &CancellationToken) -> bool {
    let which = world.options.controllers;
    let _closing = world.operations.closing();
    let working = async {
        known(world).await;
        ready.store(true, Ordering::SeqCst);
        for name in world.machines.names() {
            world.machine_queue.add(&name);
        }
        let machines = work(&world.machine_queue, WORKERS, &world.metrics, stop, |name| {
            machine::reconcile(Arc::clone(world), name)
        });
        let sets = work(&world.set_queue, 4, &world.metrics, stop, |name| set::reconcile(Arc::clone(world), name));
        let checks =
            work(&world.check_queue, 4, &world.metrics, stop, |name| health::reconcile(Arc::clone(world), name));
        let requests =
            work(&world.request_queue, 4, &world.metrics, stop, |name| approval::reconcile(Arc::clone(world), name));
        join(join(machines, sets), join(checks, requests)).await;
        world.operations.end().await
    };
    let following = join_all([
        boxed(follow_machines(world)),
        boxed(follow_nodes(world)),
        boxed(async {
            if which.sets {
                follow_sets(world).await;
            }
        }),
        boxed(async {
            if which.health {
                follow_checks(world).await;
            }
        }),
        boxed(async {
            if which.approval {
                follow_requests(world).await;
            }
        }),
    ]);
    tokio::select! {
        all_is_done = working => all_is_done,
        () = async { following.await; pending().await } => false,
        () = look_around(world) => false,
    }
}

fn boxed<'a>(future: impl Future<Output = ()> + Send + 'a) -> futures::future::BoxFuture<'a, ()> {
    Box::pin(future)
}

/// Waits until all objects that matter are known.
async fn known(world: &World) {
    let which = world.options.controllers;
    join(world.machines.ready(), world.nodes.cache.ready()).await;
    if which.sets {
        world.sets.ready().await;
    }
    if which.health {
        world.checks.ready().await;
    }
}

async fn follow_machines(world: &Arc<World>) {
    follow(world.api(), &world.machines, |change: &Change<Machine>| {
        let machine = change.either();
        world.machine_queue.add(machine.name());
        let owners = [&change.before, &change.after];
        for owner in owners.into_iter().flatten().filter_map(|machine| set::owner_of(machine)) {
            if change.after.as_ref().is_none_or(|machine| machine.is_deleting()) || change.before.is_none() {
                world.expectations.met(owner, machine.name());
            }
            world.set_queue.add(owner);
        }
        if machine.controller().is_none() {
            add_all(&world.sets, &world.set_queue);
        }
        add_all(&world.checks, &world.check_queue);
    })
    .await;
}

async fn follow_nodes(world: &Arc<World>) {
    follow(Api::<Node>::all(world.client.clone()), &world.nodes.cache, |change| {
        world.nodes.changed(change);
        if !matters(change) {
            return;
        }
        let node = change.either();
        // By name, or by what was written on it when they were linked.
        let linked = node.metadata.annotations.as_ref().and_then(|all| all.get(MACHINE_ANNOTATION));
        let linked = linked.and_then(|reference| reference.rsplit_once('/')).map(|(_, name)| name);
        let own = node.metadata.name.as_deref();
        for name in [linked, own].into_iter().flatten() {
            if let Some(machine) = world.machines.get(name) {
                world.machine_queue.add(name);
                if let Some(owner) = set::owner_of(&machine) {
                    world.set_queue.add(owner);
                }
            }
        }
        add_all(&world.checks, &world.check_queue);
    })
    .await;
}

/// Kubelets say every few minutes that all is as before.
fn matters(change: &Change<Node>) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return true };
    let said = |node: &Node| {
        let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let what = |condition: &NodeCondition| {
            (condition.type_.clone(), condition.status.clone(), condition.last_transition_time.clone())
        };
        conditions.map(what).collect::<Vec<_>>()
    };
    before.spec != after.spec
        || before.metadata.labels != after.metadata.labels
        || before.metadata.annotations != after.metadata.annotations
        || said(before) != said(after)
}

async fn follow_sets(world: &Arc<World>) {
    follow(world.api(), &world.sets, |change| world.set_queue.add(change.either().name())).await;
}

async fn follow_checks(world: &Arc<World>) {
    follow(world.api(), &world.checks, |change| world.check_queue.add(change.either().name())).await;
}

async fn follow_requests(world: &Arc<World>) {
    let requests = Cache::default();
    follow(Api::<CertificateSigningRequest>::all(world.client.clone()), &requests, |change| {
        let request = change.either();
        if approval::is_of_kubelets(request)
            && approval::is_pending(request)
            && let (Some(name), Some(_)) = (&request.metadata.name, &change.after)
        {
            world.request_queue.add(name);
        }
    })
    .await;
}

fn add_all<K>(cache: &Cache<K>, queue: &crate::queue::Queue) {
    for name in cache.names() {
        queue.add(&name);
    }
}

/// Lists the fleet of each platform once per interval, and looks at what changed.
async fn look_around(world: &Arc<World>) {
    let mut ticks = interval(world.options.pace.sync);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // waits: a service, which is dropped when the controllers are stopped
    loop {
        ticks.tick().await;
        let phases = world.machines.all();
        world.metrics.phases(phases.iter().map(|machine| machine.phase().map_or("Pending", |phase| phase.name())));
        world.metrics.refused(&world.refusals.counts());
        for platform in world.platforms.all() {
            let (was_reachable, was_listed) = (platform.is_reachable(), platform.is_listed());
            match platform.list(&world.metrics).await {
                Ok(changed) => {
                    for name in changed {
                        world.machine_queue.add(&name);
                    }
                    if !was_reachable {
                        tracing::info!("the platform answers again");
                    }
                    // Whatever waited goes on; how many at a time, the operations decide. And an instance that was gone before the
                    // first whole listing is news to nobody but its machine.
                    if !was_reachable || !was_listed && platform.is_listed() {
                        add_all(&world.machines, &world.machine_queue);
                    }
                }
                Err(error) => tracing::warn!(error = error_chain(&error), "the fleet could not be listed"),
            }
        }
        endpoint::care(world).await;
    }
}
