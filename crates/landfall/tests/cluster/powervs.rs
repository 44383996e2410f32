//! Whole installations on PowerVS: workspace, load balancers, names in Internet Services, machines that come up behind them.

use std::{os::unix::fs::PermissionsExt as _, path::Path, sync::LazyLock};

use clap::Parser as _;
use landfall_simulator::{
    core::{Running, Simulation as _},
    powervs,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    context::TestContext,
    packet::Install,
    place::Place,
    terminal::{BACKSPACE, ENTER, Terminal},
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.expect("threads for the simulators")
});

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

pub(crate) struct Scene {
    account: Running<powervs::Cloud>,
    /// Keeps the network of the machines.
    _place: Place,
}

impl Scene {
    pub(crate) fn new(flags: &[&str]) -> Self {
        let place = Place::new();
        let network = place.cidr();
        let own = ["powervs", "--time-scale", "200", "--guest-network", &network];
        let options = Flags::try_parse_from([own.as_slice(), flags].concat()).unwrap().options;
        let account = RUNTIME.block_on(powervs::start(&options)).unwrap();
        Self { account, _place: place }
    }

    fn field(&self, name: &str) -> String {
        self.account.ready()[name].as_str().unwrap().to_owned()
    }

    pub(crate) fn state(&self) -> Value {
        self.account.world().view(|account, _| account.snapshot())
    }

    /// What an installation adds to, as the account itself has it.
    pub(crate) fn holds(&self) -> Vec<String> {
        let state = self.state();
        let mut lines = Vec::new();
        for kind in [
            "instances",
            "vpcs",
            "subnets",
            "public_gateways",
            "security_groups",
            "load_balancers",
            "gateways",
            "connections",
            "ssh_keys",
            "public_records",
            "reclamations",
        ] {
            let all = state[kind].as_object().cloned().unwrap_or_default();
            let stays = |one: &&Value| one["state"] != "removed";
            lines.extend(all.values().filter(stays).map(|one| format!("{kind} {} {}", one["name"], one["type"])));
        }
        lines.sort();
        lines
    }

    /// An installation of a cluster with a name.
    pub(crate) fn install(&self, name: &str, masters: u32, workers: u32) -> Install {
        let config = json!({
            "apiVersion": "v1",
            "metadata": {"name": name},
            "baseDomain": "example.com",
            "sshKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo",
            "networking": {"machineNetwork": [{"cidr": "192.168.124.0/24"}]},
            "controlPlane": {"replicas": masters},
            "compute": [{"name": "worker", "replicas": workers}],
            "platform": {"powervs": {"zone": "dal10", "image": {"regional": "rhcos-9.6-ppc64le-powervs.ova.gz"}}},
            "dns": {"cis": {}},
        });
        let context = TestContext::empty();
        context.write("install-config.yaml", serde_saphyr::to_string(&config).unwrap());
        let credentials = context.home().join("powervs.json");
        let mut document = self.file();
        document["apikey"] = self.field("api_key").into();
        std::fs::write(&credentials, document.to_string()).unwrap();
        std::fs::set_permissions(&credentials, std::fs::Permissions::from_mode(0o600)).unwrap();
        let variables = self.variables(&credentials);
        Install { context, variables }
    }

    fn variables(&self, credentials: &Path) -> Vec<(&'static str, String)> {
        let names = self.field("name_server");
        let port = names.rsplit_once(':').unwrap().1.to_owned();
        vec![
            ("POWERVS_AUTH_FILEPATH", credentials.display().to_string()),
            ("LANDFALL_DNS_RESOLVER", names),
            ("LANDFALL_DNS_PORT", port),
        ]
    }

    /// What a credentials file says of the account, without the key.
    fn file(&self) -> Value {
        let services = self.account.ready()["services"].clone();
        let known = [
            "CIS",
            "COS",
            "DNSServices",
            "GlobalSearch",
            "GlobalTagging",
            "IAM",
            "Power",
            "ResourceController",
            "ResourceManager",
            "TransitGateway",
            "VPC",
        ];
        let endpoints: Vec<Value> = known.iter().map(|name| json!({"name": name, "url": services[*name]})).collect();
        json!({"zone": "dal10", "ca_bundle": self.account.ca_pem(), "serviceEndpoints": endpoints})
    }
}

#[test]
fn a_cluster_comes_up_and_goes() {
    let scene = Scene::new(&[]);
    let before = scene.holds();
    let install = scene.install("demo", 3, 2);
    let made = install.ok(&["create", "cluster"]).stdout;
    for node in ["master-0", "master-1", "master-2", "worker-0", "worker-1"] {
        assert!(made.contains(&format!("-{node}")), "{made}");
    }
    let standing = scene.holds();
    assert!(!standing.iter().any(|line| line.contains("-cos")), "{standing:#?}");
    install.ok(&["create", "cluster"]);
    assert_eq!(scene.holds(), standing, "a second run changes nothing");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}

#[test]
fn clusters_whose_names_look_alike_share_a_zone() {
    let scene = Scene::new(&[]);
    let (first, second) = (scene.install("a", 1, 0), scene.install("ba", 1, 0));
    second.ok(&["create", "cluster"]);
    let others = scene.holds();
    first.ok(&["create", "cluster"]);
    first.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), others);
}

#[test]
fn a_cluster_is_found_by_its_mark_alone() {
    let scene = Scene::new(&[]);
    let before = scene.holds();
    let install = scene.install("demo", 1, 1);
    install.ok(&["create", "cluster"]);
    let infra_id = install.context.infra_id();
    // Records are found with the install-config only.
    install.ok(&["dns", "remove"]);
    for file in ["install-config.yaml", "metadata.json", ".landfall/journal.sqlite"] {
        std::fs::remove_file(install.context.path(file)).unwrap();
    }
    install.ok(&["destroy", "cluster", "--platform", "powervs", "--infra-id", &infra_id]);
    assert_eq!(scene.holds(), before);
}

#[test]
fn secrets_stay_where_they_belong() {
    let scene = Scene::new(&[]);
    let install = scene.install("demo", 1, 0);
    install.ok(&["create", "cluster"]);
    let key = scene.field("api_key");
    for file in [".landfall/journal.sqlite", ".landfall/landfall.log"] {
        let bytes = std::fs::read(install.context.path(file)).unwrap();
        for secret in [key.as_str(), "X-Amz-Signature"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} in {file}");
        }
    }
}

/// From the questions, in a pseudo-terminal, to a cluster whose pools differ.
#[test]
fn what_the_survey_writes_can_be_installed() {
    let scene = Scene::new(&[]);
    let before = scene.holds();
    let mut terminal = Terminal::open();
    let credentials = terminal.home().join(".powervs/config.json");
    std::fs::create_dir(credentials.parent().unwrap()).unwrap();
    std::fs::write(&credentials, scene.file().to_string()).unwrap();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", &format!("Power Virtual{ENTER}"));
    terminal.answer("API key", &format!("{}{ENTER}", scene.field("api_key")));
    terminal.answer("Zone", ENTER);
    terminal.answer("Resource group", ENTER);
    terminal.answer("Image", ENTER);
    terminal.answer("Object of the public bucket", &format!("rhcos-9.6-ppc64le-powervs.ova.gz{ENTER}"));
    terminal.answer("Number of masters", &format!("{BACKSPACE}1{ENTER}"));
    terminal.answer("Number of workers", &format!("{BACKSPACE}1{ENTER}"));
    terminal.answer("System type", &format!("s922{ENTER}"));
    terminal.answer("How machines share them", ENTER);
    terminal.answer("Number of processors", ENTER);
    terminal.answer("Memory in GiB", ENTER);
    terminal.answer("Speed of the disks", ENTER);
    terminal.answer("Threads per processor", ENTER);
    terminal.answer("Workers", &format!("Different{ENTER}"));
    terminal.answer("System type of workers", &format!("s1022{ENTER}"));
    terminal.answer("Processors of workers", ENTER);
    terminal.answer("Number of processors of workers", &format!("{}1.5{ENTER}", BACKSPACE.repeat(3)));
    terminal.answer("Memory in GiB of workers", &format!("{}16{ENTER}", BACKSPACE.repeat(2)));
    terminal.answer("Storage tier of workers", ENTER);
    terminal.answer("of workers", ENTER);
    terminal.answer("Machine network", ENTER);
    terminal.answer("Base domain", &format!("example.com{ENTER}"));
    terminal.answer("Name of the cluster", &format!("asked{ENTER}"));
    terminal.answer("known only during the installation", ENTER);
    terminal.answer("Distribution", ENTER);
    terminal.answer("Version of Kubernetes", ENTER);
    terminal.see("asked.example.com");
    terminal.answer("Write this install-config?", ENTER);
    terminal.see("wrote ");
    assert_eq!(terminal.end(), 0);
    assert_eq!(scene.holds(), before, "questions make nothing");

    let context = TestContext::empty();
    std::fs::copy(terminal.install_config(), context.path("install-config.yaml")).unwrap();
    let written = context.read("install-config.yaml");
    assert!(!written.contains(&scene.field("api_key")), "{written}");
    let install = Install { context, variables: scene.variables(&credentials) };
    install.ok(&["create", "cluster"]);
    let state = scene.state();
    let workspaces = state["workspaces"].as_object().unwrap().values();
    let machines = workspaces.flat_map(|workspace| workspace["instances"].as_object().unwrap().values());
    let mut sizes: Vec<String> =
        machines.map(|one| format!("{} {} {}", one["system"], one["processors"], one["memory_gib"])).collect();
    sizes.sort();
    assert_eq!(sizes, ["\"s1022\" 1.5 16.0", "\"s922\" 0.5 32.0"], "{written}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}
