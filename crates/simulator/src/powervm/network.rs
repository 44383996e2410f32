//! Virtual Ethernet: switches, adapters, and the networks that follow from their use.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::Fault;
use super::state::{Object, State};
use super::xml::Element;
use super::{bridge, ids, partition};

/// Makes an adapter of a partition.
pub(crate) fn create_adapter(state: &mut State, host: usize, parent: &str, mut body: Element) -> Result<String, Fault> {
    let owner = state.object(host, parent).ok_or_else(|| Fault::not_found("partition", parent))?.clone();
    partition::can_change_adapters(&owner.element)?;
    let switch = body.target("AssociatedVirtualSwitch").unwrap_or_default().to_owned();
    let switch = state
        .of_kind(host, "VirtualSwitch", &switch)
        .or_else(|| state.all(host, "VirtualSwitch").find(|switch| switch.element.text("SwitchName") == "ETHERNET0"));
    let switch = switch.ok_or_else(|| Fault::refused("HSCL2901: There is no such virtual switch."))?.clone();
    let wanted = body.number::<u32>("VirtualSlotNumber");
    let taken = slots(state, host, &owner);
    if let Some(slot) = wanted.filter(|slot| taken.contains(slot)) {
        return Err(Fault::refused(format!("HSCL2902: The virtual slot {slot} is in use.")));
    }
    let most = owner.element.number("PartitionIOConfiguration/MaximumVirtualIOSlots").unwrap_or(64);
    let free = |slot: &u32| !taken.contains(slot);
    let slot = match wanted {
        Some(slot) => Some(slot),
        None if body.is("UseNextAvailableHighSlotID") => (2..most).rev().find(free),
        None => (2..most).find(free),
    };
    let slot = slot.ok_or_else(|| Fault::refused("HSCL2903: The partition has no virtual slot left."))?;
    let vlan: u16 = body.number("PortVLANID").unwrap_or_default();
    if !(1..=4094).contains(&vlan) {
        return Err(Fault::refused(format!("HSCL2904: '{}' is not a VLAN.", body.text("PortVLANID"))));
    }
    let number = owner.partition_id();
    let fresh = state.fresh();
    let mac = body.text("MACAddress").replace(':', "").to_uppercase();
    let mac = if mac.is_empty() { ids::mac(&[&state.hosts[host].name, &fresh]) } else { mac };
    if mac.len() != 12 || !mac.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(Fault::refused(format!("HSCL2905: '{mac}' is not a MAC address.")));
    }
    let place = format!("{}-V{number}-C{slot}", state.location(host));
    for name in ["UseNextAvailableSlotID", "UseNextAvailableHighSlotID"] {
        body.remove(name);
    }
    for (name, value) in [
        ("DynamicReconfigurationConnectorName", place.as_str()),
        ("LocationCode", &place),
        ("LocalPartitionID", &number.to_string()),
        ("VirtualSlotNumber", &slot.to_string()),
        ("Enabled", "true"),
        ("MACAddress", &mac),
        ("VirtualSwitchID", switch.element.text("SwitchID")),
    ] {
        body.set(name, value);
    }
    if body.child("TaggedVLANSupported").is_none() {
        body.set("TaggedVLANSupported", body.child("TaggedVLANIDs").is_some());
    }
    let link = state.path_of(host, &switch);
    body.put(Element::of("AssociatedVirtualSwitch", [Element::reference("link", link)]));
    let name = &state.hosts[host].name;
    let id = ids::uuid(&[name, "adapter", &fresh]);
    state.add(host, &id, Some(&owner.id), body);
    Ok(id)
}

/// The virtual slots of a partition that are in use: two of every partition are.
pub(crate) fn slots(state: &State, host: usize, partition: &Object) -> BTreeSet<u32> {
    let number = partition.partition_id();
    let own = state.objects(host).filter(|object| object.parent.as_deref() == Some(&partition.id));
    let mut taken: BTreeSet<u32> =
        own.filter_map(|adapter| adapter.element.number("VirtualSlotNumber")).chain([0, 1]).collect();
    for vios in state.all(host, "VirtualIOServer") {
        for list in ["VirtualSCSIMappings", "VirtualFibreChannelMappings"] {
            for mapping in vios.element.child(list).into_iter().flat_map(|list| &list.children) {
                let sides = ["ClientAdapter", "ServerAdapter"].into_iter().filter_map(|side| mapping.child(side));
                let own = sides.filter(|adapter| adapter.number("LocalPartitionID") == Some(number));
                taken.extend(own.filter_map(|adapter| adapter.number::<u32>("VirtualSlotNumber")));
            }
        }
    }
    for bridge in state.all(host, "NetworkBridge") {
        let own = bridge::all_trunks(&bridge.element).filter(|trunk| trunk.number("LocalPartitionID") == Some(number));
        taken.extend(own.filter_map(|trunk| trunk.number::<u32>("VirtualSlotNumber")));
    }
    taken
}

/// The networks of a host: one for every VLAN that is used on a switch.
pub(crate) fn networks(state: &State, host: usize) -> Vec<Object> {
    let mut used: BTreeMap<(String, u16), bool> = BTreeMap::new();
    let mut note = |adapter: &Element| {
        let switch = adapter.text("VirtualSwitchID").to_owned();
        for (index, vlan) in bridge::vlans(adapter).enumerate() {
            *used.entry((switch.clone(), vlan)).or_default() |= index > 0;
        }
    };
    state.all(host, "ClientNetworkAdapter").for_each(|adapter| note(&adapter.element));
    for bridge in state.all(host, "NetworkBridge") {
        bridge::all_trunks(&bridge.element).for_each(&mut note);
    }
    let network = |((switch, vlan), tagged): ((String, u16), bool)| {
        let object = state.all(host, "VirtualSwitch").find(|object| object.element.text("SwitchID") == switch)?;
        let name = object.element.text("SwitchName");
        let mut element = Element::record(
            "VirtualNetwork",
            &[
                ("NetworkName", &format!("VLAN{vlan}-{name}")),
                ("NetworkVLANID", &vlan.to_string()),
                ("VswitchID", &switch),
                ("TaggedNetwork", if tagged { "true" } else { "false" }),
            ],
        );
        element.put(Element::reference("AssociatedSwitch", state.path_of(host, object)));
        let id = network_id(state, host, &switch, vlan);
        Some(Object { id, parent: Some(state.hosts[host].system.clone()), created: 0, element })
    };
    used.into_iter().filter_map(network).collect()
}

/// The id of the network of a VLAN on a switch.
pub(crate) fn network_id(state: &State, host: usize, switch: &str, vlan: u16) -> String {
    ids::uuid(&[&state.hosts[host].name, "network", switch, &vlan.to_string()])
}

/// Links to the networks of VLANs.
pub(crate) fn links(state: &State, host: usize, switch: &str, vlans: impl Iterator<Item = u16>) -> Element {
    let system = &state.hosts[host].system;
    let link = |vlan| {
        let id = network_id(state, host, switch, vlan);
        Element::reference("link", format!("/rest/api/uom/ManagedSystem/{system}/VirtualNetwork/{id}"))
    };
    Element::of("VirtualNetworks", vlans.map(link))
}

/// Makes a switch.
pub(crate) fn create_switch(state: &mut State, host: usize, mut body: Element) -> Result<String, Fault> {
    let name = body.text("SwitchName").to_owned();
    if name.is_empty() {
        return Err(Fault::refused("HSCL2906: A virtual switch needs a name."));
    }
    let mut numbers = BTreeSet::new();
    for switch in state.all(host, "VirtualSwitch") {
        if switch.element.text("SwitchName") == name {
            return Err(Fault::refused(format!("HSCL2907: The virtual switch {name} exists already.")));
        }
        numbers.extend(switch.element.number::<u32>("SwitchID"));
    }
    body.set("SwitchID", (0..u32::MAX).find(|number| !numbers.contains(number)).unwrap_or_default());
    if body.child("SwitchMode").is_none() {
        body.set("SwitchMode", "Veb");
    }
    let (id, system) = (state.new_id(host, "switch"), state.hosts[host].system.clone());
    state.add(host, &id, Some(&system), body);
    Ok(id)
}

/// Deletes a switch that nobody uses.
pub(crate) fn delete_switch(state: &mut State, host: usize, id: &str) -> Result<(), Fault> {
    let number = state.object(host, id).map(|switch| switch.element.text("SwitchID").to_owned()).unwrap_or_default();
    if networks(state, host).iter().any(|network| network.element.text("VswitchID") == number) {
        return Err(Fault::refused("HSCL2908: The virtual switch is in use."));
    }
    state.remove(host, id);
    Ok(())
}
