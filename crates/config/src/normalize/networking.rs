//! Old names in `networking`.

use serde_json::{Map, Value, json};

use super::Findings;
use crate::path;

const PARENT: &str = "networking";

pub(super) fn normalize(networking: &mut Map<String, Value>, findings: &mut Findings) {
    findings.rename(networking, PARENT, ("machineCIDR", "machineNetwork"), |cidr| json!([{ "cidr": cidr }]));
    findings.rename(networking, PARENT, ("serviceCIDR", "serviceNetwork"), |cidr| json!([cidr]));
    findings.rename(networking, PARENT, ("clusterNetworks", "clusterNetwork"), |networks| networks);
    findings.rename(networking, PARENT, ("type", "networkType"), |name| name);
    findings.single_to_list(networking, PARENT, "serviceNetwork");
    if let Some(Value::Array(networks)) = networking.get_mut("clusterNetwork") {
        for (i, network) in networks.iter_mut().enumerate() {
            if let Value::Object(network) = network {
                let path = path::index(&path::key(PARENT, "clusterNetwork"), i);
                findings.rename(network, &path, ("hostSubnetLength", "hostPrefix"), prefix_of_length);
            }
        }
    }
}

/// The old field counted the bits of the host's part; only IPv4 existed then.
fn prefix_of_length(length: Value) -> Value {
    match length.as_u64().and_then(|length| 32_u64.checked_sub(length)) {
        Some(prefix) => prefix.into(),
        None => length,
    }
}
