//! Which records the cluster needs.

use std::{fmt, net::IpAddr};

use landfall_assets::Cluster;
use serde::Serialize;

use super::reverse;
use crate::{Inventory, MachineKind};

/// Where etcd members of old releases talk to each other.
const ETCD_PORT: u16 = 2380;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Its name, without a dot at the end.
    pub name: String,
    /// What it says.
    pub value: Value,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// Where a name leads.
    Address(IpAddr),
    /// The name of an address.
    Pointer(String),
    /// Where a service is.
    Service {
        /// The port.
        port: u16,
        /// The host.
        host: String,
    },
}

impl Value {
    /// All hosts of a service are asked alike.
    pub const PRIORITY: u16 = 0;
    /// As often as each other.
    pub const WEIGHT: u16 = 10;

    /// The type of the record, as zone files spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Address(IpAddr::V4(_)) => "A",
            Self::Address(IpAddr::V6(_)) => "AAAA",
            Self::Pointer(_) => "PTR",
            Self::Service { .. } => "SRV",
        }
    }
}

/// As zone files spell it, with full names.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Pointer(name) => write!(f, "{name}."),
            Self::Service { port, host } => write!(f, "{} {} {port} {host}.", Self::PRIORITY, Self::WEIGHT),
        }
    }
}

/// All records of the cluster: the API for users and for machines, applications, and every machine forth and back.
pub fn records(cluster: &Cluster<'_>, inventory: &Inventory) -> Vec<Record> {
    let domain = &inventory.cluster_domain;
    let (api, ingress) = (cluster.config.api_vips(), cluster.config.ingress_vips());
    let mut records = Vec::new();
    for (label, addresses) in [("api", api), ("api-int", api), ("*.apps", ingress)] {
        let name = format!("{label}.{domain}");
        records.extend(addresses.iter().map(|address| Record { name: name.clone(), value: Value::Address(*address) }));
    }
    for machine in &inventory.machines {
        let name = inventory.host_name(machine);
        let forth =
            machine.addresses.iter().map(|address| Record { name: name.clone(), value: Value::Address(*address) });
        records.extend(forth);
    }
    if wants_etcd(cluster) {
        records.extend(etcd(inventory));
    }
    records.extend(api.iter().map(|address| pointer(*address, format!("api.{domain}"))));
    for machine in &inventory.machines {
        let back = machine.addresses.iter().map(|address| pointer(*address, inventory.host_name(machine)));
        records.extend(back);
    }
    records
}

fn pointer(address: IpAddr, name: String) -> Record {
    Record { name: reverse::name(address), value: Value::Pointer(name) }
}

/// OpenShift found its etcd members by SRV records until 4.3.
fn wants_etcd(cluster: &Cluster<'_>) -> bool {
    let version = cluster.config.version.as_deref().unwrap_or_default();
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    cluster.config.distribution.is_openshift()
        && matches!((numbers.next(), numbers.next()), (Some(4), Some(minor)) if minor < 4)
}

fn etcd(inventory: &Inventory) -> Vec<Record> {
    let domain = &inventory.cluster_domain;
    let masters = inventory.of_role(MachineKind::Master).enumerate();
    masters
        .flat_map(|(number, master)| {
            let host = format!("etcd-{number}.{domain}");
            let service = Record {
                name: format!("_etcd-server-ssl._tcp.{domain}"),
                value: Value::Service { port: ETCD_PORT, host: host.clone() },
            };
            let addresses = master.addresses.iter().map(|address| Value::Address(*address));
            let named = addresses.map(move |value| Record { name: host.clone(), value });
            named.chain(std::iter::once(service)).collect::<Vec<_>>()
        })
        .collect()
}

/// The records for people.
pub(super) fn table(records: &[Record]) -> String {
    let width = records.iter().map(|record| record.name.len()).max().unwrap_or_default();
    let line = |record: &Record| {
        let value = record.value.to_string();
        format!("{:width$}  {:4}  {}\n", record.name, record.value.kind(), value.trim_end_matches('.'))
    };
    records.iter().map(line).collect()
}
