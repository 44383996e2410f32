//! Fibre Channel: ports of a VIOS, and their virtual ones for partitions.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::network::slots;
use super::state::{Object, State};
use super::xml::Element;
use super::{ids, partition};

/// A port of a VIOS, with room for so many virtual ones.
pub(crate) fn port((host, vios): (&str, &str), serial: &str, slot: u32, number: u32, virtual_ports: u32) -> Element {
    let place = format!("U78D2.001.{serial}-P1-C{slot}-T{}", number + 1);
    let wwpn = format!("100000{}", ids::hex(&[host, vios, "wwpn", &number.to_string()], 10).to_uppercase());
    Element::record(
        "PhysicalFibreChannelPort",
        &[
            ("LocationCode", &place),
            ("PortName", &format!("fcs{number}")),
            ("UniqueDeviceID", &format!("1a{place}")),
            ("WWPN", &wwpn),
            ("AvailablePorts", &virtual_ports.to_string()),
            ("TotalPorts", &virtual_ports.to_string()),
        ],
    )
}

/// The slot with the adapter that has the ports.
pub(crate) fn slot(serial: &str, slot: u32, ports: impl Iterator<Item = Element>) -> Element {
    let place = format!("U78D2.001.{serial}-P1-C{slot}");
    let mut adapter = Element::record(
        "PhysicalFibreChannelAdapter",
        &[
            ("AdapterID", &(553_713_664 + slot).to_string()),
            ("Description", "8 Gigabit PCI Express Dual Port Fibre Channel Adapter"),
            ("DeviceName", &place),
            ("DynamicReconfigurationConnectorName", &place),
            ("PhysicalLocation", &format!("C{slot}")),
        ],
    );
    adapter.put(Element::of("PhysicalFibreChannelPorts", ports));
    let mut io_slot = Element::record(
        "AssociatedIOSlot",
        &[
            ("BusGroupingRequired", "false"),
            ("Description", "8 Gigabit PCI Express Dual Port Fibre Channel Adapter"),
            ("IOUnitPhysicalLocation", &format!("U78D2.001.{serial}")),
            ("PCAdapterID", "9522"),
            ("PCIClass", "3076"),
            ("PCIDeviceID", "9522"),
            ("PCISubsystemDeviceID", "906"),
            ("PCIRevisionID", "2"),
            ("PCIVendorID", "4215"),
            ("PCISubsystemVendorID", "4116"),
            ("SlotDynamicReconfigurationConnectorIndex", &(553_713_664 + slot).to_string()),
            ("SlotDynamicReconfigurationConnectorName", &place),
            ("SlotPhysicalLocationCode", &format!("C{slot}")),
        ],
    );
    io_slot.put(Element::of("RelatedIOAdapter", [adapter]));
    Element::of("ProfileIOSlot", [io_slot, Element::leaf("IsRequired", "false")])
}

/// The ports of a VIOS.
pub(crate) fn ports(vios: &Element) -> impl Iterator<Item = &Element> {
    let slots = vios.at("PartitionIOConfiguration/ProfileIOSlots").into_iter().flat_map(|list| &list.children);
    slots
        .filter_map(|slot| {
            slot.at("AssociatedIOSlot/RelatedIOAdapter/PhysicalFibreChannelAdapter/PhysicalFibreChannelPorts")
        })
        .flat_map(|list| &list.children)
}

/// Takes over what a client made of the mappings of a VIOS.
pub(crate) fn update(state: &mut State, host: usize, vios_id: &str, posted: &Element) -> Result<(), Fault> {
    let vios = state
        .of_kind(host, "VirtualIOServer", vios_id)
        .ok_or_else(|| Fault::not_found("VirtualIOServer", vios_id))?
        .clone();
    let stored = vios.element.child("VirtualFibreChannelMappings").cloned().unwrap_or_default();
    let slot_of = |mapping: &Element| mapping.number::<u32>("ServerAdapter/VirtualSlotNumber");
    let mut result: Vec<Element> = Vec::new();
    let mut new = Vec::new();
    for mapping in &posted.children {
        match stored.children.iter().find(|known| slot_of(known).is_some() && slot_of(known) == slot_of(mapping)) {
            Some(known) => result.push(known.clone()),
            None => new.push(mapping),
        }
    }
    let changed = result.len() != stored.children.len() || !new.is_empty();
    let mut taken_client = BTreeSet::new();
    let mut taken_server = slots(state, host, &vios);
    for mapping in new {
        let made = make(state, host, &vios, mapping, &result, (&mut taken_client, &mut taken_server))?;
        result.push(made);
    }
    set(state, host, &vios.id, result);
    if changed {
        state.announce(host, "MODIFY_URI", &vios.id, "VirtualFibreChannelMappings");
    }
    Ok(())
}

/// Gives a VIOS these mappings, and counts what is free on its ports.
fn set(state: &mut State, host: usize, vios: &str, mappings: Vec<Element>) {
    let Some(vios) = state.object_mut(host, vios) else { return };
    let in_use = |name: &str| mappings.iter().filter(|mapping| mapping.text("Port/PortName") == name).count();
    let io = vios.element.child_mut("PartitionIOConfiguration").child_mut("ProfileIOSlots");
    for slot in &mut io.children {
        let adapter = slot.child_mut("AssociatedIOSlot").child_mut("RelatedIOAdapter");
        for port in
            &mut adapter.child_mut("PhysicalFibreChannelAdapter").child_mut("PhysicalFibreChannelPorts").children
        {
            let total: u32 = port.number("TotalPorts").unwrap_or_default();
            let used = u32::try_from(in_use(port.text("PortName"))).unwrap_or_default();
            port.set("AvailablePorts", total.saturating_sub(used));
        }
    }
    vios.element.put(Element::of("VirtualFibreChannelMappings", mappings));
}

/// The mappings of a partition, with the ids of their VIOSes.
pub(crate) fn of_partition(state: &State, host: usize, number: u32) -> Vec<(String, Element)> {
    let mut found = Vec::new();
    for vios in state.all(host, "VirtualIOServer") {
        let list = vios.element.child("VirtualFibreChannelMappings").into_iter().flat_map(|list| &list.children);
        let own = list.filter(|mapping| mapping.number("ClientAdapter/LocalPartitionID") == Some(number));
        found.extend(own.map(|mapping| (vios.id.clone(), mapping.clone())));
    }
    found
}

/// Takes all mappings from a partition.
pub(crate) fn release(state: &mut State, host: usize, number: u32) {
    let vioses: Vec<String> = state.all(host, "VirtualIOServer").map(|vios| vios.id.clone()).collect();
    for vios in vioses {
        let all = mappings(state, host, &vios);
        let is_other = |mapping: &Element| mapping.number::<u32>("ClientAdapter/LocalPartitionID") != Some(number);
        let kept: Vec<Element> = all.iter().filter(|mapping| is_other(mapping)).cloned().collect();
        if kept.len() != all.len() {
            set(state, host, &vios, kept);
            state.announce(host, "MODIFY_URI", &vios, "VirtualFibreChannelMappings");
        }
    }
}

/// Adds a mapping, in the slots that it names.
pub(crate) fn add(state: &mut State, host: usize, vios: &str, wanted: &Element) -> Result<(), Fault> {
    let mut result = mappings(state, host, vios);
    let server =
        state.of_kind(host, "VirtualIOServer", vios).ok_or_else(|| Fault::not_found("VirtualIOServer", vios))?.clone();
    let mut taken = slots(state, host, &server);
    let made = make(state, host, &server, wanted, &result, (&mut BTreeSet::new(), &mut taken))?;
    result.push(made);
    set(state, host, vios, result);
    state.announce(host, "MODIFY_URI", vios, "VirtualFibreChannelMappings");
    Ok(())
}

fn mappings(state: &State, host: usize, vios: &str) -> Vec<Element> {
    let list = state.object(host, vios).and_then(|vios| vios.element.child("VirtualFibreChannelMappings"));
    list.map(|list| list.children.clone()).unwrap_or_default()
}

fn make(
    state: &mut State,
    host: usize,
    vios: &Object,
    posted: &Element,
    others: &[Element],
    (taken_client, taken_server): (&mut BTreeSet<(u32, u32)>, &mut BTreeSet<u32>),
) -> Result<Element, Fault> {
    let server_name = vios.element.text("PartitionName");
    let client = posted.target("AssociatedLogicalPartition").and_then(|id| state.object(host, id)).cloned();
    let client = client.filter(Object::is_partition).ok_or_else(|| {
        Fault::refused(format!("VIOS01050001: The client of a mapping on {server_name} does not exist."))
    })?;
    partition::can_change_adapters(&client.element)?;
    let wanted = posted.text("Port/PortName").to_owned();
    let port = ports(&vios.element).find(|port| port.text("PortName") == wanted).cloned();
    if !wanted.is_empty() && port.is_none() {
        return Err(Fault::refused(format!("VIOS01050003: There is no port {wanted} on {server_name}.")));
    }
    let used = others.iter().filter(|mapping| mapping.text("Port/PortName") == wanted).count();
    let room = port.as_ref().map(|port| port.number::<usize>("TotalPorts").unwrap_or_default());
    if room.is_some_and(|room| used >= room) {
        return Err(Fault::refused(format!("VIOS01050004: The port {wanted} of {server_name} has no room.")));
    }
    let number = client.partition_id();
    let taken = slots(state, host, &client);
    let slot = posted.number::<u32>("ClientAdapter/VirtualSlotNumber");
    if let Some(slot) = slot.filter(|slot| taken.contains(slot) || taken_client.contains(&(number, *slot))) {
        return Err(Fault::refused(format!("HSCL2902: The virtual slot {slot} is in use.")));
    }
    let free = |slot: &u32| !taken.contains(slot) && !taken_client.contains(&(number, *slot));
    let client_slot = slot.unwrap_or_else(|| (2..u32::MAX).find(free).unwrap_or_default());
    taken_client.insert((number, client_slot));
    let server_slot = posted.number::<u32>("ServerAdapter/VirtualSlotNumber");
    let server_slot = server_slot.filter(|slot| !taken_server.contains(slot));
    let server_slot =
        server_slot.unwrap_or_else(|| (2..u32::MAX).find(|slot| !taken_server.contains(slot)).unwrap_or_default());
    taken_server.insert(server_slot);
    let names: BTreeSet<&str> = others.iter().map(|mapping| mapping.text("ServerAdapter/AdapterName")).collect();
    let name = (0..u32::MAX)
        .map(|number| format!("vfchost{number}"))
        .find(|name| !names.contains(name.as_str()))
        .unwrap_or_default();
    let wwpns = match posted.text("ClientAdapter/WWPNs") {
        "" => pair(state, host),
        given => given.to_lowercase(),
    };
    let location = state.location(host);
    let server = vios.partition_id();
    let (client_place, server_place) =
        (format!("{location}-V{number}-C{client_slot}"), format!("{location}-V{server}-C{server_slot}"));
    let text = |number: u32| number.to_string();
    let mut mapping = Element::new("VirtualFibreChannelMapping");
    mapping.put(Element::reference("AssociatedLogicalPartition", state.path_of(host, &client)));
    mapping.put(Element::record(
        "ClientAdapter",
        &[
            ("AdapterType", "Client"),
            ("DynamicReconfigurationConnectorName", &client_place),
            ("LocationCode", &client_place),
            ("LocalPartitionID", &text(number)),
            ("RequiredAdapter", "false"),
            ("VariedOn", "true"),
            ("VirtualSlotNumber", &text(client_slot)),
            ("ConnectingPartitionID", &text(server)),
            ("ConnectingVirtualSlotNumber", &text(server_slot)),
            ("WWPNs", &wwpns),
        ],
    ));
    let mut adapter = Element::record(
        "ServerAdapter",
        &[
            ("AdapterType", "Server"),
            ("DynamicReconfigurationConnectorName", &server_place),
            ("LocationCode", &server_place),
            ("LocalPartitionID", &text(server)),
            ("RequiredAdapter", "false"),
            ("VariedOn", "true"),
            ("VirtualSlotNumber", &text(server_slot)),
            ("AdapterName", &name),
            ("ConnectingPartitionID", &text(number)),
            ("ConnectingVirtualSlotNumber", &text(client_slot)),
            ("UniqueDeviceID", &format!("1d{server_place}")),
        ],
    );
    if let Some(port) = port {
        adapter.set("MapPort", &wanted);
        for kind in ["PhysicalPort", "Port"] {
            let mut shown = port.clone();
            kind.clone_into(&mut shown.name);
            if kind == "Port" { mapping.put(shown) } else { adapter.put(shown) }
        }
    }
    mapping.put(adapter);
    Ok(mapping)
}

/// A new pair of world-wide port names.
pub(crate) fn pair(state: &mut State, host: usize) -> String {
    let fresh = state.fresh();
    let stem = ids::hex(&[&state.hosts[host].name, "pair", &fresh], 7);
    format!("c05076{stem}{:03x} c05076{stem}{:03x}", 2, 3)
}
