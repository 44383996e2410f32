//! Whole installations on PowerVM: three servers, partitions that boot from their config drives, workers that the cluster makes.
//!
//! | module | what it is about |
//! |---|---|
//! | [`whole`] | from an install-config to nodes, more of them, others in their place, and back to nothing |
//! | [`kinds`] | every kind of storage and network |
//! | [`trouble`] | `kill -9`, Ctrl-C, a server that does not answer |
//! | [`records`] | public DNS, on a real BIND |
//! | [`survey`] | from the questions to a cluster |

mod kinds;
mod records;
mod survey;
mod trouble;
mod whole;

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt as _, path::Path, sync::LazyLock};

use clap::Parser as _;
use landfall_simulator::{
    core::{Running, Simulation as _},
    powervm,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{context::TestContext, packet::Install, place::Place, pods};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.expect("threads for the simulators")
});

/// Long enough not to be part of anything else.
const PASSWORD: &str = "Xq7-novalink-password-9Zk";

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervm::Options,
}

pub(crate) struct Scene {
    servers: Running<powervm::NovaLink>,
    place: Place,
}

/// What a cluster is called, and how large it is.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    /// Which of the pairs of virtual addresses.
    pub(crate) number: u8,
    pub(crate) masters: u32,
    pub(crate) workers: u32,
}

impl Default for Wish<'_> {
    fn default() -> Self {
        Self { name: "demo", number: 0, masters: 1, workers: 0 }
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        let network = place.cidr();
        let flags =
            ["powervm", "--time-scale", "200", "--media", "keep", "--guest-network", &network, "--password", PASSWORD];
        let mut options = Flags::try_parse_from(flags).unwrap().options;
        options.guests.programs = pods::programs();
        let servers = RUNTIME.block_on(powervm::start(&options)).unwrap();
        Self { servers, place }
    }

    fn hosts(&self) -> Vec<(String, String)> {
        let ready = self.servers.ready();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        ready["hosts"].as_array().unwrap().iter().map(|host| (text(&host["name"]), text(&host["url"]))).collect()
    }

    /// Everything that an installation adds to, as the servers themselves have it: kinds and names.
    pub(crate) fn holds(&self) -> BTreeSet<String> {
        let state = self.servers.world().view(|servers, _| servers.snapshot());
        let mut found = BTreeSet::new();
        for host in state["hosts"].as_array().unwrap() {
            for (id, object) in host["objects"].as_object().unwrap() {
                let kind = object["element"]["n"].as_str().unwrap();
                if ["LogicalPartition", "ClientNetworkAdapter"].contains(&kind) {
                    found.insert(format!("{} {kind} {id}", host["name"].as_str().unwrap()));
                }
                names(&object["element"], &["MediaName", "DiskName", "TargetName", "DeviceName"], &mut found);
            }
        }
        for object in state["pool"].as_object().unwrap().values() {
            names(&object["element"], &["UnitName"], &mut found);
        }
        found
    }

    /// Everything is there that was, and nothing else.
    fn still_holds(&self, before: &BTreeSet<String>) {
        let now = self.holds();
        let gone: Vec<_> = before.difference(&now).collect();
        let new: Vec<_> = now.difference(before).collect();
        assert!(gone.is_empty() && new.is_empty(), "gone: {gone:?}, new: {new:?}");
    }

    /// The servers that partitions whose names begin so are on.
    fn places(&self, beginning: &str) -> Vec<String> {
        self.partitions().into_iter().filter(|(name, _)| name.starts_with(beginning)).map(|(_, host)| host).collect()
    }

    /// All partitions by name, each with its server.
    pub(crate) fn partitions(&self) -> Vec<(String, String)> {
        let state = self.servers.world().view(|servers, _| servers.snapshot());
        let mut found = Vec::new();
        for host in state["hosts"].as_array().unwrap() {
            for object in host["objects"].as_object().unwrap().values() {
                let mut own = BTreeSet::new();
                names(&object["element"], &["PartitionName"], &mut own);
                if object["element"]["n"] == "LogicalPartition" {
                    let names = own.iter().filter_map(|name| name.strip_prefix("PartitionName "));
                    found.extend(names.map(|name| (name.to_owned(), host["name"].as_str().unwrap().to_owned())));
                }
            }
        }
        found
    }

    fn fault(&self, rule: &str) -> u64 {
        self.servers.add_fault(rule.parse().unwrap_or_else(|error| panic!("'{rule}': {error}")))
    }

    /// How often a fault took effect.
    fn fired(&self, fault: u64) -> u64 {
        self.servers.with_faults(|faults| faults.rule(fault)).expect("the rule is in force").fired
    }

    fn clear_faults(&self) {
        self.servers.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }

    pub(crate) fn install(&self, wish: Wish<'_>) -> Install {
        self.install_with(wish, |_| ())
    }

    /// An installation with an install-config that is changed before it is written.
    fn install_with(&self, wish: Wish<'_>, change: impl Fn(&mut Value)) -> Install {
        let Wish { name, number, masters, workers } = wish;
        let hosts: Vec<Value> =
            self.hosts().into_iter().map(|(name, url)| json!({"name": name, "address": url})).collect();
        let [api, ingress] = self.place.vips(number);
        let mut config = json!({
            "apiVersion": "v1",
            "metadata": {"name": name},
            "baseDomain": "example.com",
            "sshKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo",
            "networking": {"machineNetwork": [{"cidr": self.place.cidr()}]},
            "controlPlane": {"replicas": masters},
            "compute": [{"name": "worker", "replicas": workers}],
            "platform": {"powervm": {
                "hosts": hosts,
                "storage": {"sharedStoragePool": {"name": "pool1"}},
                "image": {"logicalUnit": "fcos"},
                "network": {"sharedEthernet": {"vlan": 100}},
                "api_vips": [api],
                "ingress_vips": [ingress],
            }},
        });
        change(&mut config);
        let context = TestContext::empty();
        context.write("install-config.yaml", serde_saphyr::to_string(&config).unwrap());
        let credentials = context.home().join("powervm.yaml");
        let addresses: serde_json::Map<String, Value> =
            self.hosts().into_iter().map(|(name, url)| (name, json!({"address": url}))).collect();
        let document = json!({
            "user": "admin", "password": PASSWORD, "ca_bundle": self.servers.ca_pem(), "hosts": addresses,
        });
        std::fs::write(&credentials, document.to_string()).unwrap();
        std::fs::set_permissions(&credentials, std::fs::Permissions::from_mode(0o600)).unwrap();
        Install { context, variables: variables(&credentials) }
    }
}

/// What the program finds in its environment.
fn variables(credentials: &Path) -> Vec<(&'static str, String)> {
    vec![("POWERVM_CONFIG", credentials.display().to_string())]
}

/// The texts of elements of these names, with the names.
fn names(element: &Value, wanted: &[&str], found: &mut BTreeSet<String>) {
    let name = element["n"].as_str().unwrap_or_default();
    if wanted.contains(&name) {
        found.insert(format!("{name} {}", element["t"].as_str().unwrap_or_default()));
    }
    for child in element["c"].as_array().into_iter().flatten() {
        names(child, wanted, found);
    }
}
