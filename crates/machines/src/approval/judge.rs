//! Whether a request is one that a machine of the cluster may make: a pure function.

use std::{net::IpAddr, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use landfall_machine_api::Phase;

use super::Asked;
use crate::Machine;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const BOOTSTRAPPERS: &str = "system:bootstrappers";
const NODES: &str = "system:nodes";

/// What is known besides the request itself.
pub(super) struct Surroundings<'a> {
    /// The machine with the name that the request asks for.
    pub(super) machine: Option<&'a Machine>,
    /// Whether a node of that name is there.
    pub(super) node_exists: bool,
    /// Whether a first certificate was approved for that name before, since the machine was made.
    pub(super) approved_before: bool,
    /// For how long after it was made a machine may ask for its first certificate.
    pub(super) join_window: Duration,
    pub(super) now: Timestamp,
}

/// Whether a request is for one of the kinds of certificates that kubelets have.
pub(crate) fn is_of_kubelets(request: &CertificateSigningRequest) -> bool {
    matches!(request.spec.signer_name.as_str(), CLIENT | SERVING)
}

/// The name of the node that a request speaks of.
pub(super) fn node_name(asked: &Asked) -> Option<&str> {
    asked.common_name.strip_prefix("system:node:").filter(|name| !name.is_empty())
}

/// Why a request is not approved; none if it is.
pub(super) fn refusal(
    request: &CertificateSigningRequest,
    asked: Option<&Asked>,
    surroundings: &Surroundings<'_>,
) -> Option<String> {
    let Some(asked) = asked else { return Some("the request in it cannot be read".to_owned()) };
    let Some(name) = node_name(asked) else { return Some(format!("{} is no node", asked.common_name)) };
    if asked.organizations != [NODES] {
        return Some(format!("the organisations are {:?} and not {NODES} alone", asked.organizations));
    }
    let Some(machine) = surroundings.machine else { return Some(format!("there is no machine {name}")) };
    if machine.is_deleting() || machine.error_reason().is_some() {
        return Some(format!("machine {name} is going or has failed"));
    }
    let spec = &request.spec;
    let user = spec.username.as_deref().unwrap_or_default();
    let in_group = |group: &str| spec.groups.iter().flatten().any(|known| known == group);
    let usages: Vec<&str> = spec.usages.iter().flatten().map(String::as_str).collect();
    let itself = user == asked.common_name && in_group(NODES);
    if spec.signer_name == CLIENT {
        client_refusal(
            request,
            asked,
            surroundings,
            machine,
            itself,
            in_group(BOOTSTRAPPERS) && user.starts_with("system:bootstrap:"),
            &usages,
        )
    } else {
        serving_refusal(asked, machine, user, itself, &usages)
    }
}

fn client_refusal(
    request: &CertificateSigningRequest,
    asked: &Asked,
    surroundings: &Surroundings<'_>,
    machine: &Machine,
    itself: bool,
    newcomer: bool,
    usages: &[&str],
) -> Option<String> {
    let name = machine.name();
    let born = machine.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    let sent = request.metadata.creation_timestamp.as_ref().map_or(surroundings.now, |time| time.0);
    let age = Duration::try_from(sent.duration_since(born)).ok();
    match () {
        () if !usages.contains(&"client auth") || usages.contains(&"server auth") => {
            Some("it is not for clients only".to_owned())
        }
        () if !asked.names.is_empty() || !asked.addresses.is_empty() => {
            Some("a client certificate has no names or addresses".to_owned())
        }
        // A renewal: the node itself asks, with the certificate that it has.
        () if itself => None,
        () if !newcomer => {
            let user = request.spec.username.as_deref().unwrap_or_default();
            Some(format!("{user} may not ask for a client certificate of {name}"))
        }
        () if surroundings.node_exists || machine.node_name().is_some() => Some(format!("{name} has a node already")),
        () if surroundings.approved_before => Some(format!("{name} has got its first certificate already")),
        () if !matches!(machine.phase(), Some(Phase::Provisioned)) || addresses(machine).next().is_none() => {
            Some(format!("the instance of {name} does not run yet"))
        }
        () => match age {
            None => Some(format!("it is older than machine {name}")),
            Some(age) if age > surroundings.join_window => Some(format!("machine {name} is too old to join")),
            Some(_) => None,
        },
    }
}

fn serving_refusal(asked: &Asked, machine: &Machine, user: &str, itself: bool, usages: &[&str]) -> Option<String> {
    let name = machine.name();
    if !itself {
        return Some(format!("{user} may not ask for a serving certificate of {name}"));
    }
    if !usages.contains(&"server auth") || usages.contains(&"client auth") {
        return Some("it is not for servers only".to_owned());
    }
    if asked.names.is_empty() && asked.addresses.is_empty() {
        return Some("it names nothing to serve".to_owned());
    }
    if let Some(foreign) = asked.names.iter().find(|asked| *asked != name) {
        return Some(format!("{foreign} is not a name of machine {name}"));
    }
    // Virtual addresses are not among a machine's own, so that no kubelet can pose as the API.
    let own: Vec<IpAddr> = addresses(machine).collect();
    let foreign = asked.addresses.iter().find(|address| !own.contains(address));
    foreign.map(|foreign| format!("{foreign} is not an address of machine {name}"))
}

fn addresses(machine: &Machine) -> impl Iterator<Item = IpAddr> + '_ {
    let all = machine.status.iter().flat_map(|status| &status.addresses);
    all.filter(|address| address.kind.ends_with("IP")).filter_map(|address| address.address.parse().ok())
}
