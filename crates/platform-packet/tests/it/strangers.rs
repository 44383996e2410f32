//! A stranger in the account, who renames, retags, doubles, stops and deletes what is the cluster's, leads its addresses elsewhere, and
//! makes what looks like it.

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

use crate::scene::{Cluster, Scene, config};

const TAG: &str = "landfall:demo-x7k2p";
/// The mark of a cluster whose infra id begins with the whole of this one's.
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

struct Account {
    cluster: Cluster,
    /// Of the user, beside that of the cluster.
    project: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn rows(state: &Value, table: &str) -> Vec<Value> {
    state[table].as_array().cloned().unwrap_or_default()
}

fn is_marked(row: &Value) -> bool {
    row["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag == TAG))
}

fn is_off(device: &Value) -> bool {
    ["inactive", "powering_off", "failed"].contains(&device["state"].as_str().unwrap_or_default())
}

/// A public key that no other has.
fn public_key(dice: &mut Dice) -> String {
    format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{:043} stranger", dice.below(usize::MAX))
}

impl Account {
    fn state(&self) -> Value {
        self.cluster.scene.state()
    }

    /// Asks as another user would, past the listener. `None` if it is refused.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let headers = [("x-auth-token", self.cluster.key.as_str()), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::direct(method, &format!("/metal/v1/{path}"), &headers, body);
        let response = self.cluster.scene.account.world().handle(&request);
        (response.status < 300).then(|| serde_json::from_slice(&response.body).unwrap_or_default())
    }

    fn make(&self, path: &str, body: &Value, text: String) -> Option<Deed> {
        let made = self.ask("POST", path, body)?;
        Some(Deed { text, made: vec![self::text(&made["id"])] })
    }

    fn change(&self, path: &str, body: &Value, text: String) -> Option<Deed> {
        self.ask("PUT", path, body).map(|_| Deed { text, made: Vec::new() })
    }

    fn delete(&self, path: &str, text: String) -> Option<Deed> {
        self.ask("DELETE", path, &Value::Null).map(|_| Deed { text, made: Vec::new() })
    }

    fn device(&self, project: &str, name: &str, tags: &Value, what: &str) -> Option<Deed> {
        let body = json!({
            "hostname": name, "plan": "c3.small.x86", "metro": "da", "operating_system": "ubuntu_22_04", "tags": tags,
        });
        self.make(&format!("projects/{project}/devices"), &body, format!("{what} machine {name} {tags}"))
    }

    /// Where look-alikes are made: beside the cluster in the project that was given, never in one of the cluster's own.
    fn neighbourhood(&self) -> &str {
        &self.project
    }

    /// Makes something that looks like what is the cluster's.
    fn imitate(&self, dice: &mut Dice) -> Option<Deed> {
        let (project, name) = (self.neighbourhood(), *dice.pick(&NAMES)?);
        let tags = if dice.once_in(2) { json!([OTHER_TAG, "landfall-name:api"]) } else { json!(["mine"]) };
        match dice.below(5) {
            0 | 1 => self.device(project, name, &tags, "made"),
            2 => {
                let body = json!({ "type": "public_ipv4", "quantity": 1, "metro": "da", "tags": tags });
                self.make(&format!("projects/{project}/ips"), &body, format!("reserved an address {tags}"))
            }
            3 => {
                let body = json!({ "metro": "da", "tags": tags, "description": "demo-x7k2p-storage" });
                self.make(
                    &format!("projects/{project}/virtual-networks"),
                    &body,
                    format!("made a virtual network {tags}"),
                )
            }
            _ => {
                let number = dice.below(2);
                let labels = [format!("demo-x7k2p-key-{number}"), format!("demo-x7k2p-key-hjklm-key-{number}")];
                let body = json!({ "label": dice.pick(&labels)?, "key": public_key(dice) });
                self.make(&format!("projects/{project}/ssh-keys"), &body, format!("made SSH key {}", body["label"]))
            }
        }
    }

    /// Does something to a machine of the cluster's.
    fn touch(&self, dice: &mut Dice, device: &Value, may_lose_its_mark: bool) -> Option<Deed> {
        let (id, name) = (text(&device["id"]), text(&device["hostname"]));
        let path = format!("devices/{id}");
        match dice.below(9) {
            0 | 1 => {
                let new = format!("other-{}", dice.below(100_000));
                let deed =
                    self.change(&path, &json!({ "hostname": new }), format!("renamed machine {name} ({id}) to {new}"))?;
                // And somebody else gets its name.
                if dice.once_in(2) {
                    let made = self.device(self.neighbourhood(), &name, &json!(["mine"]), "made")?;
                    return Some(Deed { text: format!("{} and {}", deed.text, made.text), ..made });
                }
                Some(deed)
            }
            2 | 3 if may_lose_its_mark => {
                let tags = if dice.once_in(2) { json!([OTHER_TAG]) } else { json!(["mine"]) };
                self.change(
                    &path,
                    &json!({ "tags": tags }),
                    format!("took the mark from machine {name} ({id}): {tags}"),
                )
            }
            4 => {
                self.ask("POST", &format!("{path}/actions"), &json!({ "type": "power_off" }))?;
                Some(Deed { text: format!("stopped machine {name} ({id})"), made: Vec::new() })
            }
            5 => self.delete(&path, format!("deleted machine {name} ({id})")),
            // A double has all tags, and with them the mark.
            6 if is_marked(device) => {
                let double = if dice.once_in(2) { name } else { format!("demo-x7k2p-copy-{}", dice.below(100)) };
                self.device(&text(&device["project"]), &double, &device["tags"], "doubled")
            }
            7 if is_marked(device) => {
                let tags = json!([TAG]);
                self.change(&path, &json!({ "tags": tags }), format!("took all tags but the mark from {name} ({id})"))
            }
            _ => self.imitate(dice),
        }
    }

    /// Does something to what else is the cluster's: its addresses, networks, keys and project.
    fn touch_other(&self, dice: &mut Dice, state: &Value, recorded: &BTreeSet<String>) -> Option<Deed> {
        let table = *dice.pick(&["blocks", "blocks", "vlans", "keys", "projects"])?;
        let mut own = rows(state, table);
        own.retain(|row| is_marked(row) || recorded.contains(&text(&row["id"])));
        let row = dice.pick(&own)?;
        let id = text(&row["id"]);
        let is_recorded = recorded.contains(&id);
        match (table, dice.below(4)) {
            ("blocks", 0) if is_recorded => {
                let text = format!("took the mark from addresses {} ({id})", row["network"]);
                self.change(&format!("ips/{id}"), &json!({ "tags": ["mine"] }), text)
            }
            ("blocks", 1) => {
                let assignment = text(&dice.pick(&rows(row, "assignments"))?["id"]);
                self.delete(&format!("ips/{assignment}"), format!("took address {} from its machine", row["network"]))
            }
            ("blocks", 2) => {
                for assignment in rows(row, "assignments") {
                    self.ask("DELETE", &format!("ips/{}", text(&assignment["id"])), &Value::Null);
                }
                self.delete(&format!("ips/{id}"), format!("released addresses {} ({id})", row["network"]))
            }
            ("blocks", _) => {
                let devices = rows(state, "devices");
                let device = text(&dice.pick(&devices)?["id"]);
                for assignment in rows(row, "assignments") {
                    self.ask("DELETE", &format!("ips/{}", text(&assignment["id"])), &Value::Null);
                }
                let address = json!({ "address": row["network"] });
                self.ask("POST", &format!("devices/{device}/ips"), &address)?;
                Some(Deed { text: format!("led address {} to {device}", row["network"]), made: Vec::new() })
            }
            ("vlans", _) => self.delete(&format!("virtual-networks/{id}"), format!("deleted network {}", row["vxlan"])),
            ("keys", 0 | 1) if is_recorded => {
                let text = format!("renamed SSH key {} ({id})", row["label"]);
                self.change(&format!("ssh-keys/{id}"), &json!({ "label": "other" }), text)
            }
            ("keys", _) => self.delete(&format!("ssh-keys/{id}"), format!("deleted SSH key {} ({id})", row["label"])),
            (_, 0) if is_recorded => {
                let text = format!("took the mark from project {} ({id})", row["name"]);
                self.change(&format!("projects/{id}"), &json!({ "tags": [OTHER_TAG] }), text)
            }
            (_, _) => {
                let text = format!("renamed project {} ({id})", row["name"]);
                self.change(&format!("projects/{id}"), &json!({ "name": "other" }), text)
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
        let mut add = |row: &Value, name: String, line: String, title: String, runs: bool| {
            let thing = Thing { line, name, title: Some(title), is_marked: is_marked(row), runs };
            things.insert(text(&row["id"]), thing);
        };
        for row in rows(&state, "devices").iter().filter(|row| row["hidden"] == false) {
            let name = text(&row["hostname"]);
            let line = format!("machine {name} {}{}", row["tags"], if is_off(row) { " off" } else { "" });
            let runs = !is_off(row) && row["state"] != "deprovisioning";
            add(row, name.clone(), line, format!("machine {name}"), runs);
        }
        for row in rows(&state, "blocks").iter().filter(|row| row["management"] == false) {
            let tags = rows(row, "tags");
            let name = tags.iter().find_map(|tag| tag.as_str()?.strip_prefix("landfall-name:")).unwrap_or_default();
            let (network, cidr) = (text(&row["network"]), &row["cidr"]);
            let title = format!("addresses {network}/{cidr} for {name}");
            add(row, name.to_owned(), format!("addresses {network}/{cidr} {}", row["tags"]), title, false);
        }
        for row in &rows(&state, "vlans") {
            let line = format!("virtual network {} {}", row["vxlan"], row["tags"]);
            add(row, row["vxlan"].to_string(), line, format!("virtual network {}", row["vxlan"]), false);
        }
        for row in &rows(&state, "keys") {
            let label = text(&row["label"]);
            add(row, label.clone(), format!("SSH key {label} {}", row["key"]), format!("SSH key {label}"), false);
        }
        for row in &rows(&state, "projects") {
            let name = text(&row["name"]);
            add(row, name.clone(), format!("project {name} {}", row["tags"]), format!("project {name}"), false);
        }
        things
    }

    fn haunt(&self, dice: &mut Dice, recorded: &BTreeSet<String>) -> Option<Deed> {
        let state = self.state();
        match dice.below(8) {
            0 => self.imitate(dice),
            1 | 2 => self.touch_other(dice, &state, recorded),
            _ => {
                let mut own = rows(&state, "devices");
                own.retain(|row| row["hidden"] == false && row["state"] != "deprovisioning");
                own.retain(|row| is_marked(row) || recorded.contains(&text(&row["id"])));
                let device = dice.pick(&own)?;
                self.touch(dice, device, recorded.contains(&text(&device["id"])))
            }
        }
    }

    fn haunt_machine(&self, dice: &mut Dice, id: &str) -> Option<Deed> {
        let device = rows(&self.state(), "devices").into_iter().find(|device| device["id"] == id)?;
        let has_name = text(&device["hostname"]).starts_with("demo-x7k2p-worker");
        // One that has lost its mark keeps its name.
        if is_marked(&device) { self.touch(dice, &device, has_name) } else { self.imitate(dice) }
    }

    fn machines(&self) -> Arc<dyn Machines> {
        Arc::new(self.cluster.binder().machines())
    }

    fn worker(&self, name: &str) -> MachineSpec {
        let suffix = name.strip_prefix("demo-x7k2p-").unwrap_or(name);
        let platform = json!({
            "name": name, "candidates": [{ "location": { "metro": "da" }, "plan": "c3.small.x86" }], "os": "custom_ipxe",
            "script_url": "http://assets.example.com/boot.ipxe", "tags": [TAG, format!("landfall-name:{suffix}")],
            "billing_cycle": "hourly", "public_ipv4": true, "ignition": "worker.ign",
        });
        MachineSpec { name: name.to_owned(), user_data: "{}".into(), platform }
    }
}

#[tokio::test]
async fn a_cluster_is_made_and_removed_among_strangers() {
    survive_strangers(|seed| async move {
        let scene = Scene::new(&["--clock", "stepped"]).await;
        let project = scene.project();
        let section = if seed % 3 == 1 {
            json!({ "newProject": {}, "endpoint": "bgp" })
        } else {
            json!({
                "project": project,
                "virtualNetworks": [{ "name": "storage", "vxlan": 1200 }],
                "addressBlocks": [{ "name": "services", "quantity": 4 }],
                "projectSshKeys": true,
            })
        };
        let mut config = config(section, 1, 1);
        config.ssh_key =
            Some("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo".to_owned());
        Arc::new(Account { cluster: scene.cluster(config), project }) as Arc<dyn Haunted>
    })
    .await;
}
