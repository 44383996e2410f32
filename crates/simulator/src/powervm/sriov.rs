//! SR-IOV adapters, and virtual NICs on them.

use super::fault::Fault;
use super::network::slots;
use super::state::State;
use super::xml::Element;
use super::{ids, partition};

/// How many ports an adapter has.
const PORTS: u32 = 2;

/// An adapter in shared mode.
pub(crate) fn adapter(serial: &str, number: u32) -> Element {
    let place = format!("U78D2.001.{serial}-P1-C{}", number + 3);
    let mut adapter = Element::record(
        "SRIOVAdapter",
        &[
            ("AdapterID", &(553_713_690 + number).to_string()),
            ("Description", "PCIe3 2-port 10 GbE SFP+ Adapter"),
            ("PhysicalLocation", &place),
            ("SRIOVAdapterID", &number.to_string()),
            ("AdapterState", "Running"),
            ("AdapterMode", "Sriov"),
            ("Personality", "MIN_CAPACITY"),
            ("MaximumHugeDMALogicalPorts", "0"),
            ("MaximumLogicalPortsSupported", "48"),
        ],
    );
    adapter.put(Element::of("EthernetPhysicalPorts", (0..PORTS).map(|port| physical_port(&place, port))));
    adapter.put(Element::new("ConvergedEthernetPhysicalPorts"));
    Element::of("IOAdapterChoice", [adapter])
}

fn physical_port(place: &str, number: u32) -> Element {
    Element::record(
        "SRIOVEthernetPhysicalPort",
        &[
            ("ConfiguredConnectionSpeed", "Auto"),
            ("ConfiguredFlowControl", "false"),
            ("ConfiguredMTU", "E_1500"),
            ("ConfiguredOptions", "autoDuplex"),
            ("ConfiguredPortSwitchMode", "Veb"),
            ("CurrentConnectionSpeed", "E10Gbps"),
            ("CurrentOptions", "fullDuplex"),
            ("Label", "physnet1"),
            ("LocationCode", &format!("{place}-T{}", number + 1)),
            ("MaximumDiagnosticsLogicalPorts", "1"),
            ("MaximumPromiscuousLogicalPorts", "1"),
            ("PhysicalPortID", &number.to_string()),
            ("PortCapabilities", "Clear Logical Port Stat"),
            ("PortType", "Ethernet"),
            ("PortLogicalPortLimit", "24"),
            ("SubLabel", ""),
            ("SupportedConnectionSpeeds", "Auto"),
            ("SupportedMTUs", "E_1500"),
            ("SupportedOptions", "autoDuplex"),
            ("SupportedPriorityAccessControlList", "0"),
            ("LinkStatus", "true"),
            ("AllocatedCapacity", "0.0%"),
            ("ConfiguredMaxEthernetLogicalPorts", "24"),
            ("ConfiguredEthernetLogicalPorts", "0"),
            ("MaximumPortVLANID", "4094"),
            ("MaximumVLANID", "4094"),
            ("MinimumEthernetCapacityGranularity", "2.0%"),
            ("MinimumPortVLANID", "2"),
            ("MinimumVLANID", "2"),
            ("MaxSupportedEthernetLogicalPorts", "24"),
        ],
    )
}

/// Makes a virtual NIC of a partition, with a logical port on a VIOS for every backing device.
pub(crate) fn create_vnic(state: &mut State, host: usize, parent: &str, mut body: Element) -> Result<String, Fault> {
    let owner = state.object(host, parent).ok_or_else(|| Fault::not_found("LogicalPartition", parent))?.clone();
    partition::can_change_adapters(&owner.element)?;
    let taken = slots(state, host, &owner);
    let slot = body.number::<u32>("VirtualSlotNumber");
    let slot = slot.unwrap_or_else(|| (2..u32::MAX).find(|slot| !taken.contains(slot)).unwrap_or_default());
    if taken.contains(&slot) {
        return Err(Fault::refused(format!("HSCL2902: The virtual slot {slot} is in use.")));
    }
    let fresh = state.fresh();
    let number = owner.partition_id();
    let place = format!("{}-V{number}-C{slot}", state.location(host));
    let devices = body.child("AssociatedBackingDevices").cloned().unwrap_or_default();
    if devices.children.is_empty() {
        return Err(Fault::refused("HSCL2A01: A virtual NIC needs at least one backing device."));
    }
    let mut shown = Vec::new();
    for (index, choice) in devices.children.iter().enumerate() {
        let device = choice.children.first().cloned().unwrap_or_default();
        shown.push(Element::of("VirtualNICBackingDeviceChoice", [backing(state, host, device, index, &fresh)?]));
    }
    let details = body.child_mut("Details");
    for (name, value) in [
        ("PortVLANID", "0"),
        ("PortVLANIDPriority", "0"),
        ("AllowedVLANIDs", "ALL"),
        ("AllowedOperatingSystemMACAddresses", "ALL"),
        ("OSDeviceName", "unavailable"),
        ("DesiredMode", "DEDICATED"),
        ("DesiredCapacityPercentage", "2.0%"),
    ] {
        if details.child(name).is_none() {
            details.set(name, value);
        }
    }
    if details.text("MACAddress").is_empty() {
        details.set("MACAddress", ids::mac(&["vnic", &fresh]));
    }
    for name in ["UseNextAvailableSlotID", "UseNextAvailableHighSlotID"] {
        body.remove(name);
    }
    body.set("DynamicReconfigurationConnectorName", &place);
    body.set("LocationCode", &place);
    body.set("LocalPartitionID", number);
    body.set("VirtualSlotNumber", slot);
    body.put(Element::of("AssociatedBackingDevices", shown));
    let id = ids::uuid(&["vnic", &fresh]);
    state.add(host, &id, Some(&owner.id), body);
    Ok(id)
}

fn backing(state: &mut State, host: usize, mut device: Element, index: usize, fresh: &str) -> Result<Element, Fault> {
    let vios = device.target("AssociatedVirtualIOServer").unwrap_or_default().to_owned();
    let vios =
        state.of_kind(host, "VirtualIOServer", &vios).ok_or_else(|| Fault::not_found("VirtualIOServer", &vios))?;
    let vios = vios.id.clone();
    let (adapter, port) =
        (device.text("RelatedSRIOVAdapterID").to_owned(), device.text("RelatedSRIOVPhysicalPortID").to_owned());
    let system = &state.hosts[host].objects[&state.hosts[host].system].element;
    let known = ports(system)
        .any(|(owner, physical)| owner.text("SRIOVAdapterID") == adapter && physical.text("PhysicalPortID") == port);
    if !known {
        return Err(Fault::refused(format!("HSCL2A02: There is no port {port} on SR-IOV adapter {adapter}.")));
    }
    let capacity = if device.text("CurrentCapacityPercentage").is_empty() {
        "2.0%"
    } else {
        device.text("CurrentCapacityPercentage")
    };
    let capacity = capacity.to_owned();
    let logical = ids::uuid(&["logical port", fresh, &index.to_string()]);
    let element = Element::record(
        "SRIOVEthernetLogicalPort",
        &[
            ("ConfigurationID", "0"),
            ("LogicalPortID", &(654_327_810 + state.next()).to_string()),
            ("AdapterID", &adapter),
            ("DynamicReconfigurationConnectorName", "PHB 4098"),
            ("IsFunctional", "true"),
            ("IsPromiscous", "false"),
            ("IsDiagnostic", "false"),
            ("IsHugeDMA", "false"),
            ("DeviceName", "PHB 4098"),
            ("ConfiguredCapacity", &capacity),
            ("ConfiguredMaxCapacity", "100.0%"),
            ("PhysicalPortID", &port),
            ("PortVLANID", "0"),
            ("VNICPortUsage", "DEDICATED_VNIC"),
            ("MACAddress", &ids::mac(&["logical port", fresh])),
        ],
    );
    state.add(host, &logical, Some(&vios), element);
    // The only kind there is, so that clients may leave it out.
    device.set("DeviceType", "SRIOV");
    device.set("IsActive", index == 0);
    device.set("Status", "OPERATIONAL");
    device.set("CurrentCapacityPercentage", &capacity);
    device.set("DesiredCapacityPercentage", &capacity);
    if device.text("FailOverPriority").is_empty() {
        device.set("FailOverPriority", 50);
    }
    let link = format!("/rest/api/uom/VirtualIOServer/{vios}/SRIOVEthernetLogicalPort/{logical}");
    device.put(Element::reference("RelatedSRIOVLogicalPort", link));
    device.put(Element::reference("AssociatedVirtualIOServer", state.link(host, &vios)));
    Ok(device)
}

/// Deletes a virtual NIC with its logical ports.
pub(crate) fn delete_vnic(state: &mut State, host: usize, id: &str) -> Result<(), Fault> {
    let vnic = state
        .of_kind(host, "VirtualNICDedicated", id)
        .ok_or_else(|| Fault::not_found("VirtualNICDedicated", id))?
        .clone();
    if let Some(owner) = vnic.parent.as_deref().and_then(|parent| state.object(host, parent)) {
        partition::can_change_adapters(&owner.element)?;
    }
    for choice in vnic.element.child("AssociatedBackingDevices").into_iter().flat_map(|list| &list.children) {
        if let Some(logical) = choice.children.first().and_then(|device| device.target("RelatedSRIOVLogicalPort")) {
            state.remove(host, logical);
        }
    }
    state.remove(host, &vnic.id);
    Ok(())
}

/// The physical ports of a system with their adapters.
fn ports(system: &Element) -> impl Iterator<Item = (&Element, &Element)> {
    let choices =
        system.at("AssociatedSystemIOConfiguration/SRIOVAdapters").into_iter().flat_map(|list| &list.children);
    choices.filter_map(|choice| choice.children.first()).flat_map(|adapter| {
        let lists = ["EthernetPhysicalPorts", "ConvergedEthernetPhysicalPorts"];
        let ports = lists.into_iter().filter_map(|list| adapter.child(list)).flat_map(|list| &list.children);
        ports.map(move |port| (adapter, port)).collect::<Vec<_>>()
    })
}
