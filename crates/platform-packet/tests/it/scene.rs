//! A simulated account in this process, and a cluster that is to be made in it.

use std::{net::IpAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_config::{InstallConfig, packet::Location};
use landfall_engine::{ApplyError, Event, Journal, Options, Plan, RemovalError, RetryPolicy, apply, destroy};
use landfall_platform::{Bind, Discover, File, FileSet, InfraId, Stage};
use landfall_platform_packet::{
    Binder, Client, ControlPlane, Discovery, Facts, Inputs, Preflight, Project, Site, plan, preflight,
};
use landfall_simulator::{
    core::{Running, Simulation as _, faults::Rule},
    packet,
};
use landfall_testkit::World;
use landfall_wire::{Limits, Trust};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Simulated seconds per second: minutes of the platform's work pass in milliseconds.
const TIME_SCALE: &str = "5000";
const INTERVAL: Duration = Duration::from_millis(5);
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// A simulated account.
pub(crate) struct Scene {
    pub(crate) account: Running<packet::Metal>,
}

/// A cluster in an account.
pub(crate) struct Cluster {
    pub(crate) scene: Arc<Scene>,
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
    pub(crate) key: String,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: packet::Options,
}

/// Control planes that are always well: nothing runs in plain guests.
struct AlwaysReady;

#[async_trait]
impl ControlPlane for AlwaysReady {
    async fn is_ready(&self, _: IpAddr) -> bool {
        true
    }
}

/// An install-config with fields of the platform's section.
#[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
pub(crate) fn config(section: Value, masters: u32, workers: u32) -> InstallConfig {
    let mut platform = json!({
        "metros": ["da"],
        "os": {"ipxe": {"kernel": "https://m.example.com/k", "initramfs": "https://m.example.com/i", "rootfs": "https://m.example.com/r"}},
        "assetHost": {"url": "https://assets.example.com/"},
    });
    platform.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
    let tree = json!({
        "apiVersion": "v1",
        "metadata": {"name": "demo"},
        "baseDomain": "example.com",
        "controlPlane": {"replicas": masters},
        "compute": [{"name": "worker", "replicas": workers}],
        "platform": {"packet": platform},
    });
    serde_json::from_value::<InstallConfig>(tree).unwrap().with_defaults()
}

impl Scene {
    pub(crate) async fn new(flags: &[&str]) -> Arc<Self> {
        let arguments = [&["sim", "--time-scale", TIME_SCALE, "--guests", "plain"], flags].concat();
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        Arc::new(Self { account: packet::start(&options).await.expect("the simulator starts") })
    }

    pub(crate) fn ready(&self, field: &str) -> String {
        self.account.ready()[field].as_str().unwrap().to_owned()
    }

    pub(crate) fn project(&self) -> String {
        self.ready("project")
    }

    pub(crate) fn cluster(self: Arc<Self>, config: InstallConfig) -> Cluster {
        let key = self.ready("api_key");
        Cluster { scene: self, config, infra_id: "demo-x7k2p".parse().unwrap(), key }
    }

    pub(crate) fn fault(&self, rule: &str) {
        self.account.add_fault(rule.parse::<Rule>().unwrap_or_else(|error| panic!("{rule}: {error}")));
    }

    /// What the simulator holds, as it knows itself.
    pub(crate) fn state(&self) -> Value {
        self.account.world().view(|simulation, _| simulation.snapshot())
    }

    /// One line for each object that is there to stay.
    pub(crate) fn inventory(&self) -> Vec<String> {
        let state = self.state();
        let mut lines = Vec::new();
        let all = |name: &str| state[name].as_array().cloned().unwrap_or_default();
        for device in
            all("devices").iter().filter(|device| device["state"] != "deprovisioning" && device["hidden"] == false)
        {
            lines.push(format!("device {} {} {}", device["hostname"], device["plan"], device["metro"]));
        }
        for block in all("blocks").iter().filter(|block| block["management"] == false) {
            lines.push(format!("block {} {}", block["tags"], block["assignments"].as_array().unwrap().len()));
        }
        lines.extend(all("vlans").iter().map(|vlan| format!("vlan {} {}", vlan["vxlan"], vlan["tags"])));
        lines.extend(all("keys").iter().map(|key| format!("key {}", key["label"])));
        lines.extend(all("projects").iter().map(|project| format!("project {}", project["name"])));
        lines.extend(all("sessions").iter().map(|session| format!("session {}", session["family"])));
        lines
    }
}

impl Cluster {
    pub(crate) fn client(&self) -> Arc<Client> {
        let trust = Trust::Only(self.scene.account.ca_pem().unwrap().to_owned());
        let url = self.scene.ready("url").parse().unwrap();
        Arc::new(Client::new(url, &trust, Limits::default(), self.key.clone().into()).unwrap())
    }

    pub(crate) fn site(&self) -> Site {
        let project = self.config.platform.packet().unwrap().project;
        let project = project.map_or(Project::Own, |id| Project::Given(id.to_string()));
        Site::new(self.client(), &self.infra_id, project, INTERVAL)
    }

    pub(crate) fn binder(&self) -> Binder {
        let mut user_data = FileSet::default();
        for name in ["bootstrap.ign", "master.ign", "worker.ign"] {
            user_data.insert(name, File::private("{}"));
        }
        let inputs = Inputs {
            user_data,
            script_url: Some("http://assets.example.com/boot.ipxe".to_owned()),
            control_plane: Some(Arc::new(AlwaysReady)),
        };
        Binder::new(self.site(), inputs)
    }

    pub(crate) async fn preflight(&self) -> Preflight {
        preflight(&self.site(), &self.config).await
    }

    fn steps(&self, facts: &Facts) -> Plan {
        plan(&self.config, &self.infra_id, facts, Stage::Bootstrapping).unwrap()
    }

    /// Looks, and makes everything.
    pub(crate) async fn apply(&self, journal: &Journal) -> Result<(), ApplyError> {
        let facts = self.preflight().await.facts.expect("the account has what is needed");
        apply(&self.steps(&facts), &self.binder(), journal, &options()).await.map(drop)
    }

    /// Makes everything without looking first.
    pub(crate) async fn apply_blindly(&self, journal: &Journal) -> Result<(), ApplyError> {
        apply(&World::plan(self), &self.binder(), journal, &options()).await.map(drop)
    }

    pub(crate) async fn destroy(&self, journal: &Journal) -> Result<(), RemovalError> {
        destroy(&self.binder(), &Discovery::new(self.site()), journal, &options()).await.map(drop)
    }

    pub(crate) fn journal(&self) -> (tempfile::TempDir, Journal) {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(&home.path().join("journal.sqlite"), &self.infra_id).unwrap();
        (home, journal)
    }
}

fn options() -> Options {
    Options { retry: RETRY, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}

#[async_trait]
impl World for Cluster {
    fn infra_id(&self) -> InfraId {
        self.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        self.steps(&Facts { location: Location::Metro("da".to_owned()) })
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
