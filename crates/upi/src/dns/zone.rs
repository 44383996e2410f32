//! Whole zones: the cluster's own, and those of the addresses.

use std::collections::BTreeMap;

use landfall_assets::Cluster;

use super::{Record, Value, reverse};
use crate::Inventory;

const TTL: u32 = 300;

/// A zone with its records.
pub(super) struct Zone {
    pub(super) name: String,
    records: Vec<Record>,
}

/// The zone of the cluster's domain, and those in which its addresses find their names.
pub(super) fn zones(cluster: &Cluster<'_>, inventory: &Inventory, records: &[Record]) -> Vec<Zone> {
    let is_forth = |record: &&Record| !matches!(record.value, Value::Pointer(_));
    let forth = records.iter().filter(is_forth).cloned().collect();
    let mut back: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    let api = cluster.config.api_vips().iter();
    for address in api.chain(inventory.machines.iter().flat_map(|machine| &machine.addresses)) {
        // A load balancer may be elsewhere, where the names of addresses are somebody else's business.
        let Some(subnet) = inventory.network.subnets.iter().find(|subnet| subnet.cidr.contains(address)) else {
            continue;
        };
        let name = reverse::name(*address);
        let found = records.iter().filter(|record| record.name == name).cloned();
        back.entry(reverse::zone(*address, subnet.cidr)).or_default().extend(found);
    }
    let own = Zone { name: inventory.cluster_domain.clone(), records: forth };
    std::iter::once(own).chain(back.into_iter().map(|(name, records)| Zone { name, records })).collect()
}

impl Zone {
    /// The zone file. The name server is one below the cluster's domain, at the address of the API: whoever serves the zone
    /// has one, and may write another name.
    pub(super) fn render(&self, cluster: &Cluster<'_>) -> String {
        let domain = cluster.config.cluster_domain();
        let server = format!("ns.{domain}.");
        let mut text = format!(
            "; Written by landfall upi create. Put the name and address of your name server in the place of ns.\n\
             $TTL {TTL}\n\
             @ IN SOA {server} hostmaster.{domain}. ( 1 3600 600 604800 60 )\n\
             @ IN NS {server}\n"
        );
        if self.name == domain {
            for address in cluster.config.api_vips() {
                text.push_str(&format!("ns IN {} {address}\n", Value::Address(*address).kind()));
            }
        }
        for record in &self.records {
            let name = record.name.strip_suffix(&format!(".{}", self.name)).unwrap_or(&record.name);
            text.push_str(&format!("{name} IN {} {}\n", record.value.kind(), record.value));
        }
        text
    }
}
