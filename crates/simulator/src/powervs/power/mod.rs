//! power-iaas: workspaces and what is in them.

mod connections;
mod dhcp;
mod images;
mod instances;
mod jobs;
mod networks;
mod placement;
mod places;
mod ssh_keys;
mod storage;
mod volumes;
mod workspaces;

use std::net::Ipv4Addr;

use indexmap::IndexMap;
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Service};
use super::cloud::Cloud;
use super::reply::{Answer, Refusal, json_reply};
use super::state::Documents;
use crate::core::Instant;

pub(super) use dhcp::{done as dhcp_done, gone as dhcp_gone, leased};
pub(super) use images::{begun as import_begun, done as import_done};
pub(super) use instances::{done as instance_done, gone as instance_gone, power as instance_power};
pub(super) use volumes::done as volume_done;
pub(super) use workspaces::{open, routed};

/// A workspace and all that is in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Workspace {
    pub(super) guid: String,
    /// The workspace's other id, which some addresses show.
    pub(super) cloud_id: String,
    pub(super) name: String,
    pub(super) zone: String,
    /// The state of its Power Edge Router.
    pub(super) router: String,
    pub(super) created: Instant,
    pub(super) images: IndexMap<String, Image>,
    pub(super) jobs: Vec<Job>,
    pub(super) networks: IndexMap<String, Network>,
    pub(super) interfaces: IndexMap<String, Interface>,
    pub(super) dhcp_servers: IndexMap<String, DhcpServer>,
    pub(super) instances: IndexMap<String, Instance>,
    pub(super) volumes: IndexMap<String, Volume>,
    pub(super) placement_groups: Documents,
    pub(super) events: Vec<Value>,
}

/// An image that virtual servers boot from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Image {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) kind: String,
    pub(super) system: String,
    pub(super) size_gb: f64,
    pub(super) storage_type: String,
    pub(super) pool: String,
    pub(super) created: Instant,
    pub(super) updated: Instant,
}

/// Something that takes its time: the import of an image.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) image: String,
    pub(super) state: String,
    pub(super) progress: String,
    pub(super) message: String,
    pub(super) created: Instant,
    /// Why it will fail, which is found out only when it is worked on.
    pub(super) flaw: Option<String>,
}

/// A network of a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Network {
    pub(super) id: String,
    pub(super) name: String,
    /// `vlan`, `pub-vlan` or `dhcp-vlan`.
    pub(super) kind: String,
    pub(super) vlan: u32,
    pub(super) cidr: Ipv4Net,
    pub(super) gateway: Ipv4Addr,
    pub(super) dns: Vec<String>,
    pub(super) first: Ipv4Addr,
    pub(super) last: Ipv4Addr,
    pub(super) mtu: u32,
    pub(super) dhcp_managed: bool,
}

/// Where something is plugged into a network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Interface {
    pub(super) id: String,
    pub(super) network: String,
    pub(super) name: String,
    pub(super) mac: String,
    /// The address that the platform gave it; on networks with a DHCP server, the one that is leased to it.
    pub(super) address: Option<Ipv4Addr>,
    /// The virtual server that it belongs to; nothing for one that was left behind, or made by hand.
    pub(super) instance: Option<String>,
}

/// A DHCP server, which is a virtual server that nobody sees, with a network of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DhcpServer {
    pub(super) id: String,
    pub(super) name: String,
    /// `BUILD`, `ACTIVE`, `ERROR` or `DELETING`.
    pub(super) status: String,
    pub(super) network: String,
    pub(super) created: Instant,
    /// Hardware addresses whose leases are shown.
    pub(super) leases: Vec<String>,
}

/// A virtual server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Instance {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) status: String,
    /// What is being done to it.
    pub(super) task: Option<String>,
    pub(super) health: String,
    pub(super) fault: Option<String>,
    pub(super) image: String,
    pub(super) memory_gib: f64,
    pub(super) processors: f64,
    pub(super) processor_type: String,
    pub(super) system: String,
    pub(super) operating_system: String,
    pub(super) interfaces: Vec<String>,
    pub(super) volumes: Vec<String>,
    pub(super) storage_type: String,
    pub(super) pool: String,
    pub(super) pin_policy: String,
    pub(super) placement_group: Option<String>,
    pub(super) key: Option<String>,
    pub(super) user_data: String,
    pub(super) host: u32,
    pub(super) created: Instant,
    pub(super) updated: Instant,
    pub(super) guest_started: bool,
    pub(super) guest_up: bool,
}

/// A volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Volume {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) size_gb: f64,
    pub(super) tier: String,
    pub(super) pool: String,
    pub(super) shareable: bool,
    pub(super) bootable: bool,
    pub(super) boot: bool,
    pub(super) wwn: String,
    pub(super) instances: Vec<String>,
    pub(super) created: Instant,
}

impl Workspace {
    /// What keeps it from being deleted.
    pub(super) fn in_use(&self) -> Option<String> {
        if let Some(instance) = self.instances.values().next() {
            return Some(format!("virtual server {} still exists", instance.name));
        }
        if let Some(server) = self.dhcp_servers.values().next() {
            return Some(format!("dhcp server {} still exists", server.id));
        }
        self.networks.values().next().map(|network| format!("network {} still exists", network.name))
    }

    /// Where requests and answers say a thing of it is.
    fn href(&self, rest: &str) -> String {
        format!("/pcloud/v1/cloud-instances/{}/{rest}", self.guid)
    }

    fn interfaces_of<'a>(&'a self, network: &'a str) -> impl Iterator<Item = &'a Interface> {
        self.interfaces.values().filter(move |interface| interface.network == network)
    }
}

/// Whether a call needs no token.
pub(super) fn is_public(call: &Call) -> bool {
    let parts = call.parts();
    call.service == Service::Power
        && call.method == "GET"
        && matches!(parts.as_slice(), ["v1", "datacenters", ..] | ["v1", "swagger.json" | "openapi.json"])
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    let parts = call.parts();
    match (call.method.as_str(), parts.as_slice()) {
        ("GET", ["v1", "swagger.json" | "openapi.json"]) => openapi(cloud),
        ("GET", ["v1", "datacenters"]) => places::list(cloud),
        ("GET", ["v1", "datacenters", zone]) => places::get(cloud, zone),
        ("GET", ["v1", "workspaces"]) => workspaces::list(cloud),
        ("GET", ["v1", "workspaces", id]) => workspaces::get(cloud, id),
        (method, ["pcloud", "v1", "tenants", tenant, "sshkeys", rest @ ..]) => {
            if *tenant != cloud.state.account {
                return Err(Refusal::new(403, "forbidden", format!("tenant {tenant} is not yours")));
            }
            ssh_keys::of_tenant(cloud, call, method, rest)
        }
        (method, ["v1", "ssh-keys", rest @ ..]) => {
            ws_of_header(cloud, call)?;
            ssh_keys::of_workspace(cloud, call, method, rest)
        }
        (method, ["v1", "networks", network, "network-interfaces", rest @ ..]) => {
            let ws = ws_of_header(cloud, call)?;
            networks::interfaces(cloud, call, &ws, network, method, rest)
        }
        (method, ["pcloud", "v1" | "v2", "cloud-instances", ws, rest @ ..]) => {
            let ws = ws_of_path(cloud, call, ws)?;
            within(cloud, call, &ws, method, rest)
        }
        _ => Err(Refusal::no_route()),
    }
}

fn within(cloud: &mut Cloud, call: &Call, ws: &str, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => workspaces::cloud_instance(cloud, ws),
        ("GET", ["images"]) => images::list(cloud, ws),
        ("POST", ["images"]) => images::copy(cloud, call, ws),
        ("GET", ["images", id]) => images::get(cloud, ws, id),
        ("DELETE", ["images", id]) => images::delete(cloud, ws, id),
        ("GET", ["stock-images"]) => images::stock(cloud, ws),
        ("GET", ["stock-images", id]) => images::stock_one(cloud, ws, id),
        ("GET", ["cos-images"]) => jobs::last_import(cloud, ws),
        ("POST", ["cos-images"]) => images::import(cloud, call, ws),
        ("GET", ["jobs"]) => jobs::list(cloud, call, ws),
        ("GET", ["jobs", id]) => jobs::get(cloud, ws, id),
        ("DELETE", ["jobs", id]) => jobs::delete(cloud, ws, id),
        ("GET", ["networks"]) => networks::list(cloud, call, ws),
        ("POST", ["networks"]) => networks::create(cloud, call, ws),
        ("GET", ["networks", id]) => networks::get(cloud, ws, id),
        ("PUT", ["networks", id]) => networks::update(cloud, call, ws, id),
        ("DELETE", ["networks", id]) => networks::delete(cloud, ws, id),
        (_, ["networks", id, "ports", rest @ ..]) => networks::ports(cloud, call, ws, id, method, rest),
        ("GET", ["services", "dhcp"]) => dhcp::list(cloud, ws),
        ("POST", ["services", "dhcp"]) => dhcp::create(cloud, call, ws),
        ("GET", ["services", "dhcp", id]) => dhcp::get(cloud, ws, id),
        ("DELETE", ["services", "dhcp", id]) => dhcp::delete(cloud, ws, id),
        ("GET", ["pvm-instances"]) => instances::list(cloud, ws),
        ("POST", ["pvm-instances"]) => instances::create(cloud, call, ws),
        ("GET", ["pvm-instances", id]) => instances::get(cloud, ws, id),
        ("PUT", ["pvm-instances", id]) => instances::update(cloud, call, ws, id),
        ("DELETE", ["pvm-instances", id]) => instances::delete(cloud, call, ws, id),
        ("POST", ["pvm-instances", id, "action"]) => instances::act(cloud, call, ws, id),
        ("POST", ["pvm-instances", id, "console"]) => instances::console(cloud, ws, id),
        ("GET", ["pvm-instances", id, "networks"]) => instances::networks(cloud, ws, id),
        ("GET", ["pvm-instances", id, "volumes"]) => volumes::of_instance(cloud, ws, id),
        ("POST", ["pvm-instances", id, "volumes", volume]) => volumes::attach(cloud, ws, id, volume),
        ("DELETE", ["pvm-instances", id, "volumes", volume]) => volumes::detach(cloud, ws, id, volume),
        ("GET", ["volumes"]) => volumes::list(cloud, ws),
        ("POST", ["volumes"]) => volumes::create(cloud, call, ws),
        ("GET", ["volumes", id]) => volumes::get(cloud, ws, id),
        ("PUT", ["volumes", id]) => volumes::update(cloud, call, ws, id),
        ("DELETE", ["volumes", id]) => volumes::delete(cloud, ws, id),
        (_, ["placement-groups", rest @ ..]) => placement::answer(cloud, call, ws, method, rest),
        ("GET", ["system-pools"]) => places::system_pools(cloud, ws),
        ("GET", ["storage-capacity", rest @ ..]) => storage::capacity(cloud, ws, rest),
        ("GET", ["storage-tiers"]) => storage::tiers(),
        ("GET", ["events"]) => {
            let events = cloud.state.workspaces.get(ws).map(|own| own.events.clone()).unwrap_or_default();
            Ok(json_reply(200, &json!({ "events": events })))
        }
        (_, ["cloud-connections", rest @ ..]) => connections::answer(cloud, ws, method, rest),
        _ => Err(Refusal::no_route()),
    }
}

/// The workspace of a path, which may be named by either of its ids, and which the header must name too.
fn ws_of_path(cloud: &Cloud, call: &Call, id: &str) -> Result<String, Refusal> {
    let header = guid_of_header(call)?;
    let own = cloud.state.workspaces.values().find(|own| own.guid == id || own.cloud_id == id);
    let own = own.ok_or_else(|| Refusal::not_found("cloud instance", id))?;
    if header != own.guid && header != own.cloud_id {
        return Err(Refusal::new(403, "forbidden", format!("the CRN does not name the cloud instance {id}")));
    }
    Ok(own.guid.clone())
}

fn ws_of_header(cloud: &Cloud, call: &Call) -> Result<String, Refusal> {
    let guid = guid_of_header(call)?;
    let own = cloud.state.workspaces.get(guid).ok_or_else(|| Refusal::not_found("workspace", guid))?;
    Ok(own.guid.clone())
}

fn guid_of_header(call: &Call) -> Result<&str, Refusal> {
    let crn = call.header("crn").ok_or_else(|| Refusal::new(400, "bad_request", "the header CRN is required"))?;
    let parts: Vec<&str> = crn.split(':').collect();
    match parts.as_slice() {
        ["crn", "v1", "bluemix" | "staging", _, "power-iaas" | "ppc-aas", _, _, guid, ..] => Ok(*guid),
        _ => Err(Refusal::new(400, "bad_request", format!("{crn} is no CRN of a workspace"))),
    }
}

fn workspace<'a>(cloud: &'a Cloud, ws: &str) -> Result<&'a Workspace, Refusal> {
    cloud.state.workspaces.get(ws).ok_or_else(|| Refusal::not_found("cloud instance", ws))
}

fn workspace_mut<'a>(cloud: &'a mut Cloud, ws: &str) -> Result<&'a mut Workspace, Refusal> {
    cloud.state.workspaces.get_mut(ws).ok_or_else(|| Refusal::not_found("cloud instance", ws))
}

/// The name of a thing in a workspace.
fn crn(cloud: &Cloud, own: &Workspace, kind: &str, id: &str) -> String {
    cloud.crn("power-iaas", &own.zone, &own.guid, kind, id)
}

/// Writes into the log of a workspace.
fn log(cloud: &mut Cloud, ws: &str, level: &str, resource: &str, action: &str, message: &str) {
    let (id, time, unix) = (cloud.id(), cloud.time_now(), cloud.unix(cloud.state.now));
    let event = json!({
        "eventID": id,
        "time": time,
        "timestamp": unix,
        "user": { "userID": "owner", "name": "Simulated Owner", "email": "owner@example.com" },
        "level": level,
        "resource": resource,
        "action": action,
        "message": message,
        "metadata": {},
    });
    if let Some(own) = cloud.state.workspaces.get_mut(ws) {
        own.events.push(event);
    }
}

/// The description of this API.
fn openapi(cloud: &Cloud) -> Answer {
    let mut document: Value = serde_saphyr::from_str(include_str!("openapi.yaml"))
        .map_err(|error| Refusal::new(500, "internal_error", format!("the description is broken: {error}")))?;
    document["servers"] = json!([{ "url": format!("{}/power", cloud.state.url) }]);
    Ok(json_reply(200, &document))
}
