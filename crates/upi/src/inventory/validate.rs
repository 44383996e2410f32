//! What an inventory must not say.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use super::{Inventory, MachineKind};
use crate::Error;

impl Inventory {
    pub(super) fn validate(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::Inventory(text));
        let mut names = BTreeSet::new();
        let mut addresses: BTreeMap<IpAddr, &str> = BTreeMap::new();
        let mut macs: BTreeMap<&str, &str> = BTreeMap::new();
        for machine in &self.machines {
            let name = machine.name.as_str();
            if !is_label(name) {
                return wrong(format!("'{name}' is no host name: letters, digits and hyphens, at most 63"));
            }
            if !names.insert(name) {
                return wrong(format!("there are two machines called {name}"));
            }
            if !self.profiles.contains_key(&machine.profile) {
                return wrong(format!("{name} has profile '{}', which is not among the profiles", machine.profile));
            }
            if machine.addresses.is_empty() {
                return wrong(format!("{name} has no address"));
            }
            for address in &machine.addresses {
                if !self.network.subnets.iter().any(|subnet| subnet.cidr.contains(address)) {
                    return wrong(format!("{address} of {name} is in none of the subnets"));
                }
                if let Some(other) = addresses.insert(*address, name) {
                    return wrong(format!("{address} is given to both {other} and {name}"));
                }
            }
            if !machine.mac.is_empty() {
                if !is_mac(&machine.mac) {
                    return wrong(format!("'{}' of {name} is no hardware address like 56:6f:1a:00:00:01", machine.mac));
                }
                if let Some(other) = macs.insert(&machine.mac, name) {
                    return wrong(format!("{other} and {name} have the same hardware address"));
                }
            }
        }
        for subnet in &self.network.subnets {
            if !subnet.cidr.contains(&subnet.gateway) {
                return wrong(format!("gateway {} is not in {}", subnet.gateway, subnet.cidr));
            }
        }
        if let Some((name, _)) = self.profiles.iter().find(|(_, profile)| !profile.has_common_disks()) {
            return Err(Error::Disks { profile: name.clone() });
        }
        for group in &self.affinity_groups {
            if let Some(name) = group.machines.iter().find(|name| !names.contains(name.as_str())) {
                return wrong(format!("affinity group {} names {name}, which is not among the machines", group.name));
            }
        }
        match self.of_role(MachineKind::Bootstrap).count() {
            0 | 1 => {}
            _ => return wrong("there is more than one bootstrap machine".to_owned()),
        }
        if self.of_role(MachineKind::Master).next().is_none() {
            return wrong("there is no master".to_owned());
        }
        match self.load_balancers.len() {
            0 | 2 => Ok(()),
            other => wrong(format!("keepalived is set up on a pair of load balancers, not on {other}")),
        }
    }
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&text.len()) && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    parts.len() == 6 && parts.iter().all(|part| part.len() == 2 && u8::from_str_radix(part, 16).is_ok())
}
