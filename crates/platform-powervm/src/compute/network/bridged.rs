//! Adapters on VLANs that shared Ethernet adapters bridge.

use super::adapter::{self, AdapterSpec};
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
    let found = prepare(host, name, vlan).await?;
    if exists {
        return Ok(());
    }
    let spec = AdapterSpec { mac: Some(mac), vlan, switch: &found, trunk: None };
    adapter::create(host, &Host::path(partition), &spec).await
}

/// Sees to it that a VLAN of a switch is bridged. The switch.
pub(super) async fn prepare(host: &Host, name: &str, vlan: u16) -> Result<VirtualSwitch, Error> {
    let found = switch::find(host, name).await?;
    let found = found.ok_or_else(|| Error::Missing { what: format!("virtual switch {name}"), host: host.label() })?;
    vlan::bridge(host, &found, vlan).await?;
    Ok(found)
}
