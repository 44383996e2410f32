//! Kea.

use serde_json::{Value, json};

use super::{Reservation, name_servers};
use crate::{Inventory, Subnet};

/// The configuration for the subnets of one family: Kea serves the families by two programs.
pub(super) fn configuration(inventory: &Inventory, subnets: &[&Subnet], reserved: &[Reservation]) -> String {
    let v4 = subnets.iter().any(|subnet| subnet.cidr.addr().is_ipv4());
    let subnets: Vec<Value> = subnets
        .iter()
        .enumerate()
        .map(|(number, subnet)| self::subnet(inventory, number + 1, subnet, reserved))
        .collect();
    let body = json!({
        "interfaces-config": { "interfaces": ["*"] },
        "lease-database": { "type": "memfile", "persist": true },
        "valid-lifetime": 86400,
        (if v4 { "subnet4" } else { "subnet6" }): subnets,
    });
    let document = json!({ (if v4 { "Dhcp4" } else { "Dhcp6" }): body });
    serde_json::to_string_pretty(&document).expect("the keys are text") + "\n"
}

fn subnet(inventory: &Inventory, id: usize, subnet: &Subnet, reserved: &[Reservation]) -> Value {
    let v4 = subnet.cidr.addr().is_ipv4();
    let option = |name: &str, data: String| json!({ "name": name, "data": data });
    let servers = name_servers(inventory, v4).join(", ");
    let mut options = Vec::new();
    if v4 {
        options.push(option("routers", subnet.gateway.to_string()));
        options.push(option("domain-name", inventory.cluster_domain.clone()));
    } else {
        options.push(option("domain-search", inventory.cluster_domain.clone()));
    }
    if !servers.is_empty() {
        options.push(option(if v4 { "domain-name-servers" } else { "dns-servers" }, servers));
    }
    let reservations = reserved.iter().filter_map(|reservation| {
        let mac = reservation.mac.as_ref()?;
        let address = reservation.addresses.iter().find(|address| subnet.cidr.contains(*address))?;
        let mut entry = json!({ "hw-address": mac, "hostname": reservation.name });
        if v4 {
            entry["ip-address"] = address.to_string().into();
        } else {
            entry["ip-addresses"] = json!([address]);
        }
        Some(entry)
    });
    let mut entry = json!({
        "id": id,
        "subnet": subnet.cidr.trunc(),
        "option-data": options,
        "reservations": reservations.collect::<Vec<_>>(),
    });
    let interface = &inventory.network.dhcp_interface;
    if !v4 && !interface.is_empty() {
        entry["interface"] = interface.as_str().into();
    }
    entry
}
