//! What all controllers share.

use std::sync::Arc;

use kube::{Api, Client};
use landfall_platform::MachineProvider;
use tokio::time::Instant;

use crate::{
    Machine, MachineHealthCheck, MachineSet, Metrics, Options,
    cache::Cache,
    events::Events,
    machine::{Operations, Refusals},
    nodes::Nodes,
    platforms::Platforms,
    queue::Queue,
    set::Expectations,
};

/// What all controllers share: what is known, what is to be looked at, and the ways to act.
pub(crate) struct World {
    /// Since when this process leads.
    pub(crate) begun: Instant,
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) machines: Cache<Machine>,
    pub(crate) sets: Cache<MachineSet>,
    pub(crate) checks: Cache<MachineHealthCheck>,
    pub(crate) nodes: Nodes,
    pub(crate) platforms: Platforms,
    pub(crate) operations: Operations,
    pub(crate) refusals: Refusals,
    pub(crate) expectations: Expectations,
    pub(crate) events: Events,
    pub(crate) metrics: Metrics,
    pub(crate) machine_queue: Arc<Queue>,
    pub(crate) set_queue: Arc<Queue>,
    pub(crate) check_queue: Arc<Queue>,
    pub(crate) request_queue: Arc<Queue>,
}

impl World {
    pub(crate) fn new(
        client: Client,
        providers: Vec<Arc<dyn MachineProvider>>,
        options: Options,
        metrics: Metrics,
    ) -> Arc<Self> {
        let pace = options.pace;
        let queue = |controller| Arc::new(Queue::new(controller, pace.retry, pace.longest_retry));
        Arc::new(Self {
            events: Events::new(client.clone()),
            platforms: Platforms::new(client.clone(), providers, &options),
            operations: Operations::new(pace.operations),
            refusals: Refusals::new(pace.retry, pace.longest_retry),
            expectations: Expectations::default(),
            begun: Instant::now(),
            client,
            options,
            machines: Cache::default(),
            sets: Cache::default(),
            checks: Cache::default(),
            nodes: Nodes::default(),
            metrics,
            machine_queue: queue("machine"),
            set_queue: queue("machineset"),
            check_queue: queue("machinehealthcheck"),
            request_queue: queue("certificate-request"),
        })
    }

    /// Has all machines looked at.
    pub(crate) fn wake_machines(&self) {
        for name in self.machines.names() {
            self.machine_queue.add(&name);
        }
    }

    /// The machine objects of a kind.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.options.namespace)
    }
}
