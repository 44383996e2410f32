//! Adapters that end in an Open vSwitch on the management partition.
//!
//! Each is a link of its own: a trunk on the management partition and an adapter of the partition, on a VLAN that nobody else uses, of
//! a switch that carries such links only. NovaLink puts the trunk's device into the Open vSwitch.

use std::collections::BTreeSet;

use super::adapter::{self, Adapter, AdapterSpec, Trunk};
use super::switch;
use crate::client::{Path, VirtualSwitch};
use crate::compute::{Error, Host, Mac, Network, Nic, PartitionId};

/// The switch of such links.
const SWITCH: &str = "NovaLinkVEABridge";
const VLANS: std::ops::Range<u16> = 1..4094;
/// Longer names are no names of devices.
const DEVICE_NAME: usize = 14;

/// A port of an Open vSwitch.
pub(super) struct Port<'a> {
    pub(super) bridge: &'a str,
    pub(super) id: &'a str,
    pub(super) mtu: Option<u32>,
}

impl Port<'_> {
    fn device(&self) -> String {
        format!("nic{}", self.id).chars().take(DEVICE_NAME).collect()
    }

    fn external_ids(&self, partition: &PartitionId, mac: &Mac) -> String {
        format!(
            "iface-id={},iface-status=active,attached-mac={},vm-uuid={}",
            self.id,
            mac.with_colons(),
            partition.as_str().to_lowercase()
        )
    }

    fn owns(&self, trunk: &Adapter) -> bool {
        has(trunk, "iface-id", self.id)
    }
}

/// Links a partition to the port. What is there of the link is used.
pub(super) async fn plug(
    host: &Host,
    partition: &PartitionId,
    mac: &Mac,
    exists: bool,
    port: &Port<'_>,
) -> Result<(), Error> {
    let vlan = prepare(host, partition, mac, port).await?;
    if exists {
        return Ok(());
    }
    let switch = switch::find_or_make(host, SWITCH).await?;
    let spec = AdapterSpec { mac: Some(mac), vlan, switch: &switch, trunk: None };
    adapter::create(host, &Host::path(partition), &spec).await
}

/// Makes the end of a link that is not the partition's, if it is not there. Its VLAN.
pub(super) async fn prepare(host: &Host, partition: &PartitionId, mac: &Mac, port: &Port<'_>) -> Result<u16, Error> {
    let management = host.management().await?;
    // Who looks for a free VLAN must have it before the next one looks.
    let _turn = host.vlans.lock().await;
    let switch = switch::find_or_make(host, SWITCH).await?;
    let trunks = adapter::of(host, &management).await?;
    match trunks.iter().find(|trunk| port.owns(trunk)) {
        Some(trunk) => Ok(trunk.vlan),
        None => make_trunk(host, &management, &switch, partition, mac, port).await,
    }
}

async fn make_trunk(
    host: &Host,
    management: &Path,
    switch: &VirtualSwitch,
    partition: &PartitionId,
    mac: &Mac,
    port: &Port<'_>,
) -> Result<u16, Error> {
    let networks = host.client().networks(&host.system().id).await;
    let networks = networks.map_err(|error| host.failed("reading the virtual networks", error))?;
    let used: BTreeSet<u16> =
        networks.iter().filter(|network| network.switch == switch.number).map(|network| network.vlan).collect();
    let full = || Error::Missing { what: format!("free VLAN on virtual switch {SWITCH}"), host: host.label() };
    let vlan = VLANS.clone().find(|vlan| !used.contains(vlan)).ok_or_else(full)?;
    let (device, external_ids) = (port.device(), port.external_ids(partition, mac));
    let trunk = Trunk { device: &device, mtu: port.mtu, bridge: port.bridge, external_ids: &external_ids };
    let spec = AdapterSpec { mac: None, vlan, switch, trunk: Some(trunk) };
    adapter::create(host, management, &spec).await?;
    Ok(vlan)
}

/// Removes trunks of a partition, which are known by its id and the address at their other end. Its own adapters are removed with
/// the others.
pub(super) async fn unplug(host: &Host, partition: &PartitionId, ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    for trunk in trunks(host, partition).await? {
        if value(&trunk, "attached-mac").is_none_or(|mac| ours(&mac.replace(':', ""))) {
            adapter::delete(host, &host.management().await?, &trunk).await?;
        }
    }
    Ok(())
}

/// The links of a partition, by their trunks: of one that was cut off while it was made, there may be nothing else.
pub(super) async fn found(host: &Host, partition: &PartitionId) -> Result<Vec<Nic>, Error> {
    let nic = |trunk: &Adapter| {
        let mac: Mac = value(trunk, "attached-mac")?.parse().ok()?;
        let port = value(trunk, "iface-id").unwrap_or_default().to_owned();
        Some(Nic { mac, network: Network::OpenVSwitch { bridge: String::new(), port, mtu: None } })
    };
    Ok(trunks(host, partition).await?.iter().filter_map(nic).collect())
}

async fn trunks(host: &Host, partition: &PartitionId) -> Result<Vec<Adapter>, Error> {
    // Who made a trunk has made its switch before.
    if switch::find_known(host, SWITCH).await?.is_none() {
        return Ok(Vec::new());
    }
    let mut trunks = adapter::of(host, &host.management().await?).await?;
    trunks.retain(|trunk| has(trunk, "vm-uuid", &partition.as_str().to_lowercase()));
    Ok(trunks)
}

/// Whether a trunk is known by a value to Open vSwitch.
fn has(trunk: &Adapter, key: &str, wanted: &str) -> bool {
    value(trunk, key) == Some(wanted)
}

/// What Open vSwitch knows of a trunk under a key.
fn value<'a>(trunk: &'a Adapter, key: &str) -> Option<&'a str> {
    trunk
        .external_ids
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .find(|(known, _)| *known == key)
        .map(|(_, value)| value)
}
