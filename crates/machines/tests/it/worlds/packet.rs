//! A simulated account at Packet.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use landfall_platform::{InfraId, MachineProvider};
use landfall_platform_packet::Provider;
use landfall_simulator::{core::Running, packet};
use landfall_wire::{Client, Limits, Request, Trust};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{LATE, Trouble, World};

/// Simulated seconds per second.
const TIME_SCALE: f64 = 5000.0;

pub(crate) struct Packet {
    account: Running<packet::Metal>,
    client: Client,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: packet::Options,
}

impl Packet {
    fn field(&self, name: &str) -> String {
        self.account.ready()[name].as_str().unwrap().to_owned()
    }

    /// Asks the API as somebody else would.
    async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}/{path}", self.field("url")).parse().unwrap();
        let request = match body {
            Value::Null => Request::bare(method.parse().unwrap(), url),
            body => Request::json(method.parse().unwrap(), url, &body),
        };
        let key = SecretString::from(self.field("api_key"));
        let reply = self.client.send(request.accept_json().secret_header("x-auth-token", &key)).await.unwrap();
        assert!(reply.status() < 300, "{method} {path}: {}", String::from_utf8_lossy(reply.contents()));
        reply.json().unwrap_or_default()
    }

    /// Reserves an elastic address for a cluster, as the installer does; returns its id.
    pub(crate) async fn reserve(&self, infra_id: &InfraId, name: &str) -> String {
        let tags = [format!("landfall:{infra_id}"), format!("landfall-name:{name}")];
        let wanted = json!({"type": "public_ipv4", "quantity": 1, "metro": "da", "tags": tags});
        let block = self.call("POST", &format!("projects/{}/ips", self.field("project")), wanted).await;
        block["id"].as_str().unwrap().to_owned()
    }

    /// The name of the machine that an elastic address leads to.
    pub(crate) async fn holder(&self, block: &str) -> Option<String> {
        let block = self.call("GET", &format!("ips/{block}?include=assignments"), Value::Null).await;
        let assigned = block["assignments"][0]["assigned_to"]["href"].as_str()?.rsplit('/').next()?.to_owned();
        let device = self.devices().await.into_iter().find(|device| device["id"] == assigned.as_str())?;
        device["hostname"].as_str().map(str::to_owned)
    }

    async fn devices(&self) -> Vec<Value> {
        let path = format!("projects/{}/devices?per_page=1000", self.field("project"));
        self.call("GET", &path, Value::Null).await["devices"].as_array().cloned().unwrap_or_default()
    }
}

#[async_trait]
impl World for Packet {
    const PLATFORM: &'static str = "packet";

    async fn start() -> Self {
        // Ids are made from it, and clusters of several tests share the nodes of one API server.
        let seed = rand::random::<u32>().to_string();
        let scale = TIME_SCALE.to_string();
        let arguments = ["sim", "--time-scale", &scale, "--guests", "plain", "--seed", &seed];
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        let account = packet::start(&options).await.expect("the simulator starts");
        let client = Client::new(&Trust::Only(account.ca_pem().unwrap().to_owned()), Limits::default()).unwrap();
        Self { account, client }
    }

    fn provider(&self) -> Arc<dyn MachineProvider> {
        Arc::new(Provider)
    }

    fn credentials(&self) -> BTreeMap<String, String> {
        [
            ("api_url", self.field("url")),
            ("api_key", self.field("api_key")),
            ("project_id", self.field("project")),
            ("ca_bundle", self.account.ca_pem().unwrap().to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn provider_spec(&self) -> Value {
        json!({
            "apiVersion": "packetproviderconfig.machine.openshift.io/v1beta1",
            "kind": "PacketMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" },
            "credentialsSecret": { "name": "credentials" },
            "machineTypes": ["c3.small.x86"],
            "metros": ["da"],
            "os": "flatcar_stable",
        })
    }

    /// Nothing has to be there before machines are.
    async fn prepare(&self, _: &InfraId) {}

    async fn instances(&self, infra_id: &InfraId) -> Vec<String> {
        let devices = self.devices().await;
        let here = devices.iter().filter(|device| device["state"] != "deprovisioning");
        let names = here.filter_map(|device| device["hostname"].as_str().map(str::to_owned));
        let mut names: Vec<_> = names.filter(|name| name.starts_with(&format!("{infra_id}-"))).collect();
        names.sort();
        names
    }

    /// All that a device has goes with it.
    async fn leftovers(&self, _: &InfraId) -> Vec<String> {
        Vec::new()
    }

    /// There are no volumes here; what hangs on a machine without being its own is an address.
    async fn attach_volume(&self, machine: &str) -> String {
        let wanted = json!({"type": "public_ipv4", "quantity": 1, "metro": "da"});
        let block = self.call("POST", &format!("projects/{}/ips", self.field("project")), wanted).await;
        let device = self.devices().await.into_iter().find(|device| device["hostname"] == machine).unwrap();
        let path = format!("devices/{}/ips", device["id"].as_str().unwrap());
        self.call("POST", &path, json!({"address": block["address"]})).await;
        block["id"].as_str().unwrap().to_owned()
    }

    async fn has_volume(&self, id: &str) -> bool {
        let path = format!("projects/{}/ips?per_page=1000", self.field("project"));
        let blocks = self.call("GET", &path, Value::Null).await;
        blocks["ip_addresses"].as_array().into_iter().flatten().any(|block| block["id"] == id)
    }

    fn trouble(&self, trouble: Trouble) {
        let rule = match trouble {
            Trouble::LostReplies => "POST,PUT,PATCH,DELETE /metal/v1/* probability=0.5 lost-reply".to_owned(),
            Trouble::Outage => "* /metal/v1/* status=503".to_owned(),
            Trouble::NoRoom => "POST /metal/v1/projects/*/devices no-capacity".to_owned(),
            Trouble::LateCreations => {
                format!("POST /metal/v1/projects/*/devices late={}s", LATE.as_secs_f64() * TIME_SCALE)
            }
        };
        self.account.add_fault(rule.parse().unwrap());
    }

    fn calm(&self) {
        self.account.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }

    fn requests(&self) -> u64 {
        self.account.request_counts().values().sum()
    }

    fn creations(&self) -> u64 {
        let counts = self.account.request_counts();
        let is_creation = |call: &str| call.starts_with("POST ") && call.ends_with("/devices");
        counts.iter().filter(|(call, _)| is_creation(call)).map(|(_, count)| count).sum()
    }
}
