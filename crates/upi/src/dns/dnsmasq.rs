//! The names for dnsmasq.

use std::collections::BTreeMap;

use landfall_assets::Cluster;

use super::{Record, Value};

/// A file for `/etc/dnsmasq.d`. The way back from an address is part of `host-record`.
pub(super) fn configuration(cluster: &Cluster<'_>, records: &[Record]) -> String {
    let domain = cluster.config.cluster_domain();
    let mut text = format!(
        "# Written by landfall upi create; for /etc/dnsmasq.d.\n\
         # Nobody else is asked for names of the cluster.\n\
         local=/{domain}/\n"
    );
    let mut hosts: Vec<&str> = Vec::new();
    let mut addresses: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for record in records {
        match &record.value {
            Value::Address(address) => match record.name.strip_prefix("*.") {
                Some(parent) => text.push_str(&format!("address=/{parent}/{address}\n")),
                None => {
                    if !hosts.contains(&record.name.as_str()) {
                        hosts.push(&record.name);
                    }
                    addresses.entry(&record.name).or_default().push(address.to_string());
                }
            },
            Value::Service { port, host } => text.push_str(&format!("srv-host={},{host},{port},0,10\n", record.name)),
            Value::Pointer(_) => {}
        }
    }
    for host in hosts {
        text.push_str(&format!("host-record={host},{}\n", addresses[host].join(",")));
    }
    text
}
