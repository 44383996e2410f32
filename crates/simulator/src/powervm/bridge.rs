//! Shared Ethernet adapters and the bridges that they make up.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::ids;
use super::state::{Object, State};
use super::xml::Element;

/// The VLAN of the trunks that carry others, which nobody uses themselves.
const FIRST_ARBITRARY_VLAN: u16 = 4093;

/// How many VLANs a trunk carries, and how many trunks an adapter has.
const VLANS_OF_A_TRUNK: usize = 20;
const TRUNKS: usize = 16;

/// A shared adapter of a VIOS: its own VLAN on one trunk, all others on a second.
pub(crate) fn shared_adapter(
    location: &str,
    vios: &Object,
    path: &str,
    index: usize,
    count: usize,
    vlans: &[u16],
) -> Element {
    let number = vios.partition_id();
    let priority = (index + 1).to_string();
    let mut trunks = vec![trunk(location, number, 2, "1", &[], &priority, "ent4")];
    if !vlans.is_empty() {
        let vlans: Vec<String> = vlans.iter().map(u16::to_string).collect();
        let own = FIRST_ARBITRARY_VLAN.to_string();
        trunks.push(trunk(location, number, 3, &own, &vlans, &priority, "ent6"));
    }
    let plug = format!("U78D2.001.{}-P1-C7-T{}", ids::hex(&[location, "plug"], 7).to_uppercase(), index + 1);
    let device = Element::record(
        "EthernetBackingDevice",
        &[
            ("AdapterID", "1"),
            ("Description", "4-Port Gigabit Ethernet PCI-Express Adapter (e414571614102004)"),
            ("DeviceName", "ent0"),
            ("DeviceType", "physicalEthernetAdpter"),
            ("DynamicReconfigurationConnectorName", &plug),
            ("PhysicalLocation", &plug),
            ("UniqueDeviceID", &format!("13{plug}")),
        ],
    );
    let mut adapter = Element::record(
        "SharedEthernetAdapter",
        &[
            ("HighAvailabilityMode", if count > 1 { "auto" } else { "disabled" }),
            ("DeviceName", "ent5"),
            ("JumboFramesEnabled", "false"),
            ("PortVLANID", "1"),
            ("QualityOfServiceMode", "disabled"),
            ("QueueSize", "8192"),
            ("ThreadModeEnabled", "true"),
            ("UniqueDeviceID", &format!("10{}", ids::hex(&[location, path], 16))),
            ("LargeSend", "true"),
            ("IsPrimary", if index == 0 { "true" } else { "false" }),
            ("ConfigurationState", "Configured"),
        ],
    );
    adapter.put(Element::reference("AssignedVirtualIOServer", path));
    adapter.put(Element::of("BackingDeviceChoice", [device]));
    adapter.put(Element::of("TrunkAdapters", trunks));
    adapter
}

fn trunk(
    location: &str,
    partition: u32,
    slot: u32,
    own: &str,
    vlans: &[String],
    priority: &str,
    device: &str,
) -> Element {
    let place = format!("{location}-V{partition}-C{slot}");
    let mut trunk = Element::record(
        "TrunkAdapter",
        &[
            ("DynamicReconfigurationConnectorName", &place),
            ("LocationCode", &place),
            ("RequiredAdapter", "false"),
            ("VariedOn", "true"),
            ("LocalPartitionID", &partition.to_string()),
            ("VirtualSlotNumber", &slot.to_string()),
            ("AllowedOperatingSystemMACAddresses", "ALL"),
            ("MACAddress", &ids::mac(&[&place])),
            ("PortVLANID", own),
            ("QualityOfServicePriorityEnabled", "false"),
            ("TaggedVLANIDs", &vlans.join(" ")),
            ("TaggedVLANSupported", if vlans.is_empty() { "false" } else { "true" }),
            ("VirtualSwitchID", "0"),
            ("DeviceName", device),
            ("TrunkPriority", priority),
        ],
    );
    if vlans.is_empty() {
        trunk.remove("TaggedVLANIDs");
    }
    trunk
}

/// The VLANs of an adapter or a trunk: its own and those it carries.
pub(crate) fn vlans(adapter: &Element) -> impl Iterator<Item = u16> + '_ {
    let carried = adapter.text("TaggedVLANIDs").split_whitespace();
    std::iter::once(adapter.text("PortVLANID")).chain(carried).filter_map(|vlan| vlan.parse().ok())
}

/// Takes over what a client made of a bridge: trunks that are new get what the VIOS gives them.
pub(crate) fn update(state: &mut State, host: usize, id: &str, posted: &Element) -> Result<(), Fault> {
    let stored = state.of_kind(host, "NetworkBridge", id).ok_or_else(|| Fault::not_found("NetworkBridge", id))?.clone();
    let location = state.location(host);
    let mut adapters = Vec::new();
    let lists = (stored.element.child("SharedEthernetAdapters"), posted.child("SharedEthernetAdapters"));
    let (Some(old), Some(new)) = lists else {
        return Err(Fault::schema("SharedEthernetAdapters is missing."));
    };
    for adapter in &new.children {
        let vios = adapter.target("AssignedVirtualIOServer").unwrap_or_default();
        let same = |other: &&Element| {
            other.target("AssignedVirtualIOServer").is_some_and(|other| other.eq_ignore_ascii_case(vios))
        };
        let Some(known) = old.children.iter().find(same) else {
            return Err(Fault::refused(format!("VIOS01010001: There is no shared Ethernet adapter on VIOS {vios}.")));
        };
        let vios =
            state.of_kind(host, "VirtualIOServer", vios).ok_or_else(|| Fault::not_found("VirtualIOServer", vios))?;
        adapters.push(trunks(&location, vios, known, adapter)?);
    }
    if adapters.len() != old.children.len() {
        return Err(Fault::refused("VIOS01010002: A shared Ethernet adapter cannot be removed here."));
    }
    let taken = foreign_vlans(state, host, &stored.id);
    for adapter in &adapters {
        for trunk in adapter.child("TrunkAdapters").iter().flat_map(|list| &list.children) {
            if let Some(vlan) = vlans(trunk).find(|vlan| taken.contains(vlan)) {
                return Err(Fault::refused(format!("HSCL2912: VLAN {vlan} is bridged by another trunk adapter.")));
            }
        }
    }
    if let Some(bridge) = state.object_mut(host, &stored.id) {
        bridge.element.put(Element::of("SharedEthernetAdapters", adapters));
    }
    state.announce(host, "MODIFY_URI", &stored.id, "Other");
    Ok(())
}

fn trunks(location: &str, vios: &Object, known: &Element, posted: &Element) -> Result<Element, Fault> {
    let number = vios.partition_id();
    let mut result = Vec::new();
    let mut slots: BTreeSet<u32> = BTreeSet::new();
    let posted = posted.child("TrunkAdapters").map(|list| list.children.as_slice()).unwrap_or_default();
    let stored = known.child("TrunkAdapters").map(|list| list.children.as_slice()).unwrap_or_default();
    if posted.len() > TRUNKS {
        return Err(Fault::refused(format!("VIOS01010003: A shared Ethernet adapter has at most {TRUNKS} trunks.")));
    }
    slots.extend(stored.iter().filter_map(|trunk| trunk.number::<u32>("VirtualSlotNumber")));
    for trunk_posted in posted {
        let carried: Vec<String> = trunk_posted.text("TaggedVLANIDs").split_whitespace().map(str::to_owned).collect();
        if carried.len() > VLANS_OF_A_TRUNK {
            return Err(Fault::refused(format!("HSCL2913: A trunk carries at most {VLANS_OF_A_TRUNK} VLANs.")));
        }
        let slot = trunk_posted.number::<u32>("VirtualSlotNumber");
        let before = stored.iter().find(|trunk| slot.is_some() && trunk.number("VirtualSlotNumber") == slot);
        let mut made = before.cloned().unwrap_or_else(|| {
            let slot = (2..u32::MAX).find(|slot| !slots.contains(slot)).unwrap_or_default();
            slots.insert(slot);
            let priority = trunk_posted.text("TrunkPriority");
            trunk(location, number, slot, "1", &carried, priority, &format!("ent{}", slot + 10))
        });
        made.set("PortVLANID", trunk_posted.text("PortVLANID"));
        made.set("TaggedVLANSupported", !carried.is_empty());
        made.remove("TaggedVLANIDs");
        if !carried.is_empty() {
            made.set("TaggedVLANIDs", carried.join(" "));
        }
        result.push(made);
    }
    let first = |list: &[Element]| list.first().map(|trunk| trunk.text("VirtualSlotNumber").to_owned());
    if first(&result) != first(stored) {
        return Err(Fault::refused("VIOS01010004: The primary trunk of a shared Ethernet adapter cannot change."));
    }
    let mut adapter = known.clone();
    adapter.put(Element::of("TrunkAdapters", result));
    Ok(adapter)
}

/// VLANs that other bridges carry on the same switch.
fn foreign_vlans(state: &State, host: usize, own: &str) -> BTreeSet<u16> {
    let others = state.all(host, "NetworkBridge").filter(|bridge| bridge.id != own);
    others.flat_map(|bridge| all_trunks(&bridge.element).flat_map(vlans).collect::<Vec<_>>()).collect()
}

/// All trunks of a bridge.
pub(crate) fn all_trunks(bridge: &Element) -> impl Iterator<Item = &Element> {
    let adapters = bridge.child("SharedEthernetAdapters").into_iter().flat_map(|list| &list.children);
    adapters.filter_map(|adapter| adapter.child("TrunkAdapters")).flat_map(|list| &list.children)
}
