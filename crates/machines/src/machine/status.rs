//! What is so about a machine: a pure function of what is known.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::Node;
use landfall_machine_api::{
    Address, DRAINABLE, ErrorReason, LastOperation, MachineStatus, NodeReference, Phase, TERMINABLE, set_condition,
};
use landfall_platform::{Machine as Instance, error_chain};
use serde_json::json;

use super::{
    CREATED, INSTANCE_EXISTS,
    operations::{Kind, Standing},
    refusals::Refusal,
};
use crate::{Machine, nodes, platforms::Sight};

/// Why a machine is given up.
pub(crate) struct Failure {
    pub(crate) reason: ErrorReason,
    pub(crate) message: String,
}

/// What is known of a machine, for its status.
pub(crate) struct Facts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) sight: &'a Sight,
    pub(crate) node: Option<&'a Node>,
    pub(crate) standing: &'a Standing,
    pub(crate) failure: Option<Failure>,
    /// The last refusal of its creation, if it waits for the next attempt.
    pub(crate) refusal: Option<Refusal>,
    pub(crate) virtual_addresses: &'a [IpAddr],
    pub(crate) now: String,
}

/// The status of a machine. Equal to the one that it has, if nothing changed.
pub(crate) fn status(facts: &Facts<'_>) -> MachineStatus {
    let Facts { machine, sight, node, standing, failure, refusal, virtual_addresses, now } = facts;
    let before = machine.status.clone().unwrap_or_default();
    let mut after = before.clone();
    if let Sight::There(instance) = sight {
        after.addresses = addresses(instance, virtual_addresses);
        if !after.provider_status.is_object() {
            after.provider_status = json!({});
        }
        after.provider_status["instanceId"] = instance.id.as_str().into();
        after.provider_status["instanceState"] = instance.state.as_str().into();
    }
    after.node_ref = match node {
        Some(node) => Some(NodeReference {
            kind: "Node".to_owned(),
            name: nodes::name(node).to_owned(),
            uid: node.metadata.uid.clone().unwrap_or_default(),
        }),
        // A node that is gone is what health checks look for.
        None => after.node_ref,
    };
    if let Some(Failure { reason, message }) = failure {
        after.error_reason = Some(*reason);
        after.error_message = Some(message.clone());
    }
    after.phase = Some(phase(machine, &after));
    match sight {
        Sight::There(instance) => {
            set_condition(&mut after.conditions, INSTANCE_EXISTS, true, "Exists", &instance.state, now);
        }
        Sight::Absent if machine.provider_id().is_some() => {
            let message = "the platform does not know the instance";
            set_condition(&mut after.conditions, INSTANCE_EXISTS, false, "Missing", message, now);
        }
        Sight::Absent | Sight::Unknown => {}
    }
    let hooks = &machine.spec.lifecycle_hooks;
    for (kind, holders) in [(DRAINABLE, &hooks.pre_drain), (TERMINABLE, &hooks.pre_terminate)] {
        if holders.is_empty() && after.conditions.iter().any(|condition| condition.kind == kind) {
            set_condition(&mut after.conditions, kind, true, "NoHooks", "", now);
        }
    }
    match refusal {
        Some(refusal) => {
            let message = format!("refused {} times, last: {}", refusal.failures, refusal.text);
            set_condition(&mut after.conditions, CREATED, false, refusal.reason(), &message, now);
        }
        // Machines that were never refused need no word about it.
        None if machine.provider_id().is_some() && after.conditions.iter().any(|known| known.kind == CREATED) => {
            set_condition(&mut after.conditions, CREATED, true, "Created", "", now);
        }
        None => {}
    }
    operation(&mut after, standing, now);
    if after != before {
        after.last_updated = Some(now.clone());
    }
    after
}

fn phase(machine: &Machine, status: &MachineStatus) -> Phase {
    match () {
        () if machine.is_deleting() => Phase::Deleting,
        () if status.error_reason.is_some() => Phase::Failed,
        () if machine.provider_id().is_none() => Phase::Provisioning,
        () if status.node_ref.is_some() => Phase::Running,
        () => Phase::Provisioned,
    }
}

fn operation(status: &mut MachineStatus, standing: &Standing, now: &str) {
    let (kind, state, description) = match standing {
        Standing::Idle => return,
        Standing::Waiting(kind) => (kind, "Processing", "waiting for its turn".to_owned()),
        Standing::Busy(kind, progress) => (kind, "Processing", progress.clone()),
        Standing::Ended(kind @ Kind::Clear, Ok(_)) => {
            (kind, "Processing", "waiting whether a creation that was cut off still comes through".to_owned())
        }
        Standing::Ended(kind, Ok(_)) => (kind, "Successful", String::new()),
        Standing::Ended(kind, Err(error)) => (kind, "Failed", error_chain(&**error)),
    };
    let same = status.last_operation.as_ref().is_some_and(|last| {
        (last.kind.as_str(), last.state.as_str(), &last.description) == (kind.name(), state, &description)
    });
    if !same {
        status.last_operation = Some(LastOperation {
            kind: kind.name().to_owned(),
            state: state.to_owned(),
            description,
            last_updated: now.to_owned(),
        });
    }
}

/// The addresses of a machine: those that its guest reports, without the cluster's virtual ones, and its name.
fn addresses(instance: &Instance, virtual_addresses: &[IpAddr]) -> Vec<Address> {
    let own = |address: &&IpAddr| {
        let link_local = match address {
            IpAddr::V4(address) => address.is_link_local() || address.is_loopback(),
            IpAddr::V6(address) => address.is_unicast_link_local() || address.is_loopback(),
        };
        !link_local && !virtual_addresses.contains(address)
    };
    let address = |kind: &str, address: String| Address { kind: kind.to_owned(), address };
    let reported = instance.addresses.iter().filter(own).map(|ip| address("InternalIP", ip.to_string()));
    let names = ["InternalDNS", "Hostname"].map(|kind| address(kind, instance.name.clone()));
    reported.chain(names).collect()
}
