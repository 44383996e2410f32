//! What becomes of VPCs, subnets and gateways once their time is over.

use serde_json::json;

use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::state::{Documents, State};

/// Something is there, or gone.
pub(in crate::powervs) fn settled(cloud: &mut Cloud, kind: Kind, id: &str, gone: bool) {
    if gone {
        remove(&mut cloud.state, kind, id);
        return;
    }
    let name = documents(&mut cloud.state, kind).get(id).and_then(|own| own["name"].as_str()).map(str::to_owned);
    let Some(name) = name else { return };
    let status = match cloud.outcome(kind, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "failed",
        _ => "available",
    };
    let found = documents(&mut cloud.state, kind).get_mut(id);
    if let Some(document) = found.filter(|own| own["status"] == "pending") {
        document["status"] = json!(status);
    }
}

fn documents(state: &mut State, kind: Kind) -> &mut Documents {
    match kind {
        Kind::Vpc => &mut state.vpcs,
        Kind::Subnet => &mut state.subnets,
        _ => &mut state.public_gateways,
    }
}

/// Takes something away, and what goes with it.
fn remove(state: &mut State, kind: Kind, id: &str) {
    documents(state, kind).shift_remove(id);
    match kind {
        Kind::Vpc => {
            state.address_prefixes.retain(|_, prefix| prefix["vpc"] != id);
            state.security_groups.retain(|_, group| group["vpc"]["id"] != id);
        }
        Kind::PublicGateway => state.floating_ips.retain(|_, address| address["target"]["id"] != id),
        _ => {}
    }
}
