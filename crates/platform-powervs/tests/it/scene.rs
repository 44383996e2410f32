//! A simulated account in this process, and a cluster that is to be made in it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_config::{
    InstallConfig,
    powervs::{Service, ServiceEndpoints},
};
use landfall_engine::{ApplyError, Event, Journal, Options, Plan, RemovalError, RetryPolicy, apply, destroy, retire};
use landfall_platform::{Bind, Discover, File, FileSet, InfraId, Stage, StepId, bootstrap_step};
use landfall_platform_powervs::{
    Binder, Client, Credentials, Discovery, Facts, Inputs, Preflight, Site, Whereabouts, plan, preflight,
    temporary_steps,
};
use landfall_simulator::{
    core::{Running, Simulation as _, faults::Rule},
    powervs,
};
use landfall_testkit::World;
use landfall_wire::{Trust, aws};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Simulated seconds per second: minutes of the platform's work pass in milliseconds.
const TIME_SCALE: &str = "5000";
const INTERVAL: Duration = Duration::from_millis(5);
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// A simulated account.
pub(crate) struct Scene {
    pub(crate) account: Running<powervs::Cloud>,
}

/// A cluster in an account.
pub(crate) struct Cluster {
    pub(crate) scene: Arc<Scene>,
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
    pub(crate) key: String,
    /// Opens private buckets of images.
    pub(crate) hmac: Option<aws::Credentials>,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

/// An install-config with fields of the platform's section.
#[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
pub(crate) fn config(section: Value, masters: u32, workers: u32) -> InstallConfig {
    let mut platform = json!({
        "zone": "dal10",
        "image": {"regional": "rhcos-9.6-ppc64le-powervs.ova.gz"},
    });
    platform.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
    let tree = json!({
        "apiVersion": "v1",
        "metadata": {"name": "demo"},
        "baseDomain": "example.com",
        "networking": {"machineNetwork": [{"cidr": "192.168.124.0/24"}]},
        "controlPlane": {"replicas": masters},
        "compute": [{"name": "worker", "replicas": workers}],
        "platform": {"powervs": platform},
        "dns": {"cis": {}},
    });
    serde_json::from_value::<InstallConfig>(tree).unwrap().with_defaults()
}

impl Scene {
    pub(crate) async fn new(flags: &[&str]) -> Arc<Self> {
        // An hour of this clock is less than a second, in which a busy machine may do nothing at all.
        let patient = ["--token-lifetime", "10000h"];
        let usual = ["sim", "--time-scale", TIME_SCALE, "--guests", "plain"];
        let arguments = [usual.as_slice(), &patient, flags].concat();
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        Arc::new(Self { account: powervs::start(&options).await.expect("the simulator starts") })
    }

    pub(crate) fn cluster(self: Arc<Self>, config: InstallConfig) -> Cluster {
        self.cluster_called("demo-x7k2p", config)
    }

    pub(crate) fn cluster_called(self: Arc<Self>, infra_id: &str, config: InstallConfig) -> Cluster {
        let key = self.account.ready()["api_key"].as_str().unwrap().to_owned();
        Cluster { scene: self, config, infra_id: infra_id.parse().unwrap(), key, hmac: None }
    }

    pub(crate) fn fault(&self, rule: &str) {
        self.account.add_fault(rule.parse::<Rule>().unwrap_or_else(|error| panic!("{rule}: {error}")));
    }

    pub(crate) fn no_faults(&self) {
        self.account.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }

    /// What the simulator holds, as it knows itself.
    pub(crate) fn state(&self) -> Value {
        self.account.world().view(|simulation, _| simulation.snapshot())
    }

    /// One line for each object that is there to stay.
    pub(crate) fn inventory(&self) -> Vec<String> {
        let state = self.state();
        let all = |value: &Value| -> Vec<Value> {
            match value {
                Value::Object(map) => map.values().cloned().collect(),
                Value::Array(list) => list.clone(),
                _ => Vec::new(),
            }
        };
        let mut lines = Vec::new();
        for instance in all(&state["instances"]).iter().filter(|instance| instance["state"] != "removed") {
            lines.push(format!("service {} {}", instance["name"], instance["state"]));
        }
        for workspace in all(&state["workspaces"]) {
            for image in all(&workspace["images"]).iter().filter(|image| image["kind"] != "stock") {
                lines.push(format!("image {} {}", image["name"], image["state"]));
            }
            for network in all(&workspace["networks"]) {
                lines.push(format!("network {}", network["name"]));
            }
            lines.extend(all(&workspace["dhcp_servers"]).iter().map(|_| "dhcp server".to_owned()));
            for instance in all(&workspace["instances"]) {
                lines.push(format!("machine {} {}", instance["name"], instance["status"]));
            }
        }
        for (kind, documents) in [
            ("ssh key", "ssh_keys"),
            ("vpc", "vpcs"),
            ("subnet", "subnets"),
            ("public gateway", "public_gateways"),
            ("transit gateway", "gateways"),
            ("connection", "connections"),
            ("resource key", "resource_keys"),
        ] {
            lines.extend(all(&state[documents]).iter().map(|one| format!("{kind} {}", one["name"])));
        }
        // Each VPC brings a group of its own, whose name is made up anew each time.
        let groups = all(&state["security_groups"]);
        lines.push(format!("{} security groups", groups.len()));
        for balancer in all(&state["load_balancers"]) {
            let mut members: Vec<String> = all(&balancer["pools"])
                .iter()
                .map(|pool| format!("{}={}", pool["name"], all(&pool["members"]).len()))
                .collect();
            members.sort();
            lines.push(format!("load balancer {} {}", balancer["name"], members.join(" ")));
        }
        for bucket in all(&state["buckets"]).iter().filter(|bucket| bucket["public"] == false) {
            lines.push(format!("bucket {}", bucket["name"]));
        }
        lines.extend(all(&state["reclamations"]).iter().map(|_| "reclamation".to_owned()));
        lines.sort();
        lines
    }

    /// Where the services are.
    pub(crate) fn endpoints(&self) -> ServiceEndpoints {
        let ready = self.account.ready();
        let at = |service: &Service| json!({"name": service.name(), "url": ready["services"][service.name()]});
        let list: Vec<Value> = Service::ALL.iter().map(at).collect();
        serde_json::from_value(json!(list)).unwrap()
    }

    /// How often calls were made whose method and path are as wanted.
    pub(crate) fn calls(&self, wanted: impl Fn(&str, &str) -> bool) -> u64 {
        let counts = self.account.request_counts();
        let split = |call: &String| call.split_once(' ').map(|(method, path)| (method.to_owned(), path.to_owned()));
        let is_it = |call: &String| split(call).is_some_and(|(method, path)| wanted(&method, &path));
        counts.iter().filter(|(call, _)| is_it(call)).map(|(_, count)| count).sum()
    }
}

impl Cluster {
    pub(crate) fn credentials(&self) -> Credentials {
        let trust = self.scene.account.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let known = Credentials::with_key(self.key.clone().into(), trust, self.scene.endpoints());
        Credentials { hmac: self.hmac.clone(), ..known }
    }

    pub(crate) fn client(&self) -> Client {
        Whereabouts::of(self.config.platform.powervs().unwrap()).client(&self.credentials()).unwrap()
    }

    pub(crate) fn site(&self) -> Site {
        let whereabouts = Whereabouts::of(self.config.platform.powervs().unwrap());
        Site::new(Arc::new(self.client()), &self.infra_id, whereabouts, &self.credentials(), INTERVAL)
    }

    pub(crate) fn binder(&self) -> Binder {
        let mut ignition = FileSet::default();
        for name in ["bootstrap.ign", "master.ign", "worker.ign"] {
            ignition.insert(name, File::private("{}"));
        }
        Binder::new(self.site(), Inputs { ignition })
    }

    pub(crate) async fn preflight(&self) -> Preflight {
        preflight(&self.site(), &self.config).await
    }

    /// What was found wrong, as people read it.
    pub(crate) async fn complaints(&self) -> String {
        let found = self.preflight().await;
        found.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn steps(&self, stage: Stage) -> Plan {
        plan(&self.config, &self.infra_id, &Facts { sys_type: "s922".to_owned() }, stage).unwrap()
    }

    /// Makes everything.
    pub(crate) async fn apply(&self, journal: &Journal) -> Result<(), ApplyError> {
        apply(&self.steps(Stage::Bootstrapping), &self.binder(), journal, &options()).await.map(drop)
    }

    /// Does what an installation does once the control plane is on the masters.
    pub(crate) async fn pivot(&self, journal: &Journal) {
        let retired: Vec<StepId> = std::iter::once(bootstrap_step()).chain(temporary_steps()).collect();
        retire(&retired, &self.binder(), journal, &options()).await.unwrap();
        apply(&self.steps(Stage::Pivoted), &self.binder(), journal, &options()).await.map(drop).unwrap();
    }

    pub(crate) async fn destroy(&self, journal: &Journal) -> Result<(), RemovalError> {
        destroy(&self.binder(), &Discovery::new(self.site()), journal, &options()).await.map(drop)
    }

    /// What a removal would remove, for people.
    pub(crate) async fn dry_run(&self) -> Vec<String> {
        let mut titles: Vec<String> =
            Discovery::new(self.site()).discover().await.unwrap().into_iter().map(|step| step.title).collect();
        titles.sort();
        titles
    }

    pub(crate) fn journal(&self) -> (tempfile::TempDir, Journal) {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(&home.path().join("journal.sqlite"), &self.infra_id).unwrap();
        (home, journal)
    }
}

pub(crate) fn options() -> Options {
    Options { retry: RETRY, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}

#[async_trait]
impl World for Cluster {
    fn infra_id(&self) -> InfraId {
        self.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        self.steps(Stage::Bootstrapping)
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(Self::binder(self))
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(Discovery::new(self.site()))
    }

    async fn inventory(&self) -> Vec<String> {
        self.scene.inventory()
    }
}
