//! The names for dnsmasq.

use std::collections::BTreeMap;

use landfall_assets::Cluster;

use super::{Record, Value};
use crate::text::Text;

/// A file for `/etc/dnsmasq.d`. The way back from an address is part of `host-record`.
pub(super) fn configuration(cluster: &Cluster<'_>, records: &[Record]) -> String {
    let domain = cluster.config.cluster_domain();
    let mut text = Text::default();
    text.line("# Written by landfall upi create; for /etc/dnsmasq.d.");
    text.line("# Nobody else is asked for names of the cluster.");
    text.line(format_args!("local=/{domain}/"));
    let mut hosts: Vec<&str> = Vec::new();
    let mut addresses: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for record in records {
        match &record.value {
            Value::Address(address) => {
                if let Some(parent) = record.name.strip_prefix("*.") {
                    text.line(format_args!("address=/{parent}/{address}"));
                    continue;
                }
                if !hosts.contains(&record.name.as_str()) {
                    hosts.push(&record.name);
                }
                addresses.entry(&record.name).or_default().push(address.to_string());
            }
            Value::Service { port, host } => {
                let (priority, weight) = (Value::PRIORITY, Value::WEIGHT);
                text.line(format_args!("srv-host={},{host},{port},{priority},{weight}", record.name));
            }
            Value::Pointer(_) => {}
        }
    }
    for host in hosts {
        text.line(format_args!("host-record={host},{}", addresses[host].join(",")));
    }
    text.finish()
}
