//! A stranger on the servers, who renames, moves and stops what is the cluster's, and makes what looks like it.
//!
//! It touches only partitions that run, and deletes none: one that is renamed or deleted while it is being made leaves a disk behind to
//! which nothing leads yet.
//! The mark of a partition is in its id, which nothing changes, and a copy gets an id of its own. So nothing here loses its mark.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use landfall_engine::Plan;
use landfall_platform::{Bind, Discover, InfraId, MachineSpec, Machines};
use landfall_platform_powervm::{
    Mark,
    client::LogicalPartitionSpec,
    xml::{Document, Element},
};
use landfall_simulator::core::{Hook, Request, Simulation as _};
use landfall_testkit::{BeforeCall, Deed, Haunted, Thing, World, seed::Dice, survive_strangers};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    cluster::{Cluster, config},
    failures::worker,
    scene::{Scene, spec},
};

/// Names that look like those of the cluster; the last ones are of a cluster whose infra id begins with the whole of this one's.
const NAMES: [&str; 6] = [
    "demo-x7k2p-master-0",
    "demo-x7k2p-master-7",
    "demo-x7k2p-bootstrap",
    "demo-x7k2p-worker-0",
    "demo-x7k2p-hjklm-master-0",
    "demo-x7k2p-hjklm-bootstrap",
];
const PARTITION: &str = "application/vnd.ibm.powervm.uom+xml; type=LogicalPartition";
const JOB: &str = "application/vnd.ibm.powervm.web+xml; type=JobRequest";
const LOGON: &str = "application/vnd.ibm.powervm.web+xml; type=LogonRequest";

struct Servers {
    cluster: Cluster,
    mark: Mark,
}

/// A partition as the state has it.
struct Found {
    /// The number of its server.
    host: usize,
    id: String,
    name: String,
    state: String,
}

fn children(element: &Value) -> Vec<&Value> {
    element["c"].as_array().into_iter().flatten().collect()
}

fn at<'a>(element: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').try_fold(element, |element, name| children(element).into_iter().find(|child| child["n"] == name))
}

fn text(element: &Value, path: &str) -> String {
    at(element, path).and_then(|element| element["t"].as_str()).unwrap_or_default().to_owned()
}

fn digest(element: &Value) -> String {
    let bytes = Sha256::digest(element.to_string());
    format!("{bytes:x}")
}

fn is_running(state: &str) -> bool {
    !["not activated", "migrating not active", "shutting down", "error"].contains(&state)
}

impl Servers {
    fn state(&self) -> Value {
        self.cluster.scene.hosts.world().view(|hosts, _| hosts.snapshot())
    }

    /// Sends something to a server as another user would, past the listener. `None` if it is refused.
    fn send(
        &self,
        host: usize,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Option<(String, Vec<(String, String)>)> {
        let mut request = Request::direct(method, &format!("/rest/api/{path}"), headers, body);
        request.listener = host;
        let response = self.cluster.scene.hosts.world().handle(&request);
        let text = String::from_utf8_lossy(&response.body).into_owned();
        (response.status < 300).then_some((text, response.headers))
    }

    fn token(&self, host: usize) -> Option<String> {
        let web = "http://www.ibm.com/xmlns/systems/power/firmware/web/mc/2012_10/";
        let request = Element::new("LogonRequest")
            .with_attribute("xmlns", web)
            .with_attribute("schemaVersion", "V1_0")
            .with(Element::text_of("UserID", "admin"))
            .with(Element::text_of("Password", "landfall"));
        let headers = [("content-type", LOGON), ("accept", "application/vnd.ibm.powervm.web+xml; type=LogonResponse")];
        let (answer, _) = self.send(host, "PUT", "web/Logon", &headers, request.to_string())?;
        Document::parse(answer.as_bytes()).ok()?.root.text_at("X-API-Session")
    }

    fn ask(
        &self,
        host: usize,
        method: &str,
        path: &str,
        kind: &str,
        tag: &str,
        body: String,
    ) -> Option<(Element, String)> {
        let token = self.token(host)?;
        let mut headers = vec![("x-api-session", token.as_str()), ("x-audit-memento", "stranger"), ("accept", "*/*")];
        if !body.is_empty() {
            headers.push(("content-type", kind));
        }
        if !tag.is_empty() {
            headers.push(("if-match", tag));
        }
        let (answer, headers) = self.send(host, method, path, &headers, body)?;
        let tag = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("etag")).map(|(_, tag)| tag.clone());
        let root =
            Document::parse(answer.as_bytes()).map_or_else(|_| Element::new("nothing"), |document| document.root);
        let object = root.child("content").and_then(|content| content.elements().next().cloned());
        Some((object.unwrap_or(root), tag.unwrap_or_default()))
    }

    fn partitions(state: &Value) -> Vec<Found> {
        let mut found = Vec::new();
        for (host, all) in state["hosts"].as_array().into_iter().flatten().enumerate() {
            for (id, object) in all["objects"].as_object().into_iter().flatten() {
                let element = &object["element"];
                if element["n"] == "LogicalPartition" {
                    let id = [text(element, "PartitionUUID"), id.clone()].into_iter().find(|id| !id.is_empty());
                    found.push(Found {
                        host,
                        id: id.unwrap_or_default(),
                        name: text(element, "PartitionName"),
                        state: text(element, "PartitionState"),
                    });
                }
            }
        }
        found
    }

    fn make(&self, host: usize, name: &str) -> Option<Deed> {
        let state = self.state();
        let objects = state["hosts"][host]["objects"].as_object()?;
        let (system, _) = objects.iter().find(|(_, object)| object["element"]["n"] == "ManagedSystem")?;
        let wanted: LogicalPartitionSpec = spec(name);
        let path = format!("uom/ManagedSystem/{system}/LogicalPartition");
        self.ask(host, "PUT", &path, PARTITION, "", wanted.document().to_string())?;
        let text = format!("made partition {name} on server {host}");
        Some(Deed { text, made: vec![wanted.platform_id().to_lowercase()] })
    }

    fn imitate(&self, dice: &mut Dice) -> Option<Deed> {
        self.make(dice.below(3), dice.pick(&NAMES)?)
    }

    fn job(&self, found: &Found, operation: &str, parameters: &[(&str, &str)]) -> Option<()> {
        let path = format!("uom/LogicalPartition/{}/do/{operation}", found.id);
        let (mut request, _) = self.ask(found.host, "GET", &path, "", "", String::new())?;
        let list = request.child_mut("JobParameters")?;
        let prefix = list.name().rsplit_once(':').map(|(prefix, _)| format!("{prefix}:")).unwrap_or_default();
        for (name, value) in parameters {
            let named = |local: &str, text: &str| Element::text_of(&format!("{prefix}{local}"), text);
            let parameter = Element::new(&format!("{prefix}JobParameter")).with_attribute("schemaVersion", "V1_0");
            list.push(parameter.with(named("ParameterName", name)).with(named("ParameterValue", value)));
        }
        self.ask(found.host, "PUT", &path, JOB, "", request.to_string()).map(drop)
    }

    /// Does something to a partition of the cluster's.
    fn touch(&self, dice: &mut Dice, found: &Found) -> Option<Deed> {
        let Found { host, id, name, .. } = found;
        let path = format!("uom/LogicalPartition/{id}");
        let done = |text: String| Some(Deed { text, made: Vec::new() });
        match dice.below(8) {
            0 | 1 => {
                let new = format!("other-{}", dice.below(100_000));
                let (mut object, tag) = self.ask(*host, "GET", &path, "", "", String::new())?;
                object.child_mut("PartitionName")?.set_text(&new);
                self.ask(*host, "POST", &path, PARTITION, &tag, object.to_string())?;
                let text = format!("renamed partition {name} ({id}) to {new}");
                // And somebody else gets its name.
                if dice.once_in(2)
                    && let Some(made) = self.make(*host, name)
                {
                    return Some(Deed { text: format!("{text} and {}", made.text), ..made });
                }
                done(text)
            }
            2 => {
                self.job(found, "PowerOff", &[("operation", "shutdown"), ("immediate", "true")])?;
                done(format!("stopped partition {name} ({id})"))
            }
            4 => {
                let target = format!("power-{}", ['a', 'b', 'c'][(host + 1) % 3]);
                self.job(found, "Migrate", &[("TargetManagedSystemName", target.as_str())])?;
                done(format!("moves partition {name} ({id}) to {target}"))
            }
            5 => self.make((host + 1) % 3, name),
            _ => self.imitate(dice),
        }
    }
}

#[async_trait]
impl World for Servers {
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
        self.cluster.list()
    }
}

impl Haunted for Servers {
    fn before_each_call(&self, hook: Option<BeforeCall>) {
        let hook = hook.map(|hook| -> Hook { Arc::new(move |call| hook(call.method, call.path)) });
        self.cluster.scene.hosts.before_each_call(hook);
    }

    /// Some calls wait for time to pass, so it does by itself.
    fn pass_time(&self) {}

    fn things(&self) -> BTreeMap<String, Thing> {
        let state = self.state();
        let mut things = BTreeMap::new();
        let mut add = |id: String, line: String, name: String, title: Option<String>, is_marked: bool, runs: bool| {
            things.insert(id, Thing { line, name, title, is_marked, runs });
        };
        for found in Self::partitions(&state) {
            let Found { host, id, name, state: power } = found;
            let server = state["hosts"][host]["name"].as_str().unwrap_or_default();
            let (is_marked, runs) = (self.mark.is_on(&id), is_running(&power));
            let line = format!("partition {name} on {server}{}", if runs { " runs" } else { "" });
            add(id.to_lowercase(), line, name.clone(), Some(format!("partition {name} on {server}")), is_marked, runs);
        }
        for host in state["hosts"].as_array().into_iter().flatten() {
            let server = host["name"].as_str().unwrap_or_default();
            for (id, object) in host["objects"].as_object().into_iter().flatten() {
                let element = &object["element"];
                let lists: &[&str] = match element["n"].as_str().unwrap_or_default() {
                    "ClientNetworkAdapter" => {
                        add(
                            format!("{server} {id}"),
                            format!("adapter {id} on {server}"),
                            String::new(),
                            None,
                            false,
                            false,
                        );
                        continue;
                    }
                    "VirtualIOServer" => &["VirtualSCSIMappings"],
                    "VolumeGroup" => &["VirtualDisks", "MediaRepositories/VirtualMediaRepository/OpticalMedia"],
                    _ => continue,
                };
                for list in lists {
                    for one in at(element, list).map(children).unwrap_or_default() {
                        let line = format!("one of {list} of {id} on {server}");
                        add(format!("{server} {id} {}", digest(one)), line, String::new(), None, false, false);
                    }
                }
            }
        }
        for (id, object) in state["pool"].as_object().into_iter().flatten() {
            let element = &object["element"];
            if element["n"] == "LogicalUnit" {
                let name = text(element, "UnitName");
                add(format!("unit {id}"), format!("unit {name}"), name, None, false, false);
            }
        }
        things
    }

    fn haunt(&self, dice: &mut Dice, _: &BTreeSet<String>) -> Option<Deed> {
        if dice.once_in(6) {
            return self.imitate(dice);
        }
        let mut own = Self::partitions(&self.state());
        own.retain(|found| self.mark.is_on(&found.id) && is_running(&found.state));
        let found = dice.pick(&own)?;
        self.touch(dice, found)
    }

    fn haunt_machine(&self, dice: &mut Dice, id: &str) -> Option<Deed> {
        let all = Self::partitions(&self.state());
        let found = all.into_iter().find(|found| found.id.eq_ignore_ascii_case(id))?;
        self.touch(dice, &found)
    }

    /// Two runs that make the same disk at once make two of the same name, and one stays.
    fn bears_a_second_run(&self) -> bool {
        false
    }

    fn machines(&self) -> Arc<dyn Machines> {
        Arc::new(self.cluster.binder().machines())
    }

    fn worker(&self, name: &str) -> MachineSpec {
        worker(&self.cluster, name, &json!({}))
    }
}

#[tokio::test]
async fn a_cluster_is_made_and_removed_among_strangers() {
    survive_strangers(|_| async {
        let scene = Arc::new(Scene::with(&["--time-scale", "2000"]).await);
        let config = config(&scene, 1, json!({}));
        let cluster = Cluster::on(&scene, "demo-x7k2p", config);
        let mark = Mark::new(cluster.infra_id.clone());
        Arc::new(Servers { cluster, mark }) as Arc<dyn Haunted>
    })
    .await;
}
