//! A cluster that is to be made on simulated servers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_config::InstallConfig;
use landfall_engine::{ApplyError, Event, Journal, Options, Plan, RemovalError, RetryPolicy, apply, destroy};
use landfall_platform::{Bind, Discover, File, FileSet, InfraId, Stage};
use landfall_platform_powervm::{Binder, Credentials, Discovery, Facts, Inputs, Site, plan};
use landfall_simulator::core::Simulation as _;
use landfall_testkit::World;
use landfall_wire::Trust;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scene::Scene;

/// How often things that are waited for are looked at.
const INTERVAL: Duration = Duration::from_millis(5);
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// A cluster on a scene.
pub(crate) struct Cluster {
    pub(crate) scene: Arc<Scene>,
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
}

/// A configuration with some masters, one after the other on the servers of a scene.
pub(crate) fn config(scene: &Scene, masters: u32, platform: Value) -> InstallConfig {
    let ready = scene.hosts.ready();
    let hosts = ready["hosts"].as_array().unwrap();
    let hosts: Vec<Value> = hosts.iter().map(|host| json!({ "name": host["name"], "address": host["url"] })).collect();
    let mut section = json!({
        "hosts": hosts,
        "storage": { "sharedStoragePool": {} },
        "image": { "logicalUnit": "fcos" },
        "network": { "sharedEthernet": { "vlan": 100 } },
        "api_vips": ["192.0.2.5"],
        "ingress_vips": ["192.0.2.6"],
    });
    let Value::Object(platform) = platform else { panic!("a section has keys") };
    for (key, value) in platform {
        section[key] = value;
    }
    let tree = json!({
        "apiVersion": "v1",
        "metadata": { "name": "demo" },
        "baseDomain": "example.com",
        "sshKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB admin@example.com",
        "networking": { "machineNetwork": [{ "cidr": "192.0.2.0/24" }] },
        "controlPlane": { "replicas": masters },
        "compute": [{ "name": "worker", "replicas": 2 }],
        "platform": { "powervm": section },
    });
    landfall_config::parse_tree(tree).unwrap_or_else(|error| panic!("{error:?}")).config
}

pub(crate) fn options() -> Options {
    Options { retry: RETRY, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}

impl Cluster {
    pub(crate) async fn new(masters: u32, platform: Value) -> Self {
        let scene = Arc::new(Scene::new().await);
        let config = config(&scene, masters, platform);
        Self::on(&scene, "demo-x7k2p", config)
    }

    pub(crate) fn on(scene: &Arc<Scene>, infra_id: &str, config: InstallConfig) -> Self {
        Self { scene: Arc::clone(scene), config, infra_id: infra_id.parse().unwrap() }
    }

    pub(crate) fn site(&self) -> Site {
        self.site_with("landfall")
    }

    pub(crate) fn site_with(&self, password: &str) -> Site {
        let trust = self.scene.hosts.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let credentials = Credentials::of_user("admin".to_owned(), password.into(), &trust);
        let hosts = &self.config.platform.powervm().unwrap().hosts;
        Site::new(hosts, &credentials, &self.infra_id, INTERVAL).unwrap()
    }

    pub(crate) fn binder(&self) -> Binder {
        let mut ignition = FileSet::default();
        for role in ["bootstrap", "master", "worker"] {
            let text = format!(r#"{{"ignition":{{"version":"3.4.0"}},"role":"{role}"}}"#);
            ignition.insert(format!("{role}.ign"), File::private(text));
        }
        Binder::new(self.site(), Inputs { ignition, image_cache: self.scene.home.path().join("images") })
    }

    pub(crate) fn journal(&self, name: &str) -> Journal {
        let file = self.scene.home.path().join(format!("{}-{name}.sqlite", self.infra_id));
        Journal::open(&file, &self.infra_id).unwrap()
    }

    pub(crate) async fn install(&self) -> Result<(), ApplyError> {
        let (plan, binder, journal) = (self.plan(), self.binder(), self.journal("own"));
        let options = options();
        let made = apply(&plan, &binder, &journal, &options);
        tokio::time::timeout(Duration::from_mins(10), made).await.expect("it is made at last").map(drop)
    }

    /// Removes the cluster as somebody would who has nothing but its infra id.
    pub(crate) async fn destroy_without_files(&self) -> Result<(), RemovalError> {
        self.destroy_without_files_as(&options()).await
    }

    pub(crate) async fn destroy_without_files_as(&self, options: &Options) -> Result<(), RemovalError> {
        let binder = Binder::new(self.site(), Inputs::default());
        destroy(&binder, &Discovery::new(self.site()), &self.journal("other"), options).await
    }

    /// Leads a server elsewhere, and tells where it was.
    pub(crate) fn move_host(&mut self, name: &str, address: &str) -> String {
        let landfall_config::Platform::Powervm(platform) = &mut self.config.platform else { unreachable!() };
        let host = platform.hosts.iter_mut().find(|host| host.name == name).unwrap();
        std::mem::replace(&mut host.address, address.to_owned())
    }

    /// Everything on the servers that an installation adds to, as their own state shows it: one line each, without ids.
    pub(crate) fn list(&self) -> Vec<String> {
        let state = self.scene.hosts.world().view(|hosts, _| hosts.snapshot());
        let mut lines = Vec::new();
        let hosts = state["hosts"].as_array().unwrap();
        for host in hosts {
            let name = host["name"].as_str().unwrap();
            for object in host["objects"].as_object().unwrap().values() {
                let element = &object["element"];
                let of = |path: &str| text(element, path);
                match element["n"].as_str().unwrap_or_default() {
                    "LogicalPartition" => lines.push(format!(
                        "{name} partition {} {} memory {}",
                        of("PartitionName"),
                        of("PartitionState"),
                        of("PartitionMemoryConfiguration/DesiredMemory"),
                    )),
                    "ClientNetworkAdapter" => {
                        lines.push(format!(
                            "{name} adapter in VLAN {} of switch {}",
                            of("PortVLANID"),
                            of("VirtualSwitchID")
                        ));
                    }
                    "VirtualIOServer" => {
                        let mappings = child(element, "VirtualSCSIMappings").map_or(0, |list| children(list).len());
                        lines.push(format!("{name} {} maps {mappings}", of("PartitionName")));
                    }
                    "VolumeGroup" => {
                        for list in ["VirtualDisks", "MediaRepositories/VirtualMediaRepository/OpticalMedia"] {
                            let count = at(element, list).map_or(0, |list| children(list).len());
                            lines.push(format!("{name} {} has {count} in {list}", of("GroupName")));
                        }
                    }
                    _ => {}
                }
            }
        }
        for object in state["pool"].as_object().unwrap().values() {
            let element = &object["element"];
            if element["n"] == "LogicalUnit" {
                let cloned = if text(element, "ClonedFrom").is_empty() { "" } else { " (clone)" };
                let name = text(element, "UnitName");
                // Names of disks end in digits of an id.
                let name = name.rsplit_once('_').map_or(name.as_str(), |(name, _)| name);
                lines.push(format!("unit {name} of {} GB{cloned}", text(element, "UnitCapacity")));
            }
        }
        lines.sort();
        lines
    }
}

fn children(element: &Value) -> Vec<&Value> {
    element["c"].as_array().into_iter().flatten().collect()
}

fn child<'a>(element: &'a Value, name: &str) -> Option<&'a Value> {
    children(element).into_iter().find(|child| child["n"] == name)
}

fn at<'a>(element: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').try_fold(element, child)
}

fn text(element: &Value, path: &str) -> String {
    at(element, path).and_then(|element| element["t"].as_str()).unwrap_or_default().to_owned()
}

#[async_trait]
impl World for Cluster {
    fn infra_id(&self) -> InfraId {
        self.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        plan(&self.config, &self.infra_id, &Facts, Stage::Bootstrapping).unwrap()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        Arc::new(Self::binder(self))
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(Discovery::new(self.site()))
    }

    async fn inventory(&self) -> Vec<String> {
        self.list()
    }
}
