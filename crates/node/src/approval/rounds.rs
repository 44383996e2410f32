//! Looking for requests, round after round.

use std::{collections::HashSet, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_machine_api::{CONTROLLER, NAMESPACE};
use landfall_platform::error_chain;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::judge::{Verdict, judge};
use crate::{Error, kube::Access, machine::Machine};

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
    if pending.is_empty() || (only_alone && has_controller(access).await?) {
        return Ok(());
    }
    let nodes = access.nodes().await?;
    for request in pending {
        let name = request["metadata"]["name"].as_str().unwrap_or_default();
        let pem = decode(request["spec"]["request"].as_str().unwrap_or_default());
        match judge(request, &pem, machine.facts.cluster.infra_id.as_str(), &nodes) {
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
