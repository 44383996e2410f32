//! A simulated oVirt engine.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use landfall_platform::{InfraId, MachineProvider};
use landfall_platform_ovirt::Provider;
use landfall_simulator::{
    core::{Running, faults::FaultPlan},
    ovirt,
};
use landfall_wire::{Client, Limits, Request, Trust};
use serde_json::{Value, json};

use super::{LATE, Trouble, World};

/// Simulated seconds per second.
const TIME_SCALE: f64 = 2000.0;
const PASSWORD: &str = "landfall";

pub(crate) struct Ovirt {
    engine: Running<ovirt::Engine>,
    client: Client,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: ovirt::Options,
}

impl Ovirt {
    /// Asks the engine's API as somebody else would.
    async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}/ovirt-engine/api/{path}", self.engine.url()).parse().unwrap();
        let request = match body {
            Value::Null => Request::bare(method.parse().unwrap(), url),
            body => Request::json(method.parse().unwrap(), url, &body),
        };
        let basic = "Basic YWRtaW5AaW50ZXJuYWw6bGFuZGZhbGw=";
        let reply = self.client.send(request.accept_json().header("authorization", basic)).await.unwrap();
        assert!(reply.status() < 300, "{method} {path}: {}", String::from_utf8_lossy(reply.contents()));
        reply.json().unwrap_or_default()
    }

    async fn named(&self, collection: &str, element: &str, infra_id: &InfraId) -> Vec<String> {
        let found = self.call("GET", collection, Value::Null).await;
        let found = found[element].as_array().cloned().unwrap_or_default();
        let names = found.iter().filter_map(|object| object["name"].as_str().map(str::to_owned));
        let mut names: Vec<_> = names.filter(|name| name.starts_with(&format!("{infra_id}-"))).collect();
        names.sort();
        names
    }
}

#[async_trait]
impl World for Ovirt {
    const PLATFORM: &'static str = "ovirt";

    async fn start() -> Self {
        // Ids are made from it, and clusters of several tests share the nodes of one API server.
        let seed = rand::random::<u32>().to_string();
        let scale = TIME_SCALE.to_string();
        let arguments = ["sim", "--password", PASSWORD, "--time-scale", &scale, "--guests", "plain", "--seed", &seed];
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        let engine = ovirt::start(&options).await.expect("the simulator starts");
        let client = Client::new(&Trust::Only(engine.ca_pem().unwrap().to_owned()), Limits::default()).unwrap();
        Self { engine, client }
    }

    fn provider(&self) -> Arc<dyn MachineProvider> {
        Arc::new(Provider)
    }

    fn credentials(&self) -> BTreeMap<String, String> {
        [
            ("ovirt_url", format!("{}/ovirt-engine/api", self.engine.url())),
            ("ovirt_username", "admin@internal".to_owned()),
            ("ovirt_password", PASSWORD.to_owned()),
            ("ovirt_ca_bundle", self.engine.ca_pem().unwrap().to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn provider_spec(&self) -> Value {
        json!({
            "apiVersion": "ovirtproviderconfig.machine.openshift.io/v1beta1",
            "kind": "OvirtMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" },
            "credentialsSecret": { "name": "credentials" },
            "template_name": "fcos",
            "cluster_id": "7a5b0000-0000-4000-8000-0000000c1a01",
            "cpu": { "sockets": 1, "cores": 1, "threads": 1 },
            "memory_mb": 1024,
            "guaranteed_memory_mb": 256,
            "os_disk": { "size_gb": 12 },
            "type": "server",
            "clone": false,
        })
    }

    async fn prepare(&self, infra_id: &InfraId) {
        self.call("POST", "tags", json!({ "name": infra_id.as_str() })).await;
    }

    async fn instances(&self, infra_id: &InfraId) -> Vec<String> {
        self.named("vms", "vm", infra_id).await
    }

    async fn leftovers(&self, infra_id: &InfraId) -> Vec<String> {
        self.named("disks", "disk", infra_id).await
    }

    async fn attach_volume(&self, machine: &str) -> String {
        let storage = json!({ "storage_domain": [{ "id": "7a5b0000-0000-4000-8000-00000000da7a" }] });
        let disk = json!({ "name": "pvc-data", "format": "cow", "sparse": "true", "provisioned_size": "1073741824", "storage_domains": storage });
        let disk = self.call("POST", "disks", disk).await["id"].as_str().unwrap().to_owned();
        while self.call("GET", &format!("disks/{disk}"), Value::Null).await["status"] != "ok" {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let vms = self.call("GET", "vms", Value::Null).await;
        let vm = vms["vm"].as_array().unwrap().iter().find(|vm| vm["name"] == machine).unwrap()["id"].clone();
        let attachment =
            json!({ "disk": { "id": disk }, "bootable": "false", "active": "true", "interface": "virtio_scsi" });
        self.call("POST", &format!("vms/{}/diskattachments", vm.as_str().unwrap()), attachment).await;
        disk
    }

    async fn has_volume(&self, id: &str) -> bool {
        let disks = self.call("GET", "disks", Value::Null).await;
        disks["disk"].as_array().into_iter().flatten().any(|disk| disk["id"] == id)
    }

    fn trouble(&self, trouble: Trouble) {
        let rule = match trouble {
            Trouble::LostReplies => "POST,PUT,DELETE /ovirt-engine/api/* probability=0.5 lost-reply".to_owned(),
            Trouble::Outage => "* /ovirt-engine/* status=503".to_owned(),
            Trouble::NoRoom => "POST /ovirt-engine/api/vms/*/start no-capacity".to_owned(),
            Trouble::LateCreations => format!("POST /ovirt-engine/api/vms late={}s", LATE.as_secs_f64() * TIME_SCALE),
        };
        self.engine.add_fault(rule.parse().unwrap());
    }

    fn calm(&self) {
        self.engine.with_faults(FaultPlan::clear);
    }

    fn requests(&self) -> u64 {
        self.engine.request_counts().values().sum()
    }

    fn creations(&self) -> u64 {
        let counts = self.engine.request_counts();
        counts.iter().filter(|(call, _)| call.as_str() == "POST /ovirt-engine/api/vms").map(|(_, count)| count).sum()
    }
}
