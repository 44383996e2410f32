//! Simulated PowerVM servers.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use landfall_platform::{InfraId, MachineProvider};
use landfall_platform_powervm::{
    Provider,
    client::{Client, ConsoleUrl, LogicalUnitSpec, Login, Storage},
};
use landfall_simulator::{
    core::{Running, Simulation as _, faults::FaultPlan},
    powervm,
};
use landfall_wire::{Limits, Trust};
use serde_json::{Map, Value, json};

use super::{LATE, Trouble, World};

/// Simulated seconds per second.
const TIME_SCALE: f64 = 2000.0;
const PASSWORD: &str = "landfall";
/// What asks for a new partition.
const CREATION: &str = "PUT /rest/api/uom/ManagedSystem/{id}/LogicalPartition";

pub(crate) struct Powervm {
    servers: Running<powervm::NovaLink>,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervm::Options,
}

impl Powervm {
    fn state(&self) -> Value {
        self.servers.world().view(|servers, _| servers.snapshot())
    }

    /// Clients of all servers.
    fn clients(&self) -> Vec<Client> {
        let trust = Trust::Only(self.servers.ca_pem().unwrap().to_owned());
        let ready = self.servers.ready();
        let urls = ready["hosts"].as_array().unwrap().iter().map(|host| host["url"].as_str().unwrap());
        let login = || Login::Password { user: "admin".to_owned(), password: PASSWORD.into() };
        urls.map(|url| Client::new(ConsoleUrl::parse(url).unwrap(), &trust, Limits::default(), login()).unwrap())
            .collect()
    }
}

/// The text of a child.
fn text<'a>(element: &'a Value, name: &str) -> &'a str {
    let children = element["c"].as_array().into_iter().flatten();
    let mut named = children.filter(|child| child["n"] == name);
    named.next().and_then(|child| child["t"].as_str()).unwrap_or_default()
}

/// The texts of all elements of a name, however deep.
fn texts(element: &Value, name: &str, found: &mut Vec<String>) {
    if element["n"] == name {
        found.push(element["t"].as_str().unwrap_or_default().to_owned());
    }
    for child in element["c"].as_array().into_iter().flatten() {
        texts(child, name, found);
    }
}

#[async_trait]
impl World for Powervm {
    const PLATFORM: &'static str = "powervm";
    /// One for each server.
    const CALLS_PER_LISTING: u64 = 3;

    async fn start() -> Self {
        // Ids are made from it, and clusters of several tests share the nodes of one API server.
        let seed = rand::random::<u32>().to_string();
        let scale = TIME_SCALE.to_string();
        // An hour of this clock is seconds, and what is found must not depend on how long a machine took.
        let usual = ["sim", "--media", "keep", "--guests", "plain"];
        let arguments = [&usual[..], &["--password", PASSWORD, "--time-scale", &scale, "--seed", &seed]].concat();
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        Self { servers: powervm::start(&options).await.expect("the simulator starts") }
    }

    fn provider(&self) -> Arc<dyn MachineProvider> {
        Arc::new(Provider)
    }

    fn credentials(&self) -> BTreeMap<String, String> {
        let ready = self.servers.ready();
        let hosts: Map<String, Value> = ready["hosts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|host| (host["name"].as_str().unwrap().to_owned(), json!({ "address": host["url"] })))
            .collect();
        let document = json!({
            "user": "admin", "password": PASSWORD, "ca_bundle": self.servers.ca_pem().unwrap(), "hosts": hosts,
        });
        [("hosts".to_owned(), document.to_string())].into()
    }

    fn provider_spec(&self) -> Value {
        json!({
            "apiVersion": "powervmproviderconfig.machine.openshift.io/v1beta1",
            "kind": "PowerVMMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" },
            "credentialsSecret": { "name": "credentials" },
            "processors": 1,
            "processingUnits": "0.05",
            "memoryGiB": 1,
            "diskGiB": 12,
            "sharedStoragePool": { "name": "pool1" },
            "image": "fcos",
            "sharedEthernet": { "vlan": 100, "virtualSwitch": "ETHERNET0" },
        })
    }

    /// Whatever machines need is on the servers already.
    async fn prepare(&self, _: &InfraId) {}

    async fn instances(&self, infra_id: &InfraId) -> Vec<String> {
        let state = self.state();
        let mut names = Vec::new();
        for host in state["hosts"].as_array().unwrap() {
            for object in host["objects"].as_object().unwrap().values() {
                let element = &object["element"];
                let name = text(element, "PartitionName");
                if element["n"] == "LogicalPartition" && name.starts_with(&format!("{infra_id}-")) {
                    names.push(name.to_owned());
                }
            }
        }
        names.sort();
        names
    }

    /// Disks, by their names; media, which are called after partitions, if there is no partition any more.
    async fn leftovers(&self, infra_id: &InfraId) -> Vec<String> {
        let state = self.state();
        let mut units = Vec::new();
        for object in state["pool"].as_object().unwrap().values() {
            texts(&object["element"], "UnitName", &mut units);
        }
        let mut left: Vec<String> =
            units.iter().filter_map(|name| name.strip_prefix("boot_")).map(str::to_owned).collect();
        // Disks are called after their machines.
        left.retain(|name| name.starts_with(&format!("{infra_id}-")));
        for host in state["hosts"].as_array().unwrap() {
            let objects = host["objects"].as_object().unwrap();
            let mut media = Vec::new();
            for object in objects.values() {
                texts(&object["element"], "MediaName", &mut media);
            }
            let is_there = |medium: &String| {
                let digits = medium.trim_start_matches("cfg_");
                objects.keys().any(|id| id.replace('-', "").eq_ignore_ascii_case(digits))
            };
            media.sort();
            media.dedup();
            left.extend(media.into_iter().filter(|medium| medium.starts_with("cfg_") && !is_there(medium)));
        }
        left.sort();
        left
    }

    async fn attach_volume(&self, machine: &str) -> String {
        for client in self.clients() {
            let Some(partition) = client.partition_named(machine).await.unwrap() else { continue };
            let pool = client.pools().await.unwrap().remove(0);
            let tiers = client.tiers(&pool.id).await.unwrap();
            let tier = tiers.iter().find(|tier| tier.is_default).unwrap();
            let spec = LogicalUnitSpec { name: "pvc-data", gib: 1.0, is_image: false, clone_of: None };
            let unit = client.create_logical_unit(&tier.id, &spec).await.unwrap();
            let vios = client.vioses(&[]).await.unwrap().remove(0);
            client.map(&vios.partition.id, &partition.id, &Storage::LogicalUnit(unit.device)).await.unwrap();
            return unit.id;
        }
        panic!("there is no machine {machine}");
    }

    async fn has_volume(&self, id: &str) -> bool {
        self.state()["pool"].as_object().unwrap().contains_key(id)
    }

    fn trouble(&self, trouble: Trouble) {
        let rule = match trouble {
            Trouble::LostReplies => "POST,PUT,DELETE /rest/api/uom/* probability=0.5 lost-reply".to_owned(),
            Trouble::Outage => "* /rest/* status=503".to_owned(),
            Trouble::NoRoom => "PUT /rest/api/uom/ManagedSystem/*/LogicalPartition no-capacity".to_owned(),
            Trouble::LateCreations => {
                let seconds = LATE.as_secs_f64() * TIME_SCALE;
                format!("PUT /rest/api/uom/ManagedSystem/*/LogicalPartition late={seconds}s")
            }
        };
        self.servers.add_fault(rule.parse().unwrap());
    }

    fn calm(&self) {
        self.servers.with_faults(FaultPlan::clear);
    }

    fn requests(&self) -> u64 {
        self.servers.request_counts().values().sum()
    }

    fn creations(&self) -> u64 {
        self.servers.request_counts().get(CREATION).copied().unwrap_or_default()
    }
}
