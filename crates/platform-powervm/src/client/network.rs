//! Virtual Ethernet.

use serde::Serialize;

use super::{UOM, atom::Entry, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// A virtual switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualSwitch {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// `Veb` or `Vepa`.
    pub mode: String,
}

/// A network: a VLAN that is used on a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualNetwork {
    /// Its name.
    pub name: String,
    /// The VLAN.
    pub vlan: u16,
    /// The number of the switch.
    pub switch: u32,
    /// Whether frames carry the VLAN's number.
    pub tagged: bool,
}

/// A bridge to the outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkBridge {
    /// Its id.
    pub id: String,
    /// The VLAN without a tag.
    pub vlan: u16,
    /// Whether one VIOS stands in for another.
    pub failover: bool,
    /// All VLANs that it carries.
    pub vlans: Vec<u16>,
}

/// An adapter of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientNetworkAdapter {
    /// Its id.
    pub id: String,
    /// Its hardware address: 12 digits.
    pub mac: String,
    /// Its VLAN.
    pub vlan: u16,
    /// Its slot.
    pub slot: u32,
    /// The number of its switch.
    pub switch: u32,
}

/// An adapter to be made.
#[derive(Clone, Debug)]
pub struct ClientNetworkAdapterSpec<'a> {
    /// Its VLAN.
    pub vlan: u16,
    /// The id of its switch.
    pub switch: &'a str,
    /// Its hardware address; the server makes one up otherwise.
    pub mac: Option<&'a str>,
}

impl ClientNetworkAdapter {
    fn read(entry: &Entry) -> Self {
        Self {
            id: entry.id.clone(),
            mac: entry.text("MACAddress"),
            vlan: entry.number("PortVLANID").unwrap_or_default(),
            slot: entry.number("VirtualSlotNumber").unwrap_or_default(),
            switch: entry.number("VirtualSwitchID").unwrap_or_default(),
        }
    }
}

impl NetworkBridge {
    fn read(entry: &Entry) -> Self {
        let groups = entry.object.child("LoadGroups").into_iter().flat_map(|list| list.all("LoadGroup"));
        let trunks = groups.filter_map(|group| group.child("TrunkAdapters")).flat_map(|list| list.all("TrunkAdapter"));
        let mut vlans: Vec<u16> = trunks
            .flat_map(|trunk| {
                let text = |name: &str| trunk.text_at(name).unwrap_or_default();
                let all = format!("{} {}", text("PortVLANID"), text("TaggedVLANIDs"));
                all.split_whitespace().filter_map(|vlan| vlan.parse().ok()).collect::<Vec<u16>>()
            })
            .collect();
        vlans.sort_unstable();
        vlans.dedup();
        Self {
            id: entry.id.clone(),
            vlan: entry.number("PortVLANID").unwrap_or_default(),
            failover: entry.is("FailoverEnabled"),
            vlans,
        }
    }
}

impl Client {
    /// The switches of a server.
    pub async fn switches(&self, system: &str) -> Result<Vec<VirtualSwitch>, Error> {
        let switch = |entry: &Entry| VirtualSwitch {
            id: entry.id.clone(),
            number: entry.number("SwitchID").unwrap_or_default(),
            name: entry.text("SwitchName"),
            mode: entry.text("SwitchMode"),
        };
        let feed = Path::entry("ManagedSystem", system).child("VirtualSwitch");
        Ok(self.feed(&feed).await?.iter().map(switch).collect())
    }

    /// The networks of a server.
    pub async fn networks(&self, system: &str) -> Result<Vec<VirtualNetwork>, Error> {
        let network = |entry: &Entry| VirtualNetwork {
            name: entry.text("NetworkName"),
            vlan: entry.number("NetworkVLANID").unwrap_or_default(),
            switch: entry.number("VswitchID").unwrap_or_default(),
            tagged: entry.is("TaggedNetwork"),
        };
        let feed = Path::entry("ManagedSystem", system).child("VirtualNetwork");
        Ok(self.feed(&feed).await?.iter().map(network).collect())
    }

    /// The bridges of a server.
    pub async fn bridges(&self, system: &str) -> Result<Vec<NetworkBridge>, Error> {
        let feed = Path::entry("ManagedSystem", system).child("NetworkBridge");
        Ok(self.feed(&feed).await?.iter().map(NetworkBridge::read).collect())
    }

    /// The adapters of a partition.
    pub async fn network_adapters(&self, partition: &str) -> Result<Vec<ClientNetworkAdapter>, Error> {
        let feed = Path::entry("LogicalPartition", partition).child("ClientNetworkAdapter");
        Ok(self.feed(&feed).await?.iter().map(ClientNetworkAdapter::read).collect())
    }

    /// Makes an adapter of a partition on a server.
    pub async fn create_network_adapter(
        &self,
        system: &str,
        partition: &str,
        spec: &ClientNetworkAdapterSpec<'_>,
    ) -> Result<ClientNetworkAdapter, Error> {
        let link =
            self.console().join(&format!("uom/ManagedSystem/{system}/VirtualSwitch/{}", spec.switch)).to_string();
        let mut adapter =
            Element::new("ClientNetworkAdapter").with_attribute("xmlns", UOM).with_attribute("schemaVersion", "V1_0");
        adapter.push(Element::new("Metadata").with(Element::new("Atom")));
        adapter.push(Element::text_of("UseNextAvailableSlotID", true));
        if let Some(mac) = spec.mac {
            adapter.push(Element::text_of("MACAddress", mac));
        }
        adapter.push(Element::text_of("PortVLANID", spec.vlan));
        let link = Element::new("link").with_attribute("href", &link).with_attribute("rel", "related");
        adapter.push(Element::new("AssociatedVirtualSwitch").with(link));
        let feed = Path::entry("LogicalPartition", partition).child("ClientNetworkAdapter");
        Ok(ClientNetworkAdapter::read(&self.create(&feed, &adapter).await?))
    }
}
