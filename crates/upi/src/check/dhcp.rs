//! Reservations, compared with the machines that exist.

use std::collections::BTreeMap;

use landfall_platform::Finding;

use crate::{Inventory, Machine, Made, Reservation};

const CHECK: &str = "dhcp";

/// Compares reservations with the machines of the engine. `source` is where the reservations stand.
pub fn dhcp(inventory: &Inventory, made: &Made, source: &str, reservations: &[Reservation]) -> Vec<Finding> {
    if inventory.network.is_static {
        return vec![Finding::ok(CHECK, "the machines have static addresses and need no reservation")];
    }
    let mut findings = twice(source, reservations);
    for machine in &inventory.machines {
        findings.extend(of_machine(machine, made, source, reservations));
    }
    if findings.is_empty() {
        let count = inventory.machines.len();
        findings.push(Finding::ok(CHECK, format!("{source} reserves the right addresses for all {count} machines")));
    }
    findings
}

fn of_machine(machine: &Machine, made: &Made, source: &str, reservations: &[Reservation]) -> Option<Finding> {
    let name = &machine.name;
    let Some(mac) = made.mac(name) else {
        let text = format!("the engine has no machine {name}, so nothing can be said about its reservation");
        return Some(Finding::problem(CHECK, text, "ansible-playbook -i inventory.yml vms.yml"));
    };
    let line = format!("dhcp-host={mac},{},{name}", joined(machine));
    let Some(reservation) = reservations.iter().find(|reservation| reservation.mac.as_deref() == Some(mac)) else {
        let by_name = reservations.iter().find(|reservation| reservation.name == *name);
        let text = match by_name.and_then(|reservation| reservation.mac.as_ref()) {
            Some(other) => {
                format!("{source} reserves for {name} with hardware address {other}, and the machine has {mac}")
            }
            None => format!("{source} has no reservation for {name} ({mac})"),
        };
        return Some(Finding::problem(CHECK, text, line));
    };
    if reservation.name != *name {
        let text = format!("{source} gives {name} ({mac}) the name '{}'", reservation.name);
        return Some(Finding::problem(CHECK, text, line));
    }
    // A server of one family knows addresses of that family only.
    let missing: Vec<_> = machine
        .addresses
        .iter()
        .filter(|address| reservation.addresses.iter().any(|other| other.is_ipv4() == address.is_ipv4()))
        .filter(|address| !reservation.addresses.contains(address))
        .collect();
    if reservation.addresses.is_empty() || !missing.is_empty() {
        let given: Vec<String> = reservation.addresses.iter().map(ToString::to_string).collect();
        let text = format!("{source} gives {name} {} instead of {}", given.join(", "), joined(machine));
        return Some(Finding::problem(CHECK, text, line));
    }
    None
}

/// Addresses and hardware addresses that are reserved twice.
fn twice(source: &str, reservations: &[Reservation]) -> Vec<Finding> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for reservation in reservations {
        let macs = reservation.mac.iter().cloned();
        for key in macs.chain(reservation.addresses.iter().map(ToString::to_string)) {
            if let Some(other) = taken.insert(key.clone(), &reservation.name) {
                let text = format!("{source} reserves {key} twice, for {other} and {}", reservation.name);
                findings.push(Finding::problem(CHECK, text, format!("remove one of the two lines with {key}")));
            }
        }
    }
    findings
}

/// Compares the addresses that running machines report with those that were meant for them.
pub fn dhcp_addresses(inventory: &Inventory, reported: &BTreeMap<String, Vec<std::net::IpAddr>>) -> Vec<Finding> {
    let machines = inventory.machines.iter();
    let wrong = machines.filter_map(|machine| {
        let seen = reported.get(&machine.name).filter(|seen| !seen.is_empty())?;
        let missing = machine.addresses.iter().find(|address| !seen.contains(address))?;
        let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
        let text = format!("{} runs at {} instead of {missing}", machine.name, seen.join(", "));
        let hint =
            "another DHCP server was faster, or the machine booted before its reservation: correct it, then reboot";
        Some(Finding::problem(CHECK, text, hint))
    });
    wrong.collect()
}

fn joined(machine: &Machine) -> String {
    let addresses = machine.addresses.iter().map(|address| match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    });
    addresses.collect::<Vec<_>>().join(",")
}
