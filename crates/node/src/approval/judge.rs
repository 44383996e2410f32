//! Whether a request is one that a machine of the cluster may make: a pure function of the request and the nodes.

use std::net::IpAddr;

use serde_json::Value;
use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::{GeneralName, ParsedExtension},
    pem::parse_x509_pem,
    prelude::FromDer as _,
};

use crate::kube::ClusterNode;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const BOOTSTRAPPERS: &str = "system:bootstrappers:kubeadm:default-node-token";

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
    let signer = spec["signerName"].as_str().unwrap_or_default();
    if signer != CLIENT && signer != SERVING {
        return Some(format!("signer {signer} is not that of kubelets"));
    }
    let Some(asked) = Asked::read(pem) else {
        return Some("the request in it cannot be read".to_owned());
    };
    let Some(name) = asked.common_name.strip_prefix("system:node:") else {
        return Some(format!("{} is no node", asked.common_name));
    };
    if asked.organizations != ["system:nodes"] {
        return Some(format!("the organisation is {:?} and not system:nodes", asked.organizations));
    }
    if !name.strip_prefix(infra_id).is_some_and(|rest| rest.starts_with('-')) {
        return Some(format!("{name} is not a name of a machine of this cluster"));
    }
    let user = spec["username"].as_str().unwrap_or_default();
    let groups: Vec<&str> = spec["groups"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let usages: Vec<&str> = spec["usages"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let itself = user == asked.common_name && groups.contains(&"system:nodes");
    if signer == CLIENT {
        let newcomer = user.starts_with("system:bootstrap:") && groups.contains(&BOOTSTRAPPERS);
        return match () {
            () if !itself && !newcomer => Some(format!("{user} may not ask for a client certificate of {name}")),
            () if !usages.contains(&"client auth") || usages.contains(&"server auth") => {
                Some("it is not for clients only".to_owned())
            }
            () if !asked.names.is_empty() || !asked.addresses.is_empty() => {
                Some("a client certificate has no names or addresses".to_owned())
            }
            () => None,
        };
    }
    if !itself {
        return Some(format!("{user} may not ask for a serving certificate of {name}"));
    }
    if !usages.contains(&"server auth") || usages.contains(&"client auth") {
        return Some("it is not for servers only".to_owned());
    }
    let Some(node) = nodes.iter().find(|node| node.name == name) else {
        return Some(format!("there is no node {name}"));
    };
    if asked.names.is_empty() && asked.addresses.is_empty() {
        return Some("it names nothing to serve".to_owned());
    }
    if let Some(foreign) = asked.names.iter().find(|&asked| *asked != node.name) {
        return Some(format!("{foreign} is not a name of node {name}"));
    }
    // Virtual addresses are not among a node's own, so that no kubelet can pose as the API.
    let foreign = asked.addresses.iter().find(|address| !node.addresses.contains(address));
    foreign.map(|foreign| format!("{foreign} is not an address of node {name}"))
}

/// What a request asks for.
#[derive(Debug, Default)]
struct Asked {
    common_name: String,
    organizations: Vec<String>,
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Asked {
    fn read(pem: &[u8]) -> Option<Self> {
        let (_, pem) = parse_x509_pem(pem).ok()?;
        let (_, request) = X509CertificationRequest::from_der(&pem.contents).ok()?;
        let subject = &request.certification_request_info.subject;
        let mut common_names = subject.iter_common_name();
        let mut asked = Self {
            common_name: common_names.next()?.as_str().ok()?.to_owned(),
            organizations: subject
                .iter_organization()
                .map(|organization| organization.as_str().map(str::to_owned))
                .collect::<Result<_, _>>()
                .ok()?,
            ..Self::default()
        };
        // Whoever reads the certificate may take another of them than was judged here.
        if common_names.next().is_some() {
            return None;
        }
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(alternatives) = extension else { continue };
            for name in &alternatives.general_names {
                match name {
                    GeneralName::DNSName(name) => asked.names.push((*name).to_owned()),
                    GeneralName::IPAddress(bytes) => asked.addresses.push(address(bytes)?),
                    // Kubelets ask for nothing else.
                    _ => return None,
                }
            }
        }
        Some(asked)
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes).map(IpAddr::from).or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests;
