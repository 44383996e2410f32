//! A simulated account at IBM Cloud.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use landfall_platform::{InfraId, MachineProvider};
use landfall_platform_powervs::Provider;
use landfall_simulator::{core::Running, powervs};
use landfall_wire::{Client, Limits, Request, Trust, ibm_cloud::Session};
use serde_json::{Value, json};

use super::{LATE, Trouble, World};

/// Simulated seconds per second.
const TIME_SCALE: f64 = 5000.0;
/// The name of the image in every workspace.
const IMAGE: &str = "rhcos";
/// What a workspace is bought as.
const PLAN: &str = "f165dd34-3a40-423b-9d95-e90a23f724dd";

pub(crate) struct Powervs {
    account: Running<powervs::Cloud>,
    session: Session,
    /// The workspaces that were made, by the clusters that they are for.
    workspaces: Mutex<BTreeMap<InfraId, Workspace>>,
}

/// A workspace, as requests name it.
#[derive(Clone)]
struct Workspace {
    guid: String,
    crn: String,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

impl Powervs {
    fn field(&self, name: &str) -> String {
        self.account.ready()[name].as_str().unwrap().to_owned()
    }

    /// Asks a service as somebody else would.
    async fn call(&self, method: &str, service: &str, path: &str, workspace: Option<&Workspace>, body: Value) -> Value {
        let base = self.account.ready()["services"][service].as_str().unwrap().to_owned();
        let url = format!("{base}/{path}");
        let request = || {
            let request = match &body {
                Value::Null => Request::bare(method.parse().unwrap(), url.parse().unwrap()),
                body => Request::json(method.parse().unwrap(), url.parse().unwrap(), body),
            };
            let crn = workspace.map(|workspace| workspace.crn.as_str()).unwrap_or_default();
            request.accept_json().header("crn", crn)
        };
        let reply = self.session.send(request).await.unwrap();
        assert!(reply.status() < 300, "{method} {path}: {}", String::from_utf8_lossy(reply.contents()));
        reply.json().unwrap_or_default()
    }

    async fn power(&self, method: &str, workspace: &Workspace, path: &str, body: Value) -> Value {
        let path = format!("pcloud/v1/cloud-instances/{}/{path}", workspace.guid);
        self.call(method, "Power", &path, Some(workspace), body).await
    }

    /// The workspace of a cluster, or all.
    fn found(&self, infra_id: Option<&InfraId>) -> Vec<Workspace> {
        let all = self.workspaces.lock().unwrap();
        let own = all.iter().filter(|(id, _)| infra_id.is_none_or(|wanted| *id == wanted));
        own.map(|(_, workspace)| workspace.clone()).collect()
    }

    async fn instances_in(&self, workspace: &Workspace) -> Vec<Value> {
        let found = self.power("GET", workspace, "pvm-instances", Value::Null).await;
        found["pvmInstances"].as_array().cloned().unwrap_or_default()
    }
}

/// Looks until something is so.
async fn until<F: Future<Output = bool>>(mut look: impl FnMut() -> F) {
    let begun = std::time::Instant::now();
    while !look().await {
        assert!(begun.elapsed() < Duration::from_mins(2), "waited in vain for the simulator");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[async_trait]
impl World for Powervs {
    const PLATFORM: &'static str = "powervs";

    async fn start() -> Self {
        // Ids are made from it, and clusters of several tests share the nodes of one API server.
        let seed = rand::random::<u32>().to_string();
        let scale = TIME_SCALE.to_string();
        // An hour of this clock is less than a second, and every renewal is two calls more.
        let patient = ["--token-lifetime", "10000h"];
        let arguments =
            [["sim", "--time-scale", &scale, "--guests", "plain", "--seed", &seed].as_slice(), &patient].concat();
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        let account = powervs::start(&options).await.expect("the simulator starts");
        let http = Client::new(&Trust::Only(account.ca_pem().unwrap().to_owned()), Limits::default()).unwrap();
        let ready = account.ready();
        let iam = ready["services"]["IAM"].as_str().unwrap().parse().unwrap();
        let session = Session::new(http, iam, ready["api_key"].as_str().unwrap().to_owned().into());
        Self { account, session, workspaces: Mutex::default() }
    }

    fn provider(&self) -> Arc<dyn MachineProvider> {
        Arc::new(Provider)
    }

    fn credentials(&self) -> BTreeMap<String, String> {
        let services = self.account.ready()["services"].clone();
        let known = [
            "COS",
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
        [
            ("ibmcloud_api_key", self.field("api_key")),
            ("zone", self.field("zone")),
            ("service_endpoints", json!(endpoints).to_string()),
            ("ca_bundle", self.account.ca_pem().unwrap().to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn provider_spec(&self) -> Value {
        json!({
            "apiVersion": "machine.openshift.io/v1",
            "kind": "PowerVSMachineProviderConfig",
            "userDataSecret": { "name": "worker-user-data" },
            "credentialsSecret": { "name": "credentials" },
            "serviceInstance": { "type": "Name", "name": "the cluster's own" },
            "image": { "type": "Name", "name": IMAGE },
            "network": { "type": "RegEx", "regex": "^DHCPSERVER.*_Private$" },
            "processors": "0.5",
            "memoryGiB": 4,
        })
    }

    /// Machines need a workspace with a network and an image.
    async fn prepare(&self, infra_id: &InfraId) {
        let name = format!("{infra_id}-power-iaas");
        let group = self.field("resource_group_id");
        let body = json!({
            "name": name, "target": self.field("zone"), "resource_group": group, "resource_plan_id": PLAN,
            "tags": [format!("landfall:{infra_id}")],
        });
        let made = self.call("POST", "ResourceController", "v2/resource_instances", None, body).await;
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        let workspace = Workspace { guid: text("guid"), crn: text("crn") };
        let path = format!("v2/resource_instances/{}", workspace.guid);
        until(|| async { self.call("GET", "ResourceController", &path, None, Value::Null).await["state"] == "active" })
            .await;
        self.workspaces.lock().unwrap().insert(infra_id.clone(), workspace.clone());
        until(|| async {
            let path = format!("v1/workspaces/{}", workspace.guid);
            let seen = self.call("GET", "Power", &path, Some(&workspace), Value::Null).await;
            seen["details"]["powerEdgeRouter"]["state"] == "active"
        })
        .await;
        let body = json!({"name": format!("{infra_id}-network"), "cidr": "192.168.124.0/24"});
        let server = self.power("POST", &workspace, "services/dhcp", body).await;
        let body = json!({
            "imageName": IMAGE, "bucketName": "rhcos-powervs-images-us-south", "region": "us-south",
            "imageFilename": "rhcos-ppc64le-powervs.ova.gz", "bucketAccess": "public",
        });
        self.power("POST", &workspace, "cos-images", body).await;
        let path = format!("services/dhcp/{}", server["id"].as_str().unwrap());
        until(|| async { self.power("GET", &workspace, &path, Value::Null).await["status"] == "ACTIVE" }).await;
        until(|| async {
            let images = self.power("GET", &workspace, "images", Value::Null).await;
            images["images"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one["name"] == IMAGE && one["state"] == "active"))
        })
        .await;
    }

    async fn instances(&self, infra_id: &InfraId) -> Vec<String> {
        let mut names = Vec::new();
        for workspace in self.found(Some(infra_id)) {
            let all = self.instances_in(&workspace).await;
            let here = all.iter().filter(|instance| instance["status"] != "DELETING");
            names.extend(here.filter_map(|instance| instance["serverName"].as_str().map(str::to_owned)));
        }
        names.retain(|name| name.starts_with(&format!("{infra_id}-")));
        names.sort();
        names
    }

    /// Disks that machines boot from.
    async fn leftovers(&self, infra_id: &InfraId) -> Vec<String> {
        let mut names = Vec::new();
        for workspace in self.found(Some(infra_id)) {
            let volumes = self.power("GET", &workspace, "volumes", Value::Null).await;
            let all = volumes["volumes"].as_array().cloned().unwrap_or_default();
            names.extend(all.iter().filter_map(|volume| volume["name"].as_str().map(str::to_owned)));
        }
        names.retain(|name| name.contains("boot"));
        names
    }

    async fn attach_volume(&self, machine: &str) -> String {
        for workspace in self.found(None) {
            let all = self.instances_in(&workspace).await;
            let Some(instance) = all.iter().find(|instance| instance["serverName"] == machine) else { continue };
            let body = json!({"name": format!("{machine}-data"), "size": 10});
            let volume = self.power("POST", &workspace, "volumes", body).await;
            let id = volume["volumeID"].as_str().unwrap().to_owned();
            let path = format!("volumes/{id}");
            until(|| async { self.power("GET", &workspace, &path, Value::Null).await["state"] == "available" }).await;
            let path = format!("pvm-instances/{}/volumes/{id}", instance["pvmInstanceID"].as_str().unwrap());
            self.power("POST", &workspace, &path, Value::Null).await;
            return id;
        }
        panic!("there is no machine {machine}");
    }

    async fn has_volume(&self, id: &str) -> bool {
        for workspace in self.found(None) {
            let volumes = self.power("GET", &workspace, "volumes", Value::Null).await;
            if volumes["volumes"].as_array().into_iter().flatten().any(|volume| volume["volumeID"] == id) {
                return true;
            }
        }
        false
    }

    fn trouble(&self, trouble: Trouble) {
        let rule = match trouble {
            Trouble::LostReplies => "POST,PUT,PATCH,DELETE /power/* probability=0.5 lost-reply".to_owned(),
            Trouble::Outage => "* /power/* status=503".to_owned(),
            Trouble::NoRoom => "POST /power/pcloud/*/pvm-instances no-capacity".to_owned(),
            Trouble::LateCreations => {
                format!("POST /power/pcloud/*/pvm-instances late={}s", LATE.as_secs_f64() * TIME_SCALE)
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
        let is_creation = |call: &str| call.starts_with("POST ") && call.ends_with("/pvm-instances");
        counts.iter().filter(|(call, _)| is_creation(call)).map(|(_, count)| count).sum()
    }
}
