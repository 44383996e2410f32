//! Virtual Ethernet adapters: those of partitions, and trunks of the management partition.

use serde::{Deserialize, Serialize};

use crate::client::{Path, UOM, VirtualSwitch};
use crate::compute::{Error, Host, Mac};
use crate::xml::Element;

/// An adapter as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Adapter {
    pub(super) id: String,
    pub(super) mac: String,
    pub(super) vlan: u16,
    /// Further VLANs of it.
    pub(super) tagged: Vec<u16>,
    /// The number of its switch.
    pub(super) switch: u32,
    /// Whether it carries VLANs for others.
    pub(super) is_trunk: bool,
    /// What Open vSwitch is told about it; empty for all but trunks.
    pub(super) external_ids: String,
}

/// An adapter to be made.
pub(super) struct AdapterSpec<'a> {
    pub(super) mac: Option<&'a Mac>,
    pub(super) vlan: u16,
    pub(super) switch: &'a VirtualSwitch,
    pub(super) trunk: Option<Trunk<'a>>,
}

/// The end of a link on the management partition.
pub(super) struct Trunk<'a> {
    pub(super) device: &'a str,
    pub(super) mtu: Option<u32>,
    pub(super) bridge: &'a str,
    pub(super) external_ids: &'a str,
}

/// The adapters of a partition.
pub(super) async fn of(host: &Host, owner: &Path) -> Result<Vec<Adapter>, Error> {
    let entries = host.client().feed(&owner.child("ClientNetworkAdapter")).await;
    let entries = entries.map_err(|error| host.failed(format!("reading the network adapters of {owner}"), error))?;
    let adapter = |entry: &crate::client::Entry| Adapter {
        id: entry.id.clone(),
        mac: entry.text("MACAddress"),
        vlan: entry.number("PortVLANID").unwrap_or_default(),
        tagged: entry.text("TaggedVLANIDs").split_whitespace().filter_map(|vlan| vlan.parse().ok()).collect(),
        switch: entry.number("VirtualSwitchID").unwrap_or_default(),
        is_trunk: entry.object.child("TrunkPriority").is_some(),
        external_ids: entry.text("OvsPortExternalIds"),
    };
    Ok(entries.iter().map(adapter).collect())
}

pub(super) async fn create(host: &Host, owner: &Path, spec: &AdapterSpec<'_>) -> Result<(), Error> {
    let made = host.client().create(&owner.child("ClientNetworkAdapter"), &document(host, spec)).await;
    made.map(drop).map_err(|error| host.failed(format!("making a network adapter of {owner}"), error))
}

pub(super) async fn delete(host: &Host, owner: &Path, adapter: &Adapter) -> Result<(), Error> {
    let deleted = host.client().delete(&owner.child("ClientNetworkAdapter").item(&adapter.id)).await;
    deleted.map_err(|error| host.failed(format!("deleting network adapter {} of {owner}", adapter.mac), error))
}

/// In the order of the schema.
fn document(host: &Host, spec: &AdapterSpec<'_>) -> Element {
    let path = format!("uom/ManagedSystem/{}/VirtualSwitch/{}", host.system().id, spec.switch.id);
    let link = Element::new("link").with_attribute("href", &host.client().link(&path)).with_attribute("rel", "related");
    let mut adapter =
        Element::new("ClientNetworkAdapter").with_attribute("xmlns", UOM).with_attribute("schemaVersion", "V1_0");
    adapter.push(Element::new("Metadata").with(Element::new("Atom")));
    adapter.push(Element::text_of("UseNextAvailableSlotID", true));
    if let Some(mac) = spec.mac {
        adapter.push(Element::text_of("MACAddress", mac.as_str()));
    }
    adapter.push(Element::text_of("PortVLANID", spec.vlan));
    adapter.push(Element::new("AssociatedVirtualSwitch").with(link));
    if let Some(trunk) = &spec.trunk {
        adapter.push(Element::text_of("DeviceName", trunk.device));
        adapter.push(Element::text_of("TrunkPriority", 1));
        if let Some(mtu) = trunk.mtu {
            adapter.push(Element::text_of("ConfiguredMTU", mtu));
        }
        adapter.push(Element::text_of("OvsBridge", trunk.bridge));
        adapter.push(Element::text_of("OvsPortExternalIds", trunk.external_ids));
    }
    adapter
}
