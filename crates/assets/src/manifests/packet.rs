//! The provider spec of machines on Packet.

use landfall_config::{
    MachinePool, Role,
    packet::{Endpoint, Os, Platform},
};
use serde_json::{Value, json};

use super::{credentials, user_data};
use crate::Cluster;

/// The provider spec of a pool. The fields are those of `PacketMachineSpec`, and lists where machines have a choice.
pub(super) fn provider_spec(cluster: &Cluster<'_>, platform: &Platform, pool: &MachinePool, role: Role) -> Value {
    let resolved = cluster.config.packet_pool(pool);
    let mut spec = json!({
        "apiVersion": "packetproviderconfig.machine.openshift.io/v1beta1",
        "kind": "PacketMachineProviderSpec",
        "userDataSecret": { "name": user_data::secret_name(role) },
        "credentialsSecret": { "name": credentials::secret_name(cluster) },
        "machineTypes": resolved.plans,
        "os": match &platform.os {
            Os::Ipxe(_) => "custom_ipxe",
            Os::Slug(slug) => slug,
        },
        "billingCycle": platform.billing_cycle,
        "tags": platform.tags,
        "ipv6": platform.ipv6,
        "publicIPv4": resolved.public_ipv4,
        "virtualNetworks": platform
            .virtual_networks
            .iter()
            .map(|network| network.id.map_or_else(|| network.name.clone(), |id| id.to_string()))
            .collect::<Vec<_>>(),
        "bgp": platform.endpoint == Endpoint::Bgp,
    });
    for (key, value) in [
        ("metros", json!(platform.metros)),
        ("facilities", json!(platform.facilities)),
        ("hardwareReservationIDs", json!(resolved.hardware_reservations)),
        ("sshKeys", json!(platform.console_ssh_keys)),
    ] {
        if value.as_array().is_some_and(|list| !list.is_empty()) {
            spec[key] = value;
        }
    }
    if let Some(spot) = resolved.spot {
        spec["spotPriceMax"] = json!(spot.max_price());
    }
    spec
}
