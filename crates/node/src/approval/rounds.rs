//! Looking for requests, round after round.

use std::{collections::HashSet, net::IpAddr, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_assets::MachineRole;
use landfall_machine_api::{CONTROLLER, NAMESPACE, Networks, requested_node};
use landfall_platform::error_chain;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::judge::{Surroundings, Verdict, judge};
use crate::{
    Error, config_server,
    kube::{Access, ClusterNode},
    machine::Machine,
};

/// A machine that waits for its certificate is not Ready, or cannot show its logs.
const INTERVAL: Duration = Duration::from_secs(2);
const PATH: &str = "apis/certificates.k8s.io/v1/certificatesigningrequests";

/// Approves for as long as the future is polled.
pub async fn keep_approving(machine: &Machine, access: &Access) {
    keep(machine, access, false).await;
}

/// The same, as long as the cluster has no machine controller: that knows better.
pub async fn keep_approving_alone(machine: &Machine, access: &Access) {
    keep(machine, access, true).await;
}

async fn keep(machine: &Machine, access: &Access, only_alone: bool) {
    let mut told = HashSet::new();
    // waits: a service, which goes on for as long as its future is polled
    loop {
        if let Err(error) = approve_pending(machine, access, only_alone, &mut told).await {
            tracing::debug!(error = error_chain(&error), "cannot look for certificate requests");
        }
        sleep(INTERVAL).await;
    }
}

/// One round. `told` holds the requests that were left alone and logged.
async fn approve_pending(
    machine: &Machine,
    access: &Access,
    only_alone: bool,
    told: &mut HashSet<String>,
) -> Result<(), Error> {
    let list = access.get("listing certificate requests", PATH).await?;
    let list = list.unwrap_or_default();
    let pending: Vec<&Value> = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|request| request["status"]["conditions"].as_array().is_none_or(Vec::is_empty))
        .collect();
    if pending.is_empty() {
        return Ok(());
    }
    let managed = has_controller(access).await?;
    if only_alone && managed {
        return Ok(());
    }
    let list = access.get("listing the nodes", "api/v1/nodes").await?.unwrap_or_default();
    let virtual_addresses = machine.virtual_addresses();
    let nodes = ClusterNode::read_list(&list, &virtual_addresses);
    let (ready, networks) = (ready(&list), networks(machine, virtual_addresses));
    for request in pending {
        let name = request["metadata"]["name"].as_str().unwrap_or_default();
        let pem = decode(request["spec"]["request"].as_str().unwrap_or_default());
        let can_be_told = managed && machine.facts.role == MachineRole::Bootstrap && !may_be_of_user(machine);
        let has_booted = match requested_node(&pem).filter(|_| can_be_told) {
            Some(node) => config_server::is_redeemed(machine, access, &node).await?,
            None => true,
        };
        let infra_id = machine.facts.cluster.infra_id.as_str();
        let surroundings = Surroundings { infra_id, nodes: &nodes, ready: &ready, networks: &networks, has_booted };
        match judge(request, &pem, &surroundings) {
            Verdict::Approve => {
                let path = format!("{PATH}/{name}/approval");
                let approved = approved(request);
                access.replace("approving a certificate request", &path, &approved).await?;
                tracing::info!(request = name, user = request["spec"]["username"].as_str(), "certificate approved");
            }
            Verdict::Leave(reason) => {
                if told.insert(name.to_owned()) {
                    tracing::warn!(request = name, reason, "certificate request left alone");
                }
            }
        }
    }
    Ok(())
}

/// Returns true if the user may have made the machines: some are handed their whole config then, and fetch none.
fn may_be_of_user(machine: &Machine) -> bool {
    machine.facts.platform == "ovirt" && machine.facts.vips.is_none()
}

/// Names of the nodes that are ready.
fn ready(list: &Value) -> HashSet<String> {
    let nodes = list["items"].as_array().into_iter().flatten().filter(|node| {
        let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    });
    nodes.filter_map(|node| node["metadata"]["name"].as_str()).map(str::to_owned).collect()
}

/// Address ranges of the cluster. Where guests report the addresses, those of machines are known beforehand.
fn networks(machine: &Machine, virtual_addresses: Vec<IpAddr>) -> Networks {
    let facts = &machine.facts;
    let known = &facts.networks;
    let reported = matches!(facts.platform.as_str(), "ovirt" | "powervm");
    let pods = known.cluster.iter().map(|network| network.cidr);
    Networks {
        machine: if reported { known.machine.clone() } else { Vec::new() },
        taken: pods.chain(known.service.iter().copied()).collect(),
        virtual_addresses,
    }
}

/// Whether the cluster has a machine controller, be it up or not: what it would refuse must not pass while it is away.
pub(super) async fn has_controller(access: &Access) -> Result<bool, Error> {
    let path = format!("apis/apps/v1/namespaces/{NAMESPACE}/deployments/{CONTROLLER}");
    Ok(access.get("looking for the machine controller", &path).await?.is_some())
}

fn approved(request: &Value) -> Value {
    let mut request = request.clone();
    request["status"]["conditions"] = json!([{
        "type": "Approved",
        "status": "True",
        "reason": "LandfallMachine",
        "message": "the name and addresses are those of a machine of this cluster",
    }]);
    request
}

/// The PEM text of a request; nothing if it is none, which the judge then cannot read.
fn decode(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}
