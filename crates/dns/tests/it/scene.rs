//! A zone on a BIND, the zone above it on another, a resolver, and clusters that want records there.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use landfall_config::{Dns, InstallConfig};
use landfall_dns::{Binder, Data, Discovery, Name, Network, plan, record_steps, resolved};
use landfall_engine::{
    ApplyError, Event, Journal, Options, Plan, PlanBuilder, RemovalError, RetryPolicy, apply, destroy,
};
use landfall_platform::{Bind, Discover, Environment, InfraId, StepError, error_chain};
use landfall_testkit::{
    World,
    named::{KEY_NAME, Named, NamedZone},
    ports::free_port_on,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const ZONE: &str = "lab.example.test";
pub(crate) const PARENT: &str = "example.test";
pub(crate) const REVERSE: &str = "2.0.192.in-addr.arpa";

const INTERVAL: Duration = Duration::from_millis(20);
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// Name servers: the zone's own, that of the zone above, and a resolver.
pub(crate) struct Scene {
    pub(crate) server: Named,
    pub(crate) parent: Named,
    pub(crate) resolver: Named,
    pub(crate) network: Network,
}

/// A cluster that wants records.
pub(crate) struct Cluster {
    pub(crate) config: InstallConfig,
    pub(crate) service: Dns,
    pub(crate) infra_id: InfraId,
    pub(crate) network: Network,
    pub(crate) environment: Environment,
    /// Records besides those of every cluster.
    pub(crate) further: Vec<(Name, Data)>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with("", "")
    }

    /// With further records in the zone, and further options of its server.
    pub(crate) fn with(records: &str, options: &str) -> Self {
        let [own, above, resolving] = [1, 2, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
        let port = free_port_on(&[own, above, resolving]);
        let zones = [NamedZone::new(ZONE, own, records), NamedZone::new(REVERSE, own, "")];
        let server = Named::authoritative(SocketAddr::new(own.into(), port), &zones, options);
        let delegation = format!("lab NS ns1.{ZONE}.\nns1.{ZONE}. A {own}\n");
        let parent = NamedZone::new(PARENT, above, &delegation);
        let parent = Named::authoritative(SocketAddr::new(above.into(), port), &[parent], "");
        let known = [(ZONE, server.address()), (PARENT, parent.address()), (REVERSE, server.address())];
        let resolver = Named::resolver(SocketAddr::new(resolving.into(), port), &known);
        let network = Network { resolvers: vec![resolver.address()], port };
        Self { server, parent, resolver, network }
    }

    /// The section for this server.
    pub(crate) fn service(&self) -> Value {
        json!({"rfc2136": {
            "server": self.server.address().to_string(),
            "zone": ZONE,
            "keyName": KEY_NAME,
            "keyFile": self.server.key_file(),
            "reverseZones": [REVERSE],
        }})
    }

    pub(crate) fn cluster(&self, name: &str, infra_id: &str) -> Cluster {
        self.cluster_of(name, infra_id, &self.service())
    }

    pub(crate) fn cluster_of(&self, name: &str, infra_id: &str, service: &Value) -> Cluster {
        Cluster::new(name, infra_id, ZONE, service, self.network.clone())
    }

    /// Everything in the zones, as `dig` sees it.
    pub(crate) fn inventory(&self) -> Vec<String> {
        [self.server.zone(ZONE), self.server.zone(REVERSE)].concat()
    }
}

impl Cluster {
    pub(crate) fn new(name: &str, infra_id: &str, domain: &str, service: &Value, network: Network) -> Self {
        let config = json!({
            "apiVersion": "v1",
            "metadata": {"name": name},
            "baseDomain": domain,
            "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}, {"cidr": "2001:db8::/64"}]},
            "timeouts": {"dns": "20s"},
            "platform": {"ovirt": {
                "ovirt_cluster_id": "7a5b0000-0000-4000-8000-0000000c1a01",
                "ovirt_storage_domain_id": "7a5b0000-0000-4000-8000-00000000da7a",
                "ovirt_network_name": "ovirtmgmt",
                "api_vips": ["192.0.2.5", "2001:db8::5"],
                "ingress_vips": ["192.0.2.6"],
                "image": {"template": "fcos"},
            }},
            "dns": service,
        });
        let config: InstallConfig = serde_json::from_value(config).unwrap();
        let service = resolved(config.dns.as_ref().unwrap(), &config, Path::new("/nowhere"));
        let infra_id = infra_id.parse().unwrap();
        Self { config, service, infra_id, network, environment: Environment::default(), further: Vec::new() }
    }

    /// With an SRV record for each of so many members of etcd, as OpenShift before 4.4 wants it.
    pub(crate) fn with_etcd(self, members: usize) -> Self {
        let domain = self.config.cluster_domain();
        let member = |number: usize| {
            let name: Name = format!("_etcd-server-ssl._tcp.{domain}").parse().unwrap();
            (name, Data::Srv(format!("0 10 2380 etcd-{number}.{domain}.").parse().unwrap()))
        };
        Self { further: (0..members).map(member).collect(), ..self }
    }

    pub(crate) fn dns_binder(&self) -> Binder {
        Binder::new(&self.infra_id, &self.environment, self.network.clone(), INTERVAL)
    }

    pub(crate) fn whole_plan(&self) -> Plan {
        let mut builder = PlanBuilder::default();
        let further = record_steps(&self.config, &self.service, self.further.clone()).unwrap();
        for step in plan(&self.config, &self.service).unwrap().into_iter().chain(further) {
            builder.step(step);
        }
        builder.build().unwrap()
    }

    pub(crate) fn discovery(&self) -> Discovery {
        Discovery::new(self.dns_binder(), &self.config, &self.service).unwrap()
    }

    pub(crate) async fn apply(&self, run: &Run) -> Result<(), ApplyError> {
        apply(&self.whole_plan(), &self.dns_binder(), &run.journal(&self.infra_id), &run.options()).await.map(|_| ())
    }

    pub(crate) async fn destroy(&self, run: &Run) -> Result<(), RemovalError> {
        destroy(&self.dns_binder(), &self.discovery(), &run.journal(&self.infra_id), &run.options()).await
    }

    /// Why the records cannot be made.
    pub(crate) async fn refusal(&self) -> StepError {
        match self.apply(&Run::new()).await {
            Err(ApplyError::Step { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn refusal_text(&self) -> String {
        error_chain(&self.refusal().await)
    }
}

/// An install directory: a journal, and what was told.
pub(crate) struct Run {
    home: TempDir,
    told: Arc<Mutex<Vec<String>>>,
}

impl Run {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), told: Arc::default() }
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.home.path().join("journal.sqlite")
    }

    fn journal(&self, infra_id: &InfraId) -> Journal {
        Journal::open(&self.journal_path(), infra_id).unwrap()
    }

    /// What steps said about their progress.
    pub(crate) fn told(&self) -> String {
        self.told.lock().unwrap().join("\n")
    }

    fn options(&self) -> Options {
        let told = Arc::clone(&self.told);
        Options {
            retry: RETRY,
            removal_timeout: None,
            events: Arc::new(move |event: &Event| {
                if let Event::Progress { message, .. } = event {
                    told.lock().unwrap().push(message.clone());
                }
            }),
            cancel: CancellationToken::new(),
        }
    }
}

/// A world with one cluster, for the generic suites. `inventory` tells what the world holds, and keeps it alive.
pub(crate) struct OneCluster<I> {
    pub(crate) cluster: Cluster,
    pub(crate) inventory: I,
}

#[async_trait]
impl<I: Fn() -> Vec<String> + Send + Sync> World for OneCluster<I> {
    fn infra_id(&self) -> InfraId {
        self.cluster.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        self.cluster.whole_plan()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(self.cluster.dns_binder())
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(self.cluster.discovery())
    }

    async fn inventory(&self) -> Vec<String> {
        (self.inventory)()
    }
}
