//! Whether a request is one that a machine of the cluster may make: a pure function of the request and the nodes.

use landfall_machine_api::{CertificateRequest, Wish};
use serde_json::Value;

use crate::kube::ClusterNode;

/// What comes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is approved.
    Approve,
    /// It is left alone, since somebody else may know better: the reason, for the log.
    Leave(String),
}

/// Judges a `CertificateSigningRequest` whose `spec.request` has been decoded to PEM.
pub(super) fn judge(request: &Value, pem: &[u8], infra_id: &str, nodes: &[ClusterNode]) -> Verdict {
    match refusal(request, pem, infra_id, nodes) {
        None => Verdict::Approve,
        Some(reason) => Verdict::Leave(reason),
    }
}

/// Why a request is not approved, if it is not.
fn refusal(request: &Value, pem: &[u8], infra_id: &str, nodes: &[ClusterNode]) -> Option<String> {
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
        Wish::First | Wish::Renewal => None,
        Wish::Serving { .. } => match nodes.iter().find(|node| node.name == *name) {
            None => Some(format!("there is no node {name}")),
            Some(node) => asked.wish.foreign(name, &node.addresses).map(|foreign| format!("{foreign} of node {name}")),
        },
    }
}

#[cfg(test)]
mod tests;
