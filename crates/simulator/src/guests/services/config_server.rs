//! `landfall-node config-server`: the real config server, with what the machine has on its disk.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use landfall_node::config_server::{
    Admission, ConfigServer, Configs, Credential, FirstUse, Fleet, MachineId, Peers, Redemption, Roots, Tls,
    Unreadable, serve,
};
use serde_json::{Value, json};

use super::{Host, bootstrap, listen};
use crate::guests::facts::Served;
use crate::guests::kube::{Key, Refusal, Store};
use crate::guests::system::System;

/// API group and namespace of machine objects.
const GROUP: &str = "machine.openshift.io";
const NAMESPACE: &str = "landfall-system";

/// Serves the roles that the machine's facts name, until it retires.
pub(super) async fn run(host: Host) {
    let (port, tls, server) = host.persist("landfall-node config-server", async || prepare(&host)).await;
    let console = host.console.clone();
    listen::everywhere(&host, "landfall-node config-server", port, move |listener, stop| {
        let (tls, server, console) = (tls.clone(), server.clone(), console.clone());
        async move {
            if let Err(error) = serve(listener, &tls, server, stop).await {
                console.print(format!("landfall-node config-server: {}", crate::guests::console::chain(&error)));
            }
        }
    })
    .await;
}

fn prepare(host: &Host) -> Result<(u16, Arc<Tls>, Arc<ConfigServer>), String> {
    let facts = host.facts()?;
    let served = facts.config_server.ok_or("node.json names nothing to serve")?;
    let file = |path: &str| host.system.file(path).ok_or_else(|| format!("there is no {path}"));
    let tls = Tls { certificates: file(&served.certificate)?, key: file(&served.key)? };
    let mut roots = Vec::new();
    for role in &served.roles {
        // Without its file a role's root is revoked, which is no error.
        if let Ok(root) = host.system.text(&role.root) {
            roots.push((role.name.as_str(), root));
        }
    }
    let roots = Roots::new(roots.iter().map(|(role, root)| (*role, root.as_str())));
    let roles = served.roles.iter().map(|role| role.name.clone()).collect();
    let configs = OnDisk { system: host.system.clone(), served };
    let is_bootstrap = facts.bootstrap.is_some();
    let known = Known { roots, roles, is_bootstrap, system: host.system.clone() };
    let answering = ConfigServer::new(Arc::new(configs), Arc::new(known));
    Ok((facts.api.config_server_port, Arc::new(tls), Arc::new(answering)))
}

/// Who is let in: by the rules of the real one, with what this machine's disk and its copy of etcd hold.
struct Known {
    roots: Roots,
    roles: Vec<String>,
    is_bootstrap: bool,
    system: Arc<System>,
}

#[async_trait]
impl Admission for Known {
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        self.roots.admits(role, credential)
    }

    async fn redeem(&self, role: &str, machine: MachineId<'_>, peer: IpAddr) -> Result<Redemption, Unreadable> {
        let now = Timestamp::now();
        let store = self.system.etcd();
        let fleet = store.as_ref().map(|store| fleet(store));
        if self.is_bootstrap && machine.uid().is_none() {
            return Ok(match fleet {
                Some(fleet) if fleet.has_node(machine.name) => Redemption::Refused("it has a node".to_owned()),
                _ => self.use_on_disk(role, machine, peer, now),
            });
        }
        let (Some(store), Some(fleet)) = (store, fleet) else {
            return Err(Unreadable { path: "/var/lib/etcd".into(), source: "there is no cluster yet".into() });
        };
        if let Some(reason) = fleet.refusal(machine, now) {
            return Ok(Redemption::Refused(reason));
        }
        Ok(use_in_cluster(&store, machine, peer, now))
    }

    /// A real master learns the root of the masters' credentials from the cluster, when the bootstrap machine has left it there.
    fn knows(&self, role: &str) -> bool {
        role != "master" || self.roles.iter().any(|known| known == role)
    }
}

impl Known {
    fn use_on_disk(&self, role: &str, machine: MachineId<'_>, peer: IpAddr, now: Timestamp) -> Redemption {
        let path = format!("/var/lib/landfall/redeemed/{role}-{}.json", machine.key());
        let there = self.system.text(&path).ok().and_then(|text| serde_json::from_str::<FirstUse>(&text).ok());
        if let Some(first) = there {
            return first.again(peer, now, &Peers::default());
        }
        self.system.write(&path, json!(FirstUse::new(peer, now)).to_string());
        Redemption::Granted
    }
}

/// What the cluster knows of its machines.
fn fleet(store: &Store) -> Fleet {
    let (machines, _) = store.list(GROUP, "machines", Some(NAMESPACE));
    let (nodes, _) = store.list("", "nodes", None);
    let names = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).map(str::to_owned);
    Fleet::new(machines.iter().map(|machine| &**machine), names)
}

fn use_in_cluster(store: &Store, machine: MachineId<'_>, peer: IpAddr, now: Timestamp) -> Redemption {
    let first = FirstUse::new(peer, now);
    let key = Key::core("configmaps", NAMESPACE, &format!("redeemed-{}", machine.key()));
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": first });
    match store.create(key.clone(), object) {
        Ok(_) => Redemption::Granted,
        Err(Refusal::Exists | Refusal::Missing | Refusal::Conflict) => {
            let data = store.get(&key).map_or(Value::Null, |there| there["data"].clone());
            let first = serde_json::from_value(data).unwrap_or(first);
            first.again(peer, now, &Peers::default())
        }
    }
}

/// The configs as they are on the machine's disk.
struct OnDisk {
    system: Arc<System>,
    served: Served,
}

impl Configs for OnDisk {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        let known = self.served.roles.iter().find(|known| known.name == role);
        Ok(known.and_then(|known| self.system.file(&known.config)).map(Bytes::from))
    }

    fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
        Ok(self.system.file(bootstrap::PROGRESS).map(Bytes::from))
    }
}
