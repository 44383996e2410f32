//! Network adapters of partitions, one file for each kind of network.

mod adapter;
mod attach;
mod bridged;
mod ledger;
mod open_vswitch;
mod sriov;
mod switch;
mod tidy;
mod vlan;

use std::sync::Arc;

use landfall_platform::ErrorClass;
use serde::{Deserialize, Serialize};

use super::{Error, Host, Mac, Network, Nic, PartitionId, fresh::Part};
use adapter::Adapter;

pub use attach::{attach_nic, detach_nic};
pub(super) use ledger::Ledger;

/// The adapters of a partition, in the order in which its operating system shall see them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NicsSpec {
    pub(super) partition: PartitionId,
    pub(super) nics: Vec<Nic>,
    /// All virtual Ethernet adapters of the partition, if somebody has looked who removes it as a whole.
    #[serde(default)]
    pub(super) seen: Option<Vec<Adapter>>,
}

impl NicsSpec {
    pub(super) fn of(partition: &PartitionId, nics: Vec<Nic>) -> Self {
        Self { partition: partition.clone(), nics, seen: None }
    }
}

/// Makes those adapters that are missing, one after the other: slots, and with them the order, are given as they come.
pub(super) async fn ensure(host: &Arc<Host>, spec: &NicsSpec) -> Result<(), Error> {
    let present = if host.fresh.begin(&spec.partition, Part::Adapters) {
        Vec::new()
    } else {
        present(host, &spec.partition, spec.nics.iter().any(|nic| is_sriov(&nic.network))).await?
    };
    for nic in &spec.nics {
        let partition = &spec.partition;
        let exists = present.contains(&nic.mac);
        match &nic.network {
            Network::Bridged { switch, vlan } => {
                bridged::plug(host, partition, &nic.mac, exists, switch, *vlan).await?;
            }
            Network::OpenVSwitch { bridge, port, mtu } => {
                let port = open_vswitch::Port { bridge, id: port, mtu: *mtu };
                open_vswitch::plug(host, partition, &nic.mac, exists, &port).await?;
            }
            Network::Sriov { .. } if exists => {}
            Network::Sriov { physical_network, vlan, redundancy, capacity_percent } => {
                let share = sriov::Share {
                    physical_network,
                    vlan: *vlan,
                    redundancy: *redundancy,
                    capacity_percent: *capacity_percent,
                };
                sriov::plug(host, partition, &nic.mac, &share).await?;
            }
        }
    }
    Ok(())
}

/// Makes what adapters need of a server that the partition is not on yet: VLANs that are bridged, and the other ends of links to an Open
/// vSwitch. The VLANs of those.
pub(super) async fn prepare(host: &Arc<Host>, spec: &NicsSpec) -> Result<Vec<(Mac, u16)>, Error> {
    let mut vlans = Vec::new();
    for nic in &spec.nics {
        match &nic.network {
            Network::Bridged { switch, vlan } => bridged::prepare(host, switch, *vlan).await?,
            Network::OpenVSwitch { bridge, port, mtu } => {
                let port = open_vswitch::Port { bridge, id: port, mtu: *mtu };
                vlans.push((nic.mac.clone(), open_vswitch::prepare(host, &spec.partition, &nic.mac, &port).await?));
            }
            Network::Sriov { .. } => {}
        }
    }
    Ok(vlans)
}

/// Sees to it that the VLANs of a partition that has come are bridged: while it was on its way it had no adapter on them here, and
/// somebody may have removed them.
pub(super) async fn settle(host: &Host, partition: &PartitionId) -> Result<(), Error> {
    for adapter in adapter::of(host, &Host::path(partition)).await? {
        vlan::bridge(host, ledger::Vlan { switch: adapter.switch, number: adapter.vlan }).await?;
    }
    Ok(())
}

/// Removes the adapters with what they have elsewhere, and VLANs that were added for them. A partition that is gone has none.
pub(super) async fn remove(host: &Arc<Host>, spec: &NicsSpec) -> Result<(), Error> {
    unplug(host, spec).await?;
    let vlan = |nic: &Nic| match nic.network {
        Network::Bridged { vlan, .. } => Some(vlan),
        _ => None,
    };
    tidy::tidy(host, &spec.nics.iter().filter_map(vlan).collect()).await
}

async fn unplug(host: &Arc<Host>, spec: &NicsSpec) -> Result<(), Error> {
    let ours = |mac: &str| spec.nics.iter().any(|nic| mac.eq_ignore_ascii_case(nic.mac.as_str()));
    if spec.nics.iter().any(|nic| matches!(nic.network, Network::OpenVSwitch { .. })) {
        open_vswitch::unplug(host, &spec.partition, ours).await?;
    }
    let adapters = match &spec.seen {
        Some(seen) => seen.clone(),
        None => match adapter::of(host, &Host::path(&spec.partition)).await {
            Err(error) if error.class() == ErrorClass::NotFound => return Ok(()),
            adapters => adapters?,
        },
    };
    for adapter in adapters {
        if ours(&adapter.mac) {
            adapter::delete(host, &Host::path(&spec.partition), &adapter).await?;
        }
    }
    if spec.nics.iter().any(|nic| is_sriov(&nic.network)) {
        sriov::unplug(host, &spec.partition, ours).await?;
    }
    Ok(())
}

/// The adapters that a partition has, whoever made them, and links to an Open vSwitch of which only the other end was made.
pub(super) async fn found(host: &Arc<Host>, partition: &PartitionId) -> Result<NicsSpec, Error> {
    let mut nics = open_vswitch::found(host, partition).await?;
    let mac = |text: &str| text.parse::<Mac>().ok();
    let adapters = adapter::of(host, &Host::path(partition)).await?;
    for adapter in &adapters {
        let network = Network::Bridged { switch: String::new(), vlan: adapter.vlan };
        let mac = mac(&adapter.mac).filter(|mac| !nics.iter().any(|nic| nic.mac == *mac));
        nics.extend(mac.map(|mac| Nic { mac, network }));
    }
    for address in sriov::addresses(host, partition).await? {
        let network =
            Network::Sriov { physical_network: String::new(), vlan: None, redundancy: 0, capacity_percent: None };
        nics.extend(mac(&address).map(|mac| Nic { mac, network }));
    }
    Ok(NicsSpec { partition: partition.clone(), nics, seen: Some(adapters) })
}

async fn present(host: &Arc<Host>, partition: &PartitionId, with_sriov: bool) -> Result<Vec<Mac>, Error> {
    let adapters = adapter::of(host, &Host::path(partition)).await?;
    let mut found: Vec<Mac> = adapters.iter().filter_map(|adapter| adapter.mac.parse().ok()).collect();
    if with_sriov {
        found.extend(sriov::addresses(host, partition).await?.iter().filter_map(|mac| mac.parse().ok()));
    }
    Ok(found)
}

fn is_sriov(network: &Network) -> bool {
    matches!(network, Network::Sriov { .. })
}
