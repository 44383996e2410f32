//! Virtual NICs on SR-IOV ports.

use std::sync::Arc;

use crate::client::{Path, UOM, record};
use crate::compute::{Error, Host, Mac, PartitionId};
use crate::xml::Element;

const KIND: &str = "VirtualNICDedicated";

/// What a virtual NIC gets.
pub(super) struct Share<'a> {
    pub(super) physical_network: &'a str,
    pub(super) vlan: Option<u16>,
    pub(super) redundancy: usize,
    pub(super) capacity_percent: Option<f64>,
}

/// A physical port, on an adapter.
#[derive(Clone, Debug, PartialEq)]
struct Port {
    adapter: String,
    number: String,
    /// What others have of it, in percent.
    allocated: f64,
}

/// A VIOS that can back virtual NICs.
struct Backer {
    path: String,
}

/// Makes a virtual NIC, backed by as many ports as it wants: of different adapters and VIOSes as far as there are.
pub(super) async fn plug(host: &Arc<Host>, partition: &PartitionId, mac: &Mac, share: &Share<'_>) -> Result<(), Error> {
    // Two that choose ports at once would choose the same ones.
    let turn = host.turn("sriov-ports");
    let _turn = turn.lock().await;
    let system = Path::entry("ManagedSystem", &host.system().id);
    let feed = Path::feed("VirtualIOServer");
    let (system, vioses) = tokio::try_join!(host.client().entry(&system), host.client().feed(&feed))
        .map_err(|error| host.failed("reading the SR-IOV ports", error))?;
    let ports = ports(&system.object, share.physical_network);
    let backers: Vec<Backer> = vioses
        .iter()
        .filter(|vios| vios.is("IsVNICCapable") && vios.text("PartitionState") == "running")
        .filter(|vios| share.redundancy < 2 || vios.is("VNICFailOverCapable"))
        .map(|vios| Backer { path: host.client().link(&format!("uom/VirtualIOServer/{}", vios.id)) })
        .collect();
    let wanted = share.redundancy.max(1);
    let refused = |reason: String| Error::Refused {
        what: format!("virtual NIC {mac}"),
        host: host.label(),
        done: "made",
        reason,
    };
    if ports.len() < wanted {
        let reason = format!(
            "{wanted} ports labelled {} with a link are wanted, {} are there",
            share.physical_network,
            ports.len()
        );
        return Err(refused(reason));
    }
    if backers.is_empty() {
        return Err(refused("no VIOS that runs can back it".to_owned()));
    }
    let chosen = spread(ports, wanted);
    let feed = Host::path(partition).child(KIND);
    let made = host.client().create(&feed, &document(mac, share, &chosen, &backers)).await;
    made.map(drop).map_err(|error| host.failed(format!("making virtual NIC {mac}"), error))
}

/// Removes the virtual NICs of some addresses.
pub(super) async fn unplug(host: &Host, partition: &PartitionId, ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    let failed = |error| host.failed("deleting a virtual NIC", error);
    let feed = Host::path(partition).child(KIND);
    for vnic in host.client().feed(&feed).await.map_err(failed)? {
        if ours(&vnic.text("Details/MACAddress")) {
            host.client().delete(&feed.item(&vnic.id)).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// The addresses of a partition's virtual NICs.
pub(super) async fn addresses(host: &Host, partition: &PartitionId) -> Result<Vec<String>, Error> {
    let vnics = host.client().feed(&Host::path(partition).child(KIND)).await;
    let vnics = vnics.map_err(|error| host.failed("reading the virtual NICs", error))?;
    Ok(vnics.iter().map(|vnic| vnic.text("Details/MACAddress")).collect())
}

/// The ports of a label that have a link, on adapters that share them.
fn ports(system: &Element, label: &str) -> Vec<Port> {
    let choices = system.at("AssociatedSystemIOConfiguration/SRIOVAdapters").into_iter();
    let adapters =
        choices.flat_map(|list| list.all("IOAdapterChoice")).filter_map(|choice| choice.child("SRIOVAdapter"));
    let running = adapters.filter(|adapter| {
        adapter.text_at("AdapterMode").as_deref() == Some("Sriov")
            && adapter.text_at("AdapterState").as_deref() == Some("Running")
    });
    let mut found = Vec::new();
    for adapter in running {
        let lists = ["EthernetPhysicalPorts", "ConvergedEthernetPhysicalPorts"];
        for port in lists.iter().filter_map(|list| adapter.child(list)).flat_map(Element::elements) {
            let text = |name: &str| port.text_at(name).unwrap_or_default();
            if text("Label") == label && text("LinkStatus") == "true" {
                let allocated = text("AllocatedCapacity").trim_end_matches('%').parse().unwrap_or_default();
                let adapter = adapter.text_at("SRIOVAdapterID").unwrap_or_default();
                found.push(Port { adapter, number: text("PhysicalPortID"), allocated });
            }
        }
    }
    found
}

/// Chooses ports: one of each adapter before a second of any, and of those the ones that others use least.
fn spread(mut ports: Vec<Port>, wanted: usize) -> Vec<Port> {
    ports.sort_by(|a, b| a.allocated.total_cmp(&b.allocated));
    let mut chosen: Vec<Port> = Vec::new();
    while chosen.len() < wanted && !ports.is_empty() {
        let used = |port: &Port| chosen.iter().filter(|other| other.adapter == port.adapter).count();
        let least = ports.iter().map(used).min().unwrap_or_default();
        let index = ports.iter().position(|port| used(port) == least).unwrap_or_default();
        chosen.push(ports.remove(index));
    }
    chosen
}

fn document(mac: &Mac, share: &Share<'_>, ports: &[Port], backers: &[Backer]) -> Element {
    let mut details = record("Details", &[]);
    if let Some(vlan) = share.vlan {
        details.push(Element::text_of("PortVLANID", vlan));
    }
    details.push(Element::text_of("AllowedVLANIDs", if share.vlan.is_some() { "NONE" } else { "ALL" }));
    details.push(Element::text_of("MACAddress", mac.as_str()));
    details.push(Element::text_of("AllowedOperatingSystemMACAddresses", "NONE"));
    let mut devices = record("AssociatedBackingDevices", &[]);
    for (port, backer) in ports.iter().zip(backers.iter().cycle()) {
        let mut device = record("VirtualNICSRIOVBackingDevice", &[("DeviceType", &"SRIOV")]);
        device.push(
            Element::new("AssociatedVirtualIOServer")
                .with_attribute("href", &backer.path)
                .with_attribute("rel", "related"),
        );
        device.push(Element::text_of("RelatedSRIOVAdapterID", &port.adapter));
        if let Some(percent) = share.capacity_percent {
            device.push(Element::text_of("CurrentCapacityPercentage", format!("{percent:.2}%")));
        }
        device.push(Element::text_of("RelatedSRIOVPhysicalPortID", &port.number));
        devices.push(Element::new("VirtualNICBackingDeviceChoice").with(device));
    }
    Element::new(KIND)
        .with_attribute("xmlns", UOM)
        .with_attribute("schemaVersion", "V1_0")
        .with(Element::new("Metadata").with(Element::new("Atom")))
        .with(Element::text_of("UseNextAvailableSlotID", true))
        .with(details)
        .with(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(adapter: &str, number: &str, allocated: f64) -> Port {
        Port { adapter: adapter.to_owned(), number: number.to_owned(), allocated }
    }

    #[test]
    fn ports_of_different_adapters_come_first() {
        let ports = vec![port("1", "0", 0.0), port("1", "1", 0.0), port("2", "0", 40.0)];
        let chosen = spread(ports.clone(), 2);
        assert_eq!(chosen, [port("1", "0", 0.0), port("2", "0", 40.0)]);
        assert_eq!(spread(ports, 3).len(), 3);
    }
}
