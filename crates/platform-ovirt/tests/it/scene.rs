//! A simulated engine in this process, and a cluster that is to be made in it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use landfall_config::InstallConfig;
use landfall_engine::{
    ApplyError, Event, Journal, Options, Plan, PlanBuilder, RemovalError, RetryPolicy, apply, destroy,
};
use landfall_platform::{Bind, Discover, File, FileSet, InfraId, Stage, StepId};
use landfall_platform_ovirt::{Binder, Client, Discovery, EngineUrl, Facts, Inputs, plan};
use landfall_simulator::{
    core::{Running, faults::Rule},
    ovirt,
};
use landfall_testkit::World;
use landfall_wire::{Limits, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::inventory;

/// Simulated seconds per second: minutes of an engine's work pass in milliseconds.
const TIME_SCALE: &str = "2000";
/// How often things that are waited for are looked at.
const INTERVAL: Duration = Duration::from_millis(5);
/// An installation takes a fraction of a second, unless the machine is very busy.
const DEADLINE: Duration = Duration::from_mins(1);
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// Of `admin@internal`.
pub(crate) const PASSWORD: &str = "landfall";
// From the simulator's default inventory.
pub(crate) const CLUSTER: &str = "7a5b0000-0000-4000-8000-0000000c1a01";
pub(crate) const STORAGE: &str = "7a5b0000-0000-4000-8000-00000000da7a";
pub(crate) const PROFILE: &str = "7a5b0000-0000-4000-8000-00000000e0f1";

/// An engine, and files of a user.
pub(crate) struct Scene {
    pub(crate) engine: Running<ovirt::Engine>,
    pub(crate) home: TempDir,
}

/// A cluster on a scene.
pub(crate) struct Cluster {
    pub(crate) scene: Arc<Scene>,
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
    pub(crate) client: Arc<Client>,
    pub(crate) hosts_up: usize,
    /// The only step of the plan that is looked at; none for the whole plan.
    pub(crate) only: Option<StepId>,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: ovirt::Options,
}

impl Scene {
    /// An engine with the default inventory.
    pub(crate) async fn new() -> Arc<Self> {
        Self::with(&[]).await
    }

    /// An engine that was started with flags.
    pub(crate) async fn with(flags: &[&str]) -> Arc<Self> {
        Self::paced(TIME_SCALE, flags).await
    }

    /// An engine that gives a client time for a word in between: what is idle for minutes is paused.
    pub(crate) async fn slow() -> Arc<Self> {
        Self::paced("100", &[]).await
    }

    async fn paced(time_scale: &str, flags: &[&str]) -> Arc<Self> {
        let arguments =
            [&["sim", "--password", PASSWORD, "--time-scale", time_scale, "--guests", "plain"], flags].concat();
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        let engine = ovirt::start(&options).await.expect("the simulator starts");
        Arc::new(Self { engine, home: tempfile::tempdir().unwrap() })
    }

    /// An engine whose world is described in YAML.
    pub(crate) async fn described(inventory: &str) -> Arc<Self> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("inventory.yaml");
        std::fs::write(&file, inventory).unwrap();
        Self::with(&["--inventory", file.to_str().unwrap()]).await
    }

    pub(crate) fn client(&self, password: &str) -> Arc<Client> {
        let trust = Trust::Only(self.engine.ca_pem().unwrap().to_owned());
        self.client_that_trusts(&trust, password)
    }

    pub(crate) fn client_that_trusts(&self, trust: &Trust, password: &str) -> Arc<Client> {
        let url: EngineUrl = self.engine.url().parse().unwrap();
        Arc::new(Client::new(url, trust, Limits::default(), "admin@internal", password.into()).unwrap())
    }

    pub(crate) fn fault(&self, rule: &str) -> u64 {
        self.engine.add_fault(rule.parse::<Rule>().unwrap_or_else(|error| panic!("{rule}: {error}")))
    }

    /// Asks the engine's API as another user would.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let reply = self.exchange(method, path, body).await;
        assert!(reply.status() < 300, "{method} {path}: {}", String::from_utf8_lossy(reply.contents()));
        reply.json().unwrap_or_default()
    }

    async fn exchange(&self, method: &str, path: &str, body: Value) -> landfall_wire::Reply {
        let http =
            landfall_wire::Client::new(&Trust::Only(self.engine.ca_pem().unwrap().to_owned()), Limits::default());
        let url = format!("{}/ovirt-engine/api/{path}", self.engine.url()).parse().unwrap();
        let basic = "Basic YWRtaW5AaW50ZXJuYWw6bGFuZGZhbGw=";
        let request = match body {
            Value::Null => landfall_wire::Request::bare(method.parse().unwrap(), url),
            body => landfall_wire::Request::json(method.parse().unwrap(), url, &body),
        };
        let request = request.accept_json().header("authorization", basic);
        http.unwrap().send(request).await.unwrap()
    }

    pub(crate) fn cluster(self: &Arc<Self>, infra_id: &str, config: InstallConfig) -> Cluster {
        let client = self.client(PASSWORD);
        let infra_id = infra_id.parse().unwrap();
        Cluster { scene: Arc::clone(self), config, infra_id, client, hosts_up: 3, only: None }
    }

    /// A qcow2 file of five MiB, which is sent in two pieces.
    pub(crate) fn image(&self) -> PathBuf {
        self.image_of(5)
    }

    /// A qcow2 file of a number of MiB.
    pub(crate) fn image_of(&self, mib: usize) -> PathBuf {
        let path = self.home.path().join(format!("os-{mib}.qcow2"));
        if !path.exists() {
            std::fs::write(&path, image(mib)).unwrap();
        }
        path
    }
}

/// An empty disk of 1 GiB in qcow2 form, followed by clusters that nothing refers to.
pub(crate) fn image(mib: usize) -> Vec<u8> {
    let mut bytes = vec![0; 4 << 16];
    bytes[..8].copy_from_slice(b"QFI\xfb\0\0\0\x03");
    bytes[20..24].copy_from_slice(&16_u32.to_be_bytes());
    bytes[24..32].copy_from_slice(&(1_u64 << 30).to_be_bytes());
    bytes[36..40].copy_from_slice(&2_u32.to_be_bytes());
    bytes[40..48].copy_from_slice(&(3_u64 << 16).to_be_bytes());
    bytes[48..56].copy_from_slice(&(1_u64 << 16).to_be_bytes());
    bytes[56..60].copy_from_slice(&1_u32.to_be_bytes());
    bytes[96..100].copy_from_slice(&4_u32.to_be_bytes());
    bytes[100..104].copy_from_slice(&104_u32.to_be_bytes());
    bytes[65_536..65_544].copy_from_slice(&(2_u64 << 16).to_be_bytes());
    let noise: Vec<u8> = (0..8192_u64).flat_map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()).collect();
    while bytes.len() < mib << 20 {
        // Every cluster differs from the others.
        bytes.extend_from_slice(&bytes.len().to_be_bytes());
        bytes.extend_from_slice(&noise[8..]);
    }
    bytes
}

/// A configuration with some masters and workers, made from the template that the simulator has.
pub(crate) fn config(masters: u32, workers: u32) -> InstallConfig {
    configured(masters, workers, &json!({ "template": "fcos" }), &json!({}))
}

/// The same, from an image.
pub(crate) fn config_with_image(image: &Path, masters: u32) -> InstallConfig {
    configured(masters, 0, &json!({ "disk": image }), &json!({}))
}

/// The same, with other settings of the platform laid over it.
pub(crate) fn configured(masters: u32, workers: u32, image: &Value, platform: &Value) -> InstallConfig {
    let mut ovirt = json!({
        "ovirt_cluster_id": CLUSTER,
        "ovirt_storage_domain_id": STORAGE,
        "ovirt_network_name": "ovirtmgmt",
        "api_vips": ["192.0.2.5"],
        "ingress_vips": ["192.0.2.6"],
        "image": image,
    });
    landfall_config::tree::merge(&mut ovirt, platform.clone());
    let tree = json!({
        "apiVersion": "v1",
        "metadata": { "name": "demo" },
        "baseDomain": "example.com",
        "distribution": "kubernetes",
        "sshKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB admin@example.com",
        "networking": { "machineNetwork": [{ "cidr": "192.0.2.0/24" }] },
        "controlPlane": { "name": "master", "replicas": masters },
        "compute": [{ "name": "worker", "replicas": workers }],
        "platform": { "ovirt": ovirt },
    });
    landfall_config::parse_tree(tree).unwrap_or_else(|error| panic!("{error:?}")).config
}

pub(crate) fn options() -> Options {
    Options { retry: RETRY, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}

impl Cluster {
    pub(crate) fn binder(&self) -> Binder {
        self.binder_that_looks_every(INTERVAL)
    }

    pub(crate) fn binder_that_looks_every(&self, interval: Duration) -> Binder {
        let mut ignition = FileSet::default();
        for role in ["bootstrap", "master", "worker"] {
            ignition.insert(
                format!("{role}.ign"),
                File::private(format!(r#"{{"ignition":{{"version":"3.4.0"}},"role":"{role}"}}"#)),
            );
        }
        let inputs = Inputs { ignition, image_cache: self.scene.home.path().join("images") };
        Binder::new(Arc::clone(&self.client), &self.infra_id, inputs, interval)
    }

    pub(crate) fn steps(&self) -> Plan {
        let facts = Facts { hosts_up: self.hosts_up, vnic_profile_id: Some(PROFILE.to_owned()) };
        let plan = plan(&self.config, &self.infra_id, &facts, Stage::Bootstrapping).unwrap();
        let Some(only) = &self.only else { return plan };
        let mut builder = PlanBuilder::default();
        builder.step(plan.step(only).unwrap().clone());
        builder.build().unwrap()
    }

    pub(crate) fn journal(&self) -> Journal {
        let file = self.scene.home.path().join(format!("{}.sqlite", self.infra_id));
        Journal::open(&file, &self.infra_id).unwrap()
    }

    /// Makes the cluster. One that is not made after a long time fails with what was last tried.
    pub(crate) async fn install(&self) -> Result<(), ApplyError> {
        let last = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&last);
        let events = move |event: &Event| {
            if let Event::Retrying { step, error, attempt, .. } = event {
                *heard.lock().unwrap() = format!("{step}, attempt {attempt}: {error}");
            }
        };
        let options = Options { events: Arc::new(events), ..options() };
        let (steps, binder, journal) = (self.steps(), self.binder(), self.journal());
        let result = tokio::time::timeout(DEADLINE, apply(&steps, &binder, &journal, &options)).await;
        let Ok(result) = result else {
            panic!("not made after {DEADLINE:?}; {}\n{:#?}", last.lock().unwrap(), self.list())
        };
        result.map(drop)
    }

    pub(crate) async fn destroy(&self) -> Result<(), RemovalError> {
        let discovery = Discovery::new(Arc::clone(&self.client), &self.infra_id);
        destroy(&self.binder(), &discovery, &self.journal(), &options()).await
    }

    /// Removes the cluster as somebody would who has nothing but its infra id.
    pub(crate) async fn destroy_without_files(&self) -> Result<(), RemovalError> {
        let journal = self.scene.home.path().join(format!("{}-other.sqlite", self.infra_id));
        let journal = Journal::open(&journal, &self.infra_id).unwrap();
        let discovery = Discovery::new(Arc::clone(&self.client), &self.infra_id);
        let binder = Binder::new(Arc::clone(&self.client), &self.infra_id, Inputs::default(), INTERVAL);
        destroy(&binder, &discovery, &journal, &options()).await
    }

    pub(crate) fn list(&self) -> Vec<String> {
        inventory::list(&self.scene.engine)
    }
}

#[async_trait]
impl World for Cluster {
    fn infra_id(&self) -> InfraId {
        self.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        self.steps()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(Self::binder(self))
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(Discovery::new(Arc::clone(&self.client), &self.infra_id))
    }

    async fn inventory(&self) -> Vec<String> {
        self.list()
    }
}
