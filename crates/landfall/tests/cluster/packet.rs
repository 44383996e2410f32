//! Whole installations on Packet: every kind of endpoint, with names in a zone on a real BIND where they are needed.

use std::{
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
    sync::LazyLock,
};

use clap::Parser as _;
use landfall_simulator::{
    core::{Running, Simulation as _},
    packet,
};
use landfall_testkit::named::{KEY_NAME, Named, NamedZone, SECRET, free_port};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    context::{Run, TestContext},
    place::Place,
};

const ZONE: &str = "example.com";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.expect("threads for the simulators")
});

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: packet::Options,
}

/// An account, and names.
struct Scene {
    account: Running<packet::Metal>,
    server: Named,
    resolver: Named,
    place: Place,
}

impl Scene {
    fn new(flags: &[&str]) -> Self {
        let place = Place::new();
        let [own, resolving] = [1, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
        let port = free_port(&[own, resolving]);
        let address = |ip: Ipv4Addr| SocketAddr::new(ip.into(), port);
        let server = Named::authoritative(address(own), &[NamedZone::new(ZONE, own, "www A 192.0.2.80")], "");
        let resolver = Named::resolver(address(resolving), &[(ZONE, server.address())]);
        let (network, names) = (place.cidr(), server.address().to_string());
        let own = ["packet", "--time-scale", "200", "--guest-network", &network, "--guest-resolver", &names];
        let options = Flags::try_parse_from([own.as_slice(), flags].concat()).unwrap().options;
        let account = RUNTIME.block_on(packet::start(&options)).unwrap();
        Self { account, server, resolver, place }
    }

    fn field(&self, name: &str) -> String {
        self.account.ready()[name].as_str().unwrap().to_owned()
    }

    fn state(&self) -> Value {
        self.account.world().view(|account, _| account.snapshot())
    }

    /// What is left of a cluster: devices that are not on their way out, addresses, networks.
    fn left(&self) -> Vec<String> {
        let state = self.state();
        let all = |name: &str| state[name].as_array().cloned().unwrap_or_default();
        let devices = all("devices").into_iter().filter(|device| device["state"] != "deprovisioning");
        let blocks = all("blocks").into_iter().filter(|block| block["management"] == false);
        devices
            .map(|device| device["hostname"].to_string())
            .chain(blocks.map(|block| block["tags"].to_string()))
            .collect()
    }

    /// An installation with fields of the platform's section.
    fn install(&self, section: &Value, masters: u32, workers: u32) -> Install {
        let mut platform = json!({
            "project": self.field("project"),
            "metros": ["da"],
            "os": {"ipxe": {
                "kernel": "https://mirror.example.com/kernel",
                "initramfs": "https://mirror.example.com/initramfs",
                "rootfs": "https://mirror.example.com/rootfs",
            }},
            "assetHost": {"landfall": {"listen": "127.0.0.1:0"}},
        });
        platform.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
        let config = json!({
            "apiVersion": "v1",
            "metadata": {"name": "demo"},
            "baseDomain": ZONE,
            "sshKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo",
            "networking": {"machineNetwork": [{"cidr": self.place.cidr()}]},
            "controlPlane": {"replicas": masters},
            "compute": [{"name": "worker", "replicas": workers}],
            "platform": {"packet": platform},
            "dns": {"rfc2136": {
                "server": self.server.address().to_string(),
                "keyName": KEY_NAME,
                "keyFile": "tsig.key",
            }},
        });
        let context = TestContext::empty();
        context.write("install-config.yaml", serde_saphyr::to_string(&config).unwrap());
        context.write("tsig.key", SECRET);
        let credentials = context.home().join("packet.yaml");
        let document = json!({
            "api_url": self.field("url"),
            "api_key": self.field("api_key"),
            "ca_bundle": self.account.ca_pem(),
        });
        std::fs::write(&credentials, serde_saphyr::to_string(&document).unwrap()).unwrap();
        for file in [context.path("tsig.key"), credentials.clone()] {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let variables = vec![
            ("PACKET_CONFIG", credentials.display().to_string()),
            ("LANDFALL_DNS_RESOLVER", self.resolver.address().to_string()),
            ("LANDFALL_DNS_PORT", self.server.address().port().to_string()),
        ];
        Install { context, variables }
    }
}

struct Install {
    context: TestContext,
    variables: Vec<(&'static str, String)>,
}

impl Install {
    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.context.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Run::of(command.output().unwrap())
    }

    fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run
    }
}

/// Installs, looks, installs again, removes.
fn whole(section: &Value) {
    let scene = Scene::new(&[]);
    let zone = scene.server.zone(ZONE);
    let install = scene.install(section, 3, 1);
    let made = install.ok(&["create", "cluster"]).stdout;
    for node in ["master-0", "master-1", "master-2", "worker-0"] {
        assert!(made.contains(&format!("-{node}")), "{made}");
    }
    assert_eq!(scene.left().iter().filter(|line| line.contains("bootstrap")).count(), 0, "{:?}", scene.left());
    let before = scene.left();
    install.ok(&["create", "cluster"]);
    assert_eq!(scene.left(), before, "a second run changes nothing");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.left(), Vec::<String>::new());
    assert_eq!(scene.server.zone(ZONE), zone);
}

#[test]
fn elastic_addresses() {
    whole(&json!({}));
}

#[test]
fn addresses_announced_over_bgp() {
    whole(&json!({"endpoint": "bgp"}));
}

#[test]
fn names_that_lead_to_all_machines() {
    whole(&json!({"endpoint": "dnsRoundRobin"}));
}

#[test]
fn a_cluster_is_found_by_its_mark_alone() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({}), 1, 1);
    install.ok(&["create", "cluster"]);
    let infra_id = install.context.infra_id();
    for file in ["install-config.yaml", ".landfall/journal.sqlite"] {
        std::fs::remove_file(install.context.path(file)).unwrap();
    }
    install.ok(&["destroy", "cluster", "--platform", "packet", "--infra-id", &infra_id]);
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn secrets_stay_where_they_belong() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({}), 1, 0);
    install.ok(&["create", "cluster"]);
    let key = scene.field("api_key");
    for file in [".landfall/journal.sqlite", ".landfall/landfall.log"] {
        let bytes = std::fs::read(install.context.path(file)).unwrap();
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{file}");
    }
    // User data only points somewhere.
    for device in scene.state()["devices"].as_array().unwrap() {
        let userdata = device["userdata"].as_str().unwrap();
        assert!(userdata.len() < 16 * 1024 && !userdata.contains("PRIVATE KEY"), "{userdata}");
    }
}
