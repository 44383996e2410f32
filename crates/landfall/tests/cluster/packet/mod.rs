//! Whole installations on Packet, with names in a zone on a real BIND where they are needed.
//!
//! | module | what it is about |
//! |---|---|
//! | [`whole`] | every kind of endpoint, and what is left afterwards |
//! | [`balanced`] | a load balancer of the user's own |
//! | [`hosts`] | where machines fetch what they boot with |
//! | [`trouble`] | what a platform of real servers does |
//! | [`survey`] | from the questions to a cluster |

mod balanced;
mod hosts;
mod survey;
mod trouble;
mod whole;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::LazyLock,
};

use clap::Parser as _;
use landfall_simulator::{
    core::{Running, Simulation as _},
    packet,
};
use landfall_testkit::{
    named::{KEY_NAME, Named, NamedZone, SECRET},
    ports::free_port_on,
};
use landfall_wire::{Client, Limits, Request, Trust};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    context::{Run, TestContext},
    place::Place,
    pods,
    process::Process,
    waiting::until,
};

pub(crate) const ZONE: &str = "example.com";

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
pub(crate) struct Scene {
    account: Running<packet::Metal>,
    pub(crate) server: Named,
    resolver: Named,
    pub(crate) place: Place,
}

impl Scene {
    pub(crate) fn new(flags: &[&str]) -> Self {
        Self::with_records(flags, |_| String::new())
    }

    /// With records of the user's own in the zone.
    fn with_records(flags: &[&str], records: impl Fn(&Place) -> String) -> Self {
        let place = Place::new();
        let records = format!("www A 192.0.2.80\n{}", records(&place));
        let [own, resolving] = [1, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
        let port = free_port_on(&[own, resolving]);
        let address = |ip: Ipv4Addr| SocketAddr::new(ip.into(), port);
        let server = Named::authoritative(address(own), &[NamedZone::new(ZONE, own, &records)], "");
        let resolver = Named::resolver(address(resolving), &[(ZONE, server.address())]);
        let (network, names) = (place.cidr(), server.address().to_string());
        let own = ["packet", "--time-scale", "200", "--guest-network", &network, "--guest-resolver", &names];
        let mut options = Flags::try_parse_from([own.as_slice(), flags].concat()).unwrap().options;
        options.guests.programs = pods::programs();
        let account = RUNTIME.block_on(packet::start(&options)).unwrap();
        Self { account, server, resolver, place }
    }

    fn field(&self, name: &str) -> String {
        self.account.ready()[name].as_str().unwrap().to_owned()
    }

    pub(crate) fn state(&self) -> Value {
        self.account.world().view(|account, _| account.snapshot())
    }

    /// What is left of a cluster: devices that are not on their way out, addresses, networks.
    pub(crate) fn left(&self) -> Vec<String> {
        let state = self.state();
        let all = |name: &str| state[name].as_array().cloned().unwrap_or_default();
        let devices = all("devices").into_iter().filter(|device| device["state"] != "deprovisioning");
        let blocks = all("blocks").into_iter().filter(|block| block["management"] == false);
        devices
            .map(|device| device["hostname"].to_string())
            .chain(blocks.map(|block| block["tags"].to_string()))
            .collect()
    }

    /// The public addresses of all machines.
    fn machines(&self) -> Vec<IpAddr> {
        let state = self.state();
        let devices = state["devices"].as_array().cloned().unwrap_or_default();
        let own = devices.iter().flat_map(|device| device["management"].as_array().cloned().unwrap_or_default());
        let public = own.filter(|own| own["public"] == true && own["family"] == 4);
        public.filter_map(|own| own["address"].as_str()?.parse().ok()).collect()
    }

    /// Asks the API as somebody else would.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("{}/{path}", self.field("url")), body)
    }

    /// Does something to the simulator that no user of the API could.
    fn administer(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("{}/{path}", self.field("admin_url")), body)
    }

    fn ask(&self, method: &str, url: &str, body: &Value) -> Value {
        let url = url.parse().unwrap();
        let trust = Trust::Only(self.account.ca_pem().unwrap().to_owned());
        let key = SecretString::from(self.field("api_key"));
        let request = Request::json(method.parse().unwrap(), url, body).accept_json();
        let client = Client::new(&trust, Limits::default()).unwrap();
        let reply = RUNTIME.block_on(client.send(request.secret_header("x-auth-token", &key))).unwrap();
        assert!(reply.status() < 300, "{method}: {}", String::from_utf8_lossy(reply.contents()));
        reply.json().unwrap_or_default()
    }

    /// Waits until a condition holds.
    fn eventually(&self, what: &str, holds: impl Fn() -> bool) {
        until(what, || if holds() { Ok(()) } else { Err(format!("{:?}", self.left())) });
    }

    /// An installation with fields of the platform's section.
    pub(crate) fn install(&self, section: &Value, masters: u32, workers: u32) -> Install {
        self.install_with(section, masters, workers, |_| ())
    }

    /// The same with an install-config that is changed before it is written.
    fn install_with(&self, section: &Value, masters: u32, workers: u32, change: impl Fn(&mut Value)) -> Install {
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
        let mut config = json!({
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
        change(&mut config);
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
        let variables = self.variables(&credentials);
        Install { context, variables }
    }

    /// What the program finds in its environment.
    fn variables(&self, credentials: &Path) -> Vec<(&'static str, String)> {
        vec![
            ("PACKET_CONFIG", credentials.display().to_string()),
            ("LANDFALL_DNS_RESOLVER", self.resolver.address().to_string()),
            ("LANDFALL_DNS_PORT", self.server.address().port().to_string()),
        ]
    }
}

/// An install directory, and the environment that its commands run in.
pub(crate) struct Install {
    pub(crate) context: TestContext,
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Install {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.context.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A run that can be killed.
    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        Process::start(self.command(arguments), self.context.home().join("run"))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run
    }
}
