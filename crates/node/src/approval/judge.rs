//! Whether a request is one that a machine of the cluster may make: a pure function of the request and the nodes.

use std::collections::HashSet;

use landfall_machine_api::{CertificateRequest, Networks, Wish};
use serde_json::Value;

use crate::kube::ClusterNode;

/// Facts about the machine besides the request itself.
pub(super) struct Surroundings<'a> {
    /// With which names of machines begin.
    pub(super) infra_id: &'a str,
    /// The nodes of the cluster.
    pub(super) nodes: &'a [ClusterNode],
    /// Names of the nodes that are ready. Their kubelets have certificates.
    pub(super) ready: &'a HashSet<String>,
    /// Address ranges.
    pub(super) networks: &'a Networks,
    /// True if the machine of this request has used its credential, or if that cannot be known.
    pub(super) has_booted: bool,
}

/// What comes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is approved.
    Approve,
    /// The request is left to another approver: the reason, for the log.
    Leave(String),
}

/// Judges a `CertificateSigningRequest` whose `spec.request` has been decoded to PEM.
pub(super) fn judge(request: &Value, pem: &[u8], surroundings: &Surroundings<'_>) -> Verdict {
    match refusal(request, pem, surroundings) {
        None => Verdict::Approve,
        Some(reason) => Verdict::Leave(reason),
    }
}

/// Why a request is not approved, if it is not.
fn refusal(request: &Value, pem: &[u8], surroundings: &Surroundings<'_>) -> Option<String> {
    let Surroundings { infra_id, nodes, ready, networks, has_booted } = *surroundings;
    let spec = &request["spec"];
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let texts = |field: &str| spec[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (signer, user) = (text("signerName"), text("username"));
    let read = CertificateRequest { signer, user, groups: texts("groups"), usages: texts("usages"), pem }.read();
    let asked = match read {
        Ok(asked) => asked,
        Err(reason) => return Some(reason),
    };
    let name = &asked.node;
    if !name.strip_prefix(infra_id).is_some_and(|rest| rest.starts_with('-')) {
        return Some(format!("{name} is not a name of a machine of this cluster"));
    }
    match &asked.wish {
        Wish::Renewal => None,
        // A machine whose attempt to join was cut off begins anew, and its node is not ready then.
        Wish::First if ready.contains(name) => Some(format!("{name} has a node that is ready")),
        Wish::First => (!has_booted).then(|| format!("no machine has fetched its config as {name}")),
        Wish::Serving { addresses, .. } => {
            let Some(node) = nodes.iter().find(|node| node.name == *name) else {
                return Some(format!("there is no node {name}"));
            };
            if let Some(foreign) = asked.wish.foreign(name, &node.addresses) {
                return Some(format!("{foreign} of node {name}"));
            }
            let mut others = nodes.iter().filter(|other| other.name != *name);
            let other = others.find(|other| other.addresses.iter().any(|address| addresses.contains(address)));
            let refusal = addresses.iter().find_map(|address| networks.refusal(*address));
            refusal.or_else(|| other.map(|other| format!("node {} has an address of node {name} too", other.name)))
        }
    }
}

#[cfg(test)]
mod tests;
