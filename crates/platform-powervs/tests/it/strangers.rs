//! A stranger in the account, who renames, untags, doubles, stops and deletes what is the cluster's, and makes what looks like it.
//!
//! Connections of transit gateways take no tags: they are the cluster's by their exact names beside something of the cluster's. And what is
//! tagged after it was made is known by its name from the record that it is asked for until its id is told. So the stranger gives no such
//! name to what it makes of these kinds; `names.rs` does.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::Plan;
use landfall_platform::{Bind, Discover, InfraId, MachineSpec, Machines};
use landfall_simulator::core::{Hook, Request};
use landfall_testkit::{BeforeCall, Deed, Haunted, Thing, World, seed::Dice, survive_strangers};
use serde_json::{Value, json};

use crate::{given::User, scene::Cluster};

const TAG: &str = "landfall:demo-x7k2p";
/// The tag of a cluster whose infra id begins with the whole of this one's.
const OTHER_TAG: &str = "landfall:demo-x7k2p-hjklm";
/// Names that look like those of the cluster; the last ones are of the other.
const NAMES: [&str; 6] = [
    "demo-x7k2p-master-0",
    "demo-x7k2p-master-7",
    "demo-x7k2p-bootstrap",
    "demo-x7k2p-worker-0",
    "demo-x7k2p-hjklm-master-0",
    "demo-x7k2p-hjklm-bootstrap",
];
/// Kinds in VPC and beside it: the table, what it is called, and where it is changed.
const KINDS: [(&str, &str, &str); 6] = [
    ("vpcs", "VPC", "vpc/v1/vpcs"),
    ("subnets", "subnet", "vpc/v1/subnets"),
    ("public_gateways", "public gateway", "vpc/v1/public_gateways"),
    ("security_groups", "security group", "vpc/v1/security_groups"),
    ("load_balancers", "load balancer", "vpc/v1/load_balancers"),
    ("gateways", "transit gateway", "transit/v1/transit_gateways"),
];

struct Account {
    cluster: Cluster,
    token: String,
    /// A workspace of the user's, with a network, where the cluster is or beside it.
    neighbourhood: (String, String),
    /// The workspace that the cluster is told to be in.
    given: Option<String>,
    group: String,
}

/// A machine as the state has it.
struct Machine {
    workspace: String,
    id: String,
    name: String,
    runs: bool,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn all(value: &Value) -> Vec<Value> {
    value.as_object().map(|all| all.values().cloned().collect()).unwrap_or_default()
}

/// The CRN that is tagged for something, and its tags.
fn tags<'a>(state: &'a Value, id: &str) -> Option<(&'a String, Vec<&'a str>)> {
    let is_it = |crn: &str| {
        let last = crn.rsplit(':').next().unwrap_or_default();
        last == id || last.is_empty() && crn.split(':').any(|part| part == id)
    };
    let (crn, tags) = state["tags"].as_object()?.iter().find(|(crn, _)| is_it(crn))?;
    Some((crn, tags.as_array()?.iter().filter_map(Value::as_str).collect()))
}

fn is_tagged(state: &Value, id: &str) -> bool {
    tags(state, id).is_some_and(|(_, tags)| tags.contains(&TAG))
}

/// Returns true if a connection is the cluster's for those who know no journal: it has the name, and its gateway carries the tag or leads
/// to a network of the cluster's.
fn is_own_connection(state: &Value, connection: &Value, given: Option<&str>) -> bool {
    let gateway = &connection["transit_gateway"]["id"];
    // A workspace is found by its own tag and by that of anything in it.
    let has_tagged = |guid: &str| {
        let all = state["tags"].as_object().into_iter().flatten();
        let mut tagged = all.filter(|(_, tags)| tags.as_array().is_some_and(|tags| tags.iter().any(|tag| tag == TAG)));
        tagged.any(|(crn, _)| crn.split(':').any(|part| part == guid))
    };
    let vpcs = all(&state["vpcs"]).into_iter().filter(|vpc| is_tagged(state, &text(&vpc["id"])));
    let is_found = |guid: &str| given.map_or_else(|| has_tagged(guid), |given| given == guid);
    let workspaces = all(&state["instances"]).into_iter().filter(|one| is_found(&text(&one["guid"])));
    let networks: BTreeSet<String> = vpcs.chain(workspaces).map(|network| text(&network["crn"])).collect();
    let leads_to_own =
        |one: &Value| one["transit_gateway"]["id"] == *gateway && networks.contains(&text(&one["network_id"]));
    let is_named = ["demo-x7k2p-vpc-con", "demo-x7k2p-pvs-con"].iter().any(|name| connection["name"] == *name);
    is_named && (is_tagged(state, &text(gateway)) || all(&state["connections"]).iter().any(leads_to_own))
}

fn machines(state: &Value) -> Vec<Machine> {
    let inside = |workspace: &Value| -> Vec<Machine> {
        let machine = |row: &Value| Machine {
            workspace: text(&workspace["guid"]),
            id: text(&row["id"]),
            name: text(&row["name"]),
            runs: ["ACTIVE", "BUILD", "REBOOT", "HARD_REBOOT"].contains(&row["status"].as_str().unwrap_or_default())
                && row["task"].as_str() != Some("stopping"),
        };
        all(&workspace["instances"]).iter().map(machine).collect()
    };
    all(&state["workspaces"]).iter().flat_map(inside).collect()
}

impl Account {
    fn state(&self) -> Value {
        self.cluster.scene.state()
    }

    /// Asks as another user would, past the listener. `None` if it is refused.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let token = format!("Bearer {}", self.token);
        let state = self.state();
        let crn = path.split('/').find_map(|part| Some(text(&state["instances"].get(part)?["crn"])));
        let crn = crn.unwrap_or_default();
        let headers = [("authorization", token.as_str()), ("content-type", "application/json"), ("crn", crn.as_str())];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let separator = if path.contains('?') { '&' } else { '?' };
        let target = format!("/{path}{separator}version=2025-07-01&generation=2");
        let response = self.cluster.scene.account.world().handle(&Request::direct(method, &target, &headers, body));
        (response.status < 300).then(|| serde_json::from_slice(&response.body).unwrap_or_default())
    }

    fn deed(done: Option<Value>, text: String) -> Option<Deed> {
        done.map(|_| Deed { text, made: Vec::new() })
    }

    fn machine(&self, name: &str, tag: &str) -> Option<Deed> {
        let (workspace, network) = &self.neighbourhood;
        let images = all(&self.state()["workspaces"][workspace]["images"]);
        let image = images.iter().find(|image| image["state"] == "active")?;
        let body = json!({
            "serverName": name, "imageID": image["id"], "networks": [{ "networkID": network }], "memory": 2,
            "processors": 0.25, "procType": "shared", "sysType": "s922", "userTags": [tag],
        });
        let made = self.ask("POST", &format!("power/pcloud/v1/cloud-instances/{workspace}/pvm-instances"), &body)?;
        Some(Deed { text: format!("made machine {name} [{tag}]"), made: vec![text(&made[0]["pvmInstanceID"])] })
    }

    /// Makes something that looks like what is the cluster's.
    fn imitate(&self, dice: &mut Dice) -> Option<Deed> {
        let name = *dice.pick(&NAMES)?;
        let tag = if dice.once_in(2) { OTHER_TAG } else { "mine" };
        match dice.below(4) {
            0 | 1 => self.machine(name, tag),
            2 => {
                let name = if dice.once_in(2) { "demo-x7k2p-cos" } else { "demo-x7k2p-hjklm-cos" };
                let body = json!({
                    "name": name, "target": "global", "resource_group": self.group,
                    "resource_plan_id": "744bfc56-d12c-4866-88d5-dac9139e0e5d", "tags": [tag],
                });
                let made = self.ask("POST", "resource-controller/v2/resource_instances", &body)?;
                Some(Deed { text: format!("made object storage {name} [{tag}]"), made: vec![text(&made["guid"])] })
            }
            _ => {
                let name = "demo-x7k2p-hjklm-tg";
                let body = json!({ "name": name, "location": "us-south", "global": false });
                let made = self.ask("POST", "transit/v1/transit_gateways", &body)?;
                Some(Deed { text: format!("made transit gateway {name}"), made: vec![text(&made["id"])] })
            }
        }
    }

    /// Takes the tag from something.
    fn untag(&self, state: &Value, id: &str) -> Option<Value> {
        let (crn, _) = tags(state, id)?;
        let body = json!({ "tag_names": [TAG], "resources": [{ "resource_id": crn }] });
        self.ask("POST", "tagging/v3/tags/detach", &body)
    }

    /// Does something to a machine of the cluster's.
    fn touch(&self, dice: &mut Dice, state: &Value, machine: &Machine, may_lose_its_mark: bool) -> Option<Deed> {
        let Machine { workspace, id, name, .. } = machine;
        let path = format!("power/pcloud/v1/cloud-instances/{workspace}/pvm-instances/{id}");
        match dice.below(8) {
            0 | 1 => {
                let new = format!("other-{}", dice.below(100_000));
                self.ask("PUT", &path, &json!({ "serverName": new }))?;
                let text = format!("renamed machine {name} ({id}) to {new}");
                // And somebody else gets its name.
                if dice.once_in(2)
                    && let Some(made) = self.machine(name, "mine")
                {
                    return Some(Deed { text: format!("{text} and {}", made.text), ..made });
                }
                Some(Deed { text, made: Vec::new() })
            }
            2 | 3 if may_lose_its_mark => Self::deed(self.untag(state, id), format!("untagged machine {name} ({id})")),
            4 => {
                let done = self.ask("POST", &format!("{path}/action"), &json!({ "action": "immediate-shutdown" }));
                Self::deed(done, format!("stopped machine {name} ({id})"))
            }
            5 => Self::deed(self.ask("DELETE", &path, &Value::Null), format!("deleted machine {name} ({id})")),
            6 => {
                // A double has the tag, and with it the mark.
                let double = if dice.once_in(2) { name.clone() } else { format!("mine-copy-{}", dice.below(100)) };
                self.machine(&double, TAG)
            }
            _ => self.imitate(dice),
        }
    }

    /// Does something to what else is the cluster's.
    fn touch_other(&self, dice: &mut Dice, state: &Value, recorded: &BTreeSet<String>) -> Option<Deed> {
        let what = dice.below(KINDS.len() + 2);
        if what < KINDS.len() {
            let (table, kind, path) = KINDS[what];
            let mut own = all(&state[table]);
            own.retain(|row| is_tagged(state, &text(&row["id"])) || recorded.contains(&text(&row["id"])));
            let row = dice.pick(&own)?;
            let (id, name) = (text(&row["id"]), text(&row["name"]));
            let path = format!("{path}/{id}");
            let new = format!("other-{}", dice.below(100_000));
            return match dice.below(4) {
                // As long as it is tagged, or recorded, it may lose its name.
                0 | 1 if recorded.contains(&id) || is_tagged(state, &id) => Self::deed(
                    self.ask("PATCH", &path, &json!({ "name": new })),
                    format!("renamed {kind} {name} ({id}) to {new}"),
                ),
                2 if recorded.contains(&id) => {
                    Self::deed(self.untag(state, &id), format!("untagged {kind} {name} ({id})"))
                }
                3 => Self::deed(self.ask("DELETE", &path, &Value::Null), format!("deleted {kind} {name} ({id})")),
                _ => None,
            };
        }
        let mut own = all(&state["instances"]);
        own.retain(|row| row["state"] != "removed");
        own.retain(|row| is_tagged(state, &text(&row["guid"])) || recorded.contains(&text(&row["guid"])));
        let row = dice.pick(&own)?;
        let (id, name) = (text(&row["guid"]), text(&row["name"]));
        match dice.below(2) {
            1 if recorded.contains(&id) => {
                Self::deed(self.untag(state, &id), format!("untagged service {name} ({id})"))
            }
            _ => {
                let done = self.ask(
                    "PATCH",
                    &format!("resource-controller/v2/resource_instances/{id}"),
                    &json!({ "name": "other" }),
                );
                Self::deed(done, format!("renamed service {name} ({id})"))
            }
        }
    }
}

#[async_trait]
impl World for Account {
    fn infra_id(&self) -> InfraId {
        self.cluster.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        World::plan(&self.cluster)
    }

    fn binder(&self) -> Arc<dyn Bind> {
        World::binder(&self.cluster)
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        self.cluster.discoverer()
    }

    async fn inventory(&self) -> Vec<String> {
        self.cluster.scene.inventory()
    }
}

impl Haunted for Account {
    fn before_each_call(&self, hook: Option<BeforeCall>) {
        let hook = hook.map(|hook| -> Hook { Arc::new(move |call| hook(call.method, call.path)) });
        self.cluster.scene.account.before_each_call(hook);
    }

    fn pass_time(&self) {
        self.cluster.scene.account.step(Duration::from_secs(20));
    }

    fn things(&self) -> BTreeMap<String, Thing> {
        let state = self.state();
        let mut things = BTreeMap::new();
        let mut add = |id: String, kind: &str, name: String, title: Option<String>, is_marked: bool, runs: bool| {
            let own_tags = tags(&state, &id).map(|(_, tags)| tags).unwrap_or_default();
            let line = format!("{kind} {name} {own_tags:?}");
            things.insert(id, Thing { line, name, title, is_marked, runs });
        };
        for machine in machines(&state) {
            let Machine { id, name, runs, .. } = machine;
            let is_marked = is_tagged(&state, &id);
            add(id, "machine", name.clone(), Some(format!("machine {name}")), is_marked, runs);
        }
        for workspace in all(&state["workspaces"]) {
            for image in all(&workspace["images"]).iter().filter(|image| image["kind"] != "stock") {
                let (id, name) = (text(&image["id"]), text(&image["name"]));
                let is_marked = is_tagged(&state, &id);
                add(id, "image", name.clone(), Some(format!("image {name}")), is_marked, false);
            }
            let dhcp = "DHCP server demo-x7k2p-network and its network";
            for network in all(&workspace["networks"]) {
                let (id, name) = (text(&network["id"]), text(&network["name"]));
                // In a workspace of the cluster's own the name is enough.
                let is_within = self.given.is_none() && is_tagged(&state, &text(&workspace["guid"]));
                let is_named = is_within && name == "DHCPSERVERdemo-x7k2p-network_Private";
                let is_marked = is_tagged(&state, &id) || is_named;
                add(id, "network", name, Some(dhcp.to_owned()), is_marked, false);
            }
            for server in all(&workspace["dhcp_servers"]) {
                add(text(&server["id"]), "DHCP server", String::new(), Some(dhcp.to_owned()), false, false);
            }
        }
        for row in all(&state["instances"]).iter().filter(|row| row["state"] != "removed") {
            let (id, name) = (text(&row["guid"]), text(&row["name"]));
            let kind = if state["workspaces"].get(&id).is_some() { "workspace" } else { "object storage" };
            let is_marked = is_tagged(&state, &id);
            add(id, kind, name.clone(), Some(format!("{kind} {name}")), is_marked, false);
        }
        for (table, kind, _) in KINDS {
            for row in all(&state[table]) {
                let (id, name) = (text(&row["id"]), text(&row["name"]));
                let is_marked = is_tagged(&state, &id);
                // Each VPC brings a group of its own, which goes with it.
                let is_default =
                    all(&state["vpcs"]).iter().any(|vpc| vpc["default_security_group"]["id"] == id.as_str());
                add(id, kind, name.clone(), (!is_default).then(|| format!("{kind} {name}")), is_marked, false);
            }
        }
        for row in all(&state["connections"]) {
            let (id, name) = (text(&row["id"]), text(&row["name"]));
            let is_marked = is_own_connection(&state, &row, self.given.as_deref());
            add(id, "connection", name.clone(), Some(format!("connection {name}")), is_marked, false);
        }
        for row in all(&state["ssh_keys"]) {
            let name = text(&row["name"]);
            add(
                format!("key {name}"),
                "SSH key",
                name.clone(),
                Some(format!("SSH key {name}")),
                text(&row["sshKey"]).ends_with(TAG),
                false,
            );
        }
        if state["tag_names"].as_array().is_some_and(|names| names.iter().any(|name| name == TAG)) {
            add(TAG.to_owned(), "tag", TAG.to_owned(), Some(format!("tag {TAG}")), true, false);
        }
        things
    }

    fn haunt(&self, dice: &mut Dice, recorded: &BTreeSet<String>) -> Option<Deed> {
        let state = self.state();
        match dice.below(6) {
            0 => self.imitate(dice),
            1..=3 => self.touch_other(dice, &state, recorded),
            _ => {
                let mut own = machines(&state);
                own.retain(|machine| is_tagged(&state, &machine.id) || recorded.contains(&machine.id));
                let machine = dice.pick(&own)?;
                self.touch(dice, &state, machine, recorded.contains(&machine.id))
            }
        }
    }

    fn haunt_machine(&self, dice: &mut Dice, id: &str) -> Option<Deed> {
        let state = self.state();
        let machine = machines(&state).into_iter().find(|machine| machine.id == id)?;
        let has_name = machine.name.starts_with("demo-x7k2p-worker");
        // One that has lost its mark keeps its name.
        if is_tagged(&state, id) { self.touch(dice, &state, &machine, has_name) } else { self.imitate(dice) }
    }

    /// Networks of VPC, gateways and DHCP servers are tagged after they were made.
    fn bears_a_second_installation(&self) -> bool {
        false
    }

    fn machines(&self) -> Arc<dyn Machines> {
        Arc::new(self.cluster.binder().machines())
    }

    fn worker(&self, name: &str) -> MachineSpec {
        let platform = json!({
            "name": name, "image": { "name": "demo-x7k2p-image" }, "network": { "pattern": "^DHCPSERVER.*demo-x7k2p-network.*_Private$" },
            "sys_type": "s922", "proc_type": "shared", "processors": 0.5, "memory_gib": 32, "storage_type": "tier3",
            "tags": [TAG], "ignition": "worker.ign",
        });
        MachineSpec { name: name.to_owned(), user_data: "{}".into(), platform }
    }
}

async fn account(seed: u64) -> Account {
    let user = User::new(&["--clock", "stepped"]).await;
    let world = user.scene.account.world().clone();
    user.scene.account.before_each_call(Some(Arc::new(move |_| {
        world.step(Duration::from_mins(1));
        Box::pin(std::future::ready(()))
    })));
    let workspace = user.workspace().await;
    // Half of the clusters are in a workspace of their own, beside that of the user.
    let given = seed.is_multiple_of(2).then(|| workspace.guid.clone());
    let section = given.as_ref().map_or_else(|| json!({}), |guid| json!({ "serviceInstanceGUID": guid }));
    let cluster = user.cluster(section, 1, 1);
    let form = format!("grant_type=urn:ibm:params:oauth:grant-type:apikey&apikey={}", cluster.key);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let world = cluster.scene.account.world();
    let reply = world.handle(&Request::direct("POST", "/iam/identity/token", &headers, form));
    let reply: Value = serde_json::from_slice(&reply.body).unwrap();
    let (token, group) = (text(&reply["access_token"]), user.group.clone());
    let neighbourhood = (workspace.guid.clone(), String::new());
    let mut account = Account { cluster, token, neighbourhood, given, group };
    let body = json!({ "type": "vlan", "name": "mine", "cidr": "10.9.0.0/24" });
    let made = account.ask("POST", &format!("power/pcloud/v1/cloud-instances/{}/networks", workspace.guid), &body);
    account.neighbourhood.1 = text(&made.expect("the user makes a network")["networkID"]);
    account
}

#[tokio::test]
async fn a_cluster_is_made_and_removed_among_strangers() {
    survive_strangers(|seed| async move { Arc::new(account(seed).await) as Arc<dyn Haunted> }).await;
}
