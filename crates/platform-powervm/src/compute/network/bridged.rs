//! Adapters on VLANs that shared Ethernet adapters bridge.

use super::adapter::{self, AdapterSpec};
use super::ledger::Vlan;
use super::{switch, vlan};
use crate::client::VirtualSwitch;
use crate::compute::{Error, Host, Mac, PartitionId};

/// Connects a partition to a VLAN of a switch, and sees to it that the VLAN is bridged.
pub(super) async fn plug(
    host: &Host,
    partition: &PartitionId,
    mac: &Mac,
    exists: bool,
    name: &str,
    vlan: u16,
) -> Result<(), Error> {
    let found = switch(host, name).await?;
    if !exists {
        let spec = AdapterSpec { mac: Some(mac), vlan, switch: &found, trunk: None };
        adapter::create(host, &Host::path(partition), &spec).await?;
    }
    // Not before: whoever removes a VLAN goes by the adapters on it.
    vlan::bridge(host, Vlan { switch: found.number, number: vlan }).await
}

/// Sees to it that a VLAN of a switch is bridged, for an adapter that is on its way.
pub(super) async fn prepare(host: &Host, name: &str, vlan: u16) -> Result<(), Error> {
    let found = switch(host, name).await?;
    vlan::bridge(host, Vlan { switch: found.number, number: vlan }).await
}

async fn switch(host: &Host, name: &str) -> Result<VirtualSwitch, Error> {
    let found = switch::find(host, name).await?;
    found.ok_or_else(|| Error::Missing { what: format!("virtual switch {name}"), host: host.label() })
}
