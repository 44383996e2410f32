//! A stranger on the engine, who renames, retags, clones, moves, stops and deletes what is the cluster's, and makes what looks like it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::Plan;
use landfall_platform::{Bind, Discover, InfraId, MachineSpec, Machines};
use landfall_simulator::core::{Request, Simulation as _};
use landfall_testkit::{BeforeCall, Deed, Haunted, Thing, World, seed::Dice, survive_strangers};
use serde_json::{Value, json};

use crate::{
    machines::worker_called,
    scene::{CLUSTER, Cluster, STORAGE, Scene, config, config_with_image},
};

const MARK: &str = "[landfall:demo-x7k2p]";
/// The mark of a cluster whose infra id begins with the whole of this one's.
const OTHER_MARK: &str = "[landfall:demo-x7k2p-hjklm]";
const IMAGE: &str = "demo-x7k2p-image";
/// Names that look like those of the cluster; the last ones are of the other.
const NAMES: [&str; 6] = [
    "demo-x7k2p-master-0",
    "demo-x7k2p-master-7",
    "demo-x7k2p-bootstrap",
    "demo-x7k2p-worker-0",
    "demo-x7k2p-hjklm-master-0",
    "demo-x7k2p-hjklm-bootstrap",
];

struct Engine {
    cluster: Cluster,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn rows(state: &Value, table: &str) -> Vec<Value> {
    state[table].as_array().cloned().unwrap_or_default()
}

fn is_marked(row: &Value) -> bool {
    text(&row["description"]).trim_end().ends_with(MARK)
}

fn runs(vm: &Value) -> bool {
    !["down", "image_locked", "suspended"].contains(&vm["status"].as_str().unwrap_or_default())
}

fn blank(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "cluster": { "id": CLUSTER }, "template": { "name": "Blank" } })
}

impl Engine {
    fn state(&self) -> Value {
        self.cluster.scene.engine.world().view(|engine, _| engine.snapshot())
    }

    /// Asks the engine's API as another user would, past the listener. `None` if it refuses.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let headers = [
            ("authorization", "Basic YWRtaW5AaW50ZXJuYWw6bGFuZGZhbGw="),
            ("accept", "application/json"),
            ("content-type", "application/json"),
        ];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::direct(method, &format!("/ovirt-engine/api/{path}"), &headers, body);
        let response = self.cluster.scene.engine.world().handle(&request);
        (response.status < 300).then(|| serde_json::from_slice(&response.body).unwrap_or_default())
    }

    fn change(&self, path: &str, body: &Value) -> bool {
        self.ask("PUT", path, body).is_some()
    }

    fn make(&self, path: &str, body: &Value, what: &str) -> Option<Deed> {
        let made = self.ask("POST", path, body)?;
        let text = format!("made {what} {} '{}'", text(&body["name"]), text(&body["description"]));
        Some(Deed { text, made: vec![self::text(&made["id"])] })
    }

    /// Makes something that looks like what is the cluster's.
    fn imitate(&self, dice: &mut Dice) -> Option<Deed> {
        let name = *dice.pick(&NAMES)?;
        let description = if dice.once_in(2) { OTHER_MARK } else { "mine" };
        match dice.below(5) {
            0 | 1 => self.make("vms", &blank(name, description), "machine"),
            2 => {
                let storage = json!({ "storage_domain": [{ "id": STORAGE }] });
                let name = if dice.once_in(3) { IMAGE.to_owned() } else { format!("{name}-disk1") };
                let body = json!({
                    "name": name, "description": description, "format": "cow", "sparse": "true",
                    "provisioned_size": "1073741824", "storage_domains": storage,
                });
                self.make("disks", &body, "disk")
            }
            3 => {
                let name = if dice.once_in(2) { "demo-x7k2p" } else { "demo-x7k2p-hjklm" };
                self.make("tags", &json!({ "name": name, "description": description }), "tag")
            }
            _ => {
                let name = if dice.once_in(2) { "demo-x7k2p-controlplane" } else { "demo-x7k2p-hjklm-controlplane" };
                let body = json!({ "name": name, "description": description, "vms_rule": { "enabled": "true" } });
                self.make(&format!("clusters/{CLUSTER}/affinitygroups"), &body, "affinity group")
            }
        }
    }

    /// Copies a machine. A copy has the description, and with it the mark.
    fn clone_of(&self, vm: &Value, name: &str) -> Option<Deed> {
        let id = text(&vm["id"]);
        let known: BTreeSet<String> = rows(&self.state(), "vms").iter().map(|vm| text(&vm["id"])).collect();
        self.ask("POST", &format!("vms/{id}/clone"), &json!({ "vm": { "name": name } }))?;
        let state = self.state();
        let made = rows(&state, "vms").into_iter().find(|vm| !known.contains(&text(&vm["id"])))?;
        let mut ids = vec![text(&made["id"])];
        if !is_marked(&made) {
            ids.extend(rows(&made, "disks").iter().map(|disk| text(&disk["disk"])));
        }
        Some(Deed { text: format!("cloned machine {} ({id}) as {name}", text(&vm["name"])), made: ids })
    }

    /// Returns true if a volume of somebody else is on a machine.
    fn has_volume(&self, vm: &Value) -> bool {
        let attached = rows(vm, "disks");
        let is_on = |disk: &Value| attached.iter().any(|own| own["disk"] == disk["id"]);
        rows(&self.state(), "disks").iter().any(|disk| is_on(disk) && text(&disk["name"]).starts_with("pvc-"))
    }

    fn done(is_done: bool, text: String) -> Option<Deed> {
        is_done.then_some(Deed { text, made: Vec::new() })
    }

    /// Does something to a machine of the cluster's.
    fn touch(&self, dice: &mut Dice, vm: &Value, may_lose_its_mark: bool) -> Option<Deed> {
        let (id, name) = (text(&vm["id"]), text(&vm["name"]));
        let path = format!("vms/{id}");
        let number = dice.below(100_000);
        match dice.below(10) {
            0 | 1 => {
                let new = format!("other-{number}");
                let is_done = self.change(&path, &json!({ "name": new }));
                // And somebody else gets its name.
                if is_done && dice.once_in(2) {
                    let made = self.make("vms", &blank(&name, "mine"), "machine")?;
                    return Some(Deed { text: format!("renamed machine {name} ({id}) and {}", made.text), ..made });
                }
                Self::done(is_done, format!("renamed machine {name} ({id}) to {new}"))
            }
            2 | 3 if may_lose_its_mark => {
                let description = if dice.once_in(2) { OTHER_MARK } else { "mine" };
                let is_done = self.change(&path, &json!({ "description": description }));
                Self::done(is_done, format!("took the mark from machine {name} ({id}): '{description}'"))
            }
            4 => {
                let is_done = self.ask("POST", &format!("{path}/stop"), &json!({ "force": "true" })).is_some();
                Self::done(is_done, format!("stopped machine {name} ({id})"))
            }
            // The engine deletes a machine with all its disks.
            5 if !self.has_volume(vm) => {
                self.ask("POST", &format!("{path}/stop"), &json!({ "force": "true" }));
                let is_done = self.ask("DELETE", &path, &Value::Null).is_some();
                Self::done(is_done, format!("deleted machine {name} ({id})"))
            }
            6 => self.clone_of(vm, &format!("{}-copy-{number}", if dice.once_in(2) { "demo-x7k2p" } else { "mine" })),
            7 => {
                let is_done = self.ask("POST", &format!("{path}/migrate"), &json!({})).is_some();
                Self::done(is_done, format!("moved machine {name} ({id}) to another host"))
            }
            8 => {
                let volume = json!({
                    "bootable": "false", "interface": "virtio_scsi", "active": "true",
                    "disk": { "alias": format!("pvc-{number}"), "description": "a volume", "format": "raw",
                              "sparse": "true", "provisioned_size": "1073741824",
                              "storage_domains": { "storage_domain": [{ "id": STORAGE }] } },
                });
                let made = self.ask("POST", &format!("{path}/diskattachments"), &volume)?;
                let text = format!("put volume pvc-{number} on machine {name} ({id})");
                Some(Deed { text, made: vec![self::text(&made["id"])] })
            }
            _ => self.imitate(dice),
        }
    }

    /// Does something to what else is the cluster's: its tag, groups, template.
    fn touch_other(&self, dice: &mut Dice, state: &Value, recorded: &BTreeSet<String>) -> Option<Deed> {
        let groups = format!("clusters/{CLUSTER}/affinitygroups");
        let kinds = [
            ("tags", "tags", "tag"),
            ("affinity_groups", groups.as_str(), "affinity group"),
            ("templates", "templates", "template"),
        ];
        let (table, base, kind) = *dice.pick(&kinds)?;
        let own: Vec<Value> = rows(state, table)
            .into_iter()
            .filter(|row| is_marked(row) || recorded.contains(&text(&row["id"])))
            .collect();
        let row = dice.pick(&own)?;
        let (id, name) = (text(&row["id"]), text(&row["name"]));
        let path = format!("{base}/{id}");
        match dice.below(3) {
            0 => {
                let new = format!("other-{}", dice.below(100_000));
                Self::done(
                    self.change(&path, &json!({ "name": new })),
                    format!("renamed {kind} {name} ({id}) to {new}"),
                )
            }
            1 if recorded.contains(&id) => {
                let is_done = self.change(&path, &json!({ "description": "mine" }));
                Self::done(is_done, format!("took the mark from {kind} {name} ({id})"))
            }
            _ => Self::done(self.ask("DELETE", &path, &Value::Null).is_some(), format!("deleted {kind} {name} ({id})")),
        }
    }
}

#[async_trait]
impl World for Engine {
    fn infra_id(&self) -> InfraId {
        self.cluster.infra_id.clone()
    }

    fn plan(&self) -> Plan {
        self.cluster.plan()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        World::binder(&self.cluster)
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        self.cluster.discoverer()
    }

    async fn inventory(&self) -> Vec<String> {
        self.cluster.list()
    }
}

impl Haunted for Engine {
    fn before_each_call(&self, hook: Option<BeforeCall>) {
        let hook =
            hook.map(|hook| -> landfall_simulator::core::Hook { Arc::new(move |call| hook(call.method, call.path)) });
        self.cluster.scene.engine.before_each_call(hook);
    }

    fn pass_time(&self) {
        self.cluster.scene.engine.step(Duration::from_secs(10));
    }

    fn things(&self) -> BTreeMap<String, Thing> {
        let state = self.state();
        let mut things = BTreeMap::new();
        for (table, kind) in [
            ("vms", "virtual machine"),
            ("templates", "template"),
            ("affinity_groups", "affinity group"),
            ("tags", "tag"),
            ("disks", "disk"),
        ] {
            for row in rows(&state, table) {
                let (name, runs) = (text(&row["name"]), table == "vms" && runs(&row));
                // What a template is made from goes with it.
                let title = match table {
                    "vms" | "disks" if name == IMAGE && self::is_marked(&row) => {
                        Some("template demo-x7k2p-template".to_owned())
                    }
                    "disks" => None,
                    _ => Some(format!("{kind} {name}")),
                };
                let runs_or_not = if runs { " runs" } else { "" };
                let mut line = format!("{kind} {name} '{}'{runs_or_not}", text(&row["description"]));
                // Disks inherit the description of the disk that they are copies of, so only that of an image is a mark.
                let is_marked = is_marked(&row) && (table != "disks" || name == IMAGE);
                if is_marked {
                    line = format!("{line} {} of {}", text(&row["status"]), row["vms"]);
                }
                things.insert(text(&row["id"]), Thing { line, name, title, is_marked, runs });
            }
        }
        things
    }

    fn haunt(&self, dice: &mut Dice, recorded: &BTreeSet<String>) -> Option<Deed> {
        match dice.below(8) {
            0 => self.imitate(dice),
            1 => self.touch_other(dice, &self.state(), recorded),
            _ => {
                let mut own = rows(&self.state(), "vms");
                own.retain(|vm| is_marked(vm) || recorded.contains(&text(&vm["id"])));
                let vm = dice.pick(&own)?;
                self.touch(dice, vm, recorded.contains(&text(&vm["id"])))
            }
        }
    }

    fn haunt_machine(&self, dice: &mut Dice, id: &str) -> Option<Deed> {
        let vm = rows(&self.state(), "vms").into_iter().find(|vm| vm["id"] == id)?;
        let (has_name, has_mark) = (text(&vm["name"]).starts_with("demo-x7k2p-worker"), is_marked(&vm));
        // One that has lost its mark keeps its name.
        if has_mark { self.touch(dice, &vm, has_name) } else { self.imitate(dice) }
    }

    fn machines(&self) -> Arc<dyn Machines> {
        Arc::new(self.cluster.binder().machines())
    }

    fn worker(&self, name: &str) -> MachineSpec {
        worker_called(name)
    }
}

#[tokio::test]
async fn a_cluster_is_made_and_removed_among_strangers() {
    survive_strangers(|seed| async move {
        let scene = Scene::with(&["--clock", "stepped"]).await;
        // An upload takes long, so few clusters bring their own image.
        let config = if seed % 8 == 5 { config_with_image(&scene.image_of(1), 1) } else { config(2, 0) };
        Arc::new(Engine { cluster: scene.cluster("demo-x7k2p", config) }) as Arc<dyn Haunted>
    })
    .await;
}
