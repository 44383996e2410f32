//! The provider spec of machines on Packet.

use landfall_config::{
    MachinePool, Role,
    packet::{Endpoint, Os, Platform},
};
use serde_json::{Value, json};

use super::{credentials, user_data};
use crate::{Cluster, onprem::boot_script_url};

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
        ("sshKeys", json!(ssh_keys(cluster, platform))),
        ("users", json!(platform.console_users)),
    ] {
        if value.as_array().is_some_and(|list| !list.is_empty()) {
            spec[key] = value;
        }
    }
    if let Some(url) = boot_script_url(cluster) {
        spec["ipxeScriptURL"] = json!(url);
    }
    if let Some(spot) = resolved.spot {
        spec["spotPriceMax"] = json!(spot.max_price());
    }
    spec
}

/// SSH keys for consoles: ids, and the labels of those that the installation adds to the project.
fn ssh_keys(cluster: &Cluster<'_>, platform: &Platform) -> Vec<String> {
    let own = cluster.config.ssh_key.as_deref().filter(|_| platform.project_ssh_keys).unwrap_or_default();
    let own = own.lines().filter(|key| !key.trim().is_empty()).enumerate();
    let own = own.map(|(number, _)| format!("{}-key-{number}", cluster.infra_id));
    platform.console_ssh_keys.iter().map(ToString::to_string).chain(own).collect()
}
