//! Objects as they are shown: what is kept, and what follows from other objects.

use super::state::{Object, State};
use super::xml::Element;
use super::{bridge, network, partition, pool, storage};

/// Kinds that are not kept but follow from others.
pub(crate) fn is_derived(kind: &str) -> bool {
    matches!(
        kind,
        "VirtualNetwork" | "VirtualSCSIBus" | "VirtualFibreChannelClientAdapter" | "VirtualSCSIClientAdapter"
    )
}

/// The objects of a derived kind that belong to another.
pub(crate) fn derived(state: &State, host: usize, parent: &Object, kind: &str) -> Vec<Object> {
    match (parent.kind(), kind) {
        ("ManagedSystem", "VirtualNetwork") => network::networks(state, host),
        ("VirtualIOServer", "VirtualSCSIBus") => buses(parent),
        ("LogicalPartition", "VirtualFibreChannelClientAdapter") => {
            client_adapters(state, host, parent, "VirtualFibreChannelMappings", kind)
        }
        ("LogicalPartition", "VirtualSCSIClientAdapter") => {
            client_adapters(state, host, parent, "VirtualSCSIMappings", kind)
        }
        _ => Vec::new(),
    }
}

/// The adapters of a VIOS with all that is mapped through each.
fn buses(vios: &Object) -> Vec<Object> {
    let mut buses: Vec<Object> = Vec::new();
    for mapping in vios.element.child("VirtualSCSIMappings").into_iter().flat_map(|list| &list.children) {
        let slot = mapping.text("ServerAdapter/VirtualSlotNumber");
        let id = super::ids::uuid(&[&vios.id, "bus", slot]);
        let index = buses.iter().position(|bus| bus.id == id).unwrap_or_else(|| {
            let mut element = Element::new("VirtualSCSIBus");
            let parts = ["AssociatedLogicalPartition", "ClientAdapter", "ServerAdapter"];
            element.children.extend(parts.into_iter().filter_map(|part| mapping.child(part).cloned()));
            buses.push(Object { id, parent: Some(vios.id.clone()), created: 0, element });
            buses.len() - 1
        });
        if mapping.child("Storage").is_some() {
            let parts = ["Storage", "TargetDevice"].into_iter().filter_map(|part| mapping.child(part).cloned());
            let pair = Element::of("VirtualSCSIStorageAndTargetDevice", parts);
            buses[index].element.child_mut("AssociatedMappings").children.push(pair);
        }
    }
    buses
}

fn client_adapters(state: &State, host: usize, partition: &Object, list: &str, kind: &str) -> Vec<Object> {
    let number = partition.partition_id();
    let mut adapters: Vec<Object> = Vec::new();
    for vios in state.all(host, "VirtualIOServer") {
        for mapping in vios.element.child(list).into_iter().flat_map(|list| &list.children) {
            let Some(client) = mapping.child("ClientAdapter") else { continue };
            if client.number("LocalPartitionID") != Some(number) {
                continue;
            }
            let id = super::ids::uuid(&[&partition.id, kind, client.text("VirtualSlotNumber")]);
            let mut element = client.clone();
            kind.clone_into(&mut element.name);
            if let Some(server) = mapping.child("ServerAdapter").filter(|_| kind.contains("Fibre")) {
                element.put(server.clone());
            }
            if !adapters.iter().any(|adapter| adapter.id == id) {
                adapters.push(Object { id, parent: Some(partition.id.clone()), created: 0, element });
            }
        }
    }
    adapters
}

/// An object with all that follows.
pub(crate) fn present(state: &State, host: usize, object: &Object) -> Object {
    let mut shown = object.clone();
    let element = &mut shown.element;
    match object.kind() {
        "ManagedSystem" => managed_system(state, host, element),
        "VirtualIOServer" => virtual_io_server(state, host, object, element),
        "VolumeGroup" => {
            let capacity: f64 = element.number("GroupCapacity").unwrap_or_default();
            let free = format!("{:.3}", (capacity - storage::used(element)).max(0.0));
            element.set("AvailableSize", &free);
            element.set("FreeSpace", free);
        }
        "SharedStoragePool" => {
            let (capacity, used) = pool::space(state, host, &object.id);
            let units: Vec<&Object> = pool::units(state, host, &object.id).collect();
            let sizes = units.iter().filter_map(|unit| unit.element.number::<f64>("UnitCapacity"));
            let total: f64 = sizes.sum();
            element.set("FreeSpace", format!("{:.2}", (capacity - used).max(0.0)));
            element.set("OverCommitSpace", format!("{:.6}", (total - capacity).max(0.0)));
            element.set("TotalLogicalUnitSize", format!("{total:.2}"));
            element.put(Element::of("LogicalUnits", units.into_iter().map(|unit| shown_unit(state, unit))));
        }
        "LogicalUnit" => *element = shown_unit(state, object),
        "ClientNetworkAdapter" => {
            let switch = element.text("VirtualSwitchID").to_owned();
            let vlans: Vec<u16> = bridge::vlans(element).collect();
            element.put(network::links(state, host, &switch, vlans.into_iter()));
        }
        "VirtualSwitch" => {
            let number = element.text("SwitchID").to_owned();
            let all = network::networks(state, host);
            let own = all.iter().filter(|network| network.element.text("VswitchID") == number);
            let vlans: Vec<u16> = own.filter_map(|network| network.element.number("NetworkVLANID")).collect();
            element.put(network::links(state, host, &number, vlans.into_iter()));
        }
        "NetworkBridge" => network_bridge(state, host, element),
        _ => {}
    }
    shown
}

fn shown_unit(state: &State, unit: &Object) -> Element {
    let mut element = unit.element.clone();
    element.set("InUse", pool::in_use(state, unit.element.text("UniqueDeviceID")));
    element
}

fn managed_system(state: &State, host: usize, element: &mut Element) {
    let (memory, units) = partition::available(state, host);
    let config = element.child_mut("AssociatedSystemMemoryConfiguration");
    config.set("CurrentAvailableSystemMemory", memory);
    config.set("PendingAvailableSystemMemory", memory);
    let config = element.child_mut("AssociatedSystemProcessorConfiguration");
    config.set("CurrentAvailableSystemProcessorUnits", format!("{units:.2}"));
    config.set("PendingAvailableSystemProcessorUnits", format!("{units:.2}"));
    let migrating = state.hosts[host].jobs.values().filter(|job| job.operation == "Migrate" && job.status == "RUNNING");
    let count = migrating.count();
    element.child_mut("SystemMigrationInformation").set("NumberOfActiveMigrationsInProgress", count);
    let ports: Vec<Element> = state.all(host, "SRIOVEthernetLogicalPort").map(|port| port.element.clone()).collect();
    let adapters = element.child_mut("AssociatedSystemIOConfiguration").child_mut("SRIOVAdapters");
    for adapter in adapters.children.iter_mut().flat_map(|choice| choice.children.iter_mut()) {
        let number = adapter.text("SRIOVAdapterID").to_owned();
        for port in &mut adapter.child_mut("EthernetPhysicalPorts").children {
            let own = |logical: &&Element| {
                logical.text("AdapterID") == number && logical.text("PhysicalPortID") == port.text("PhysicalPortID")
            };
            let own: Vec<&Element> = ports.iter().filter(own).collect();
            let capacity =
                own.iter().filter_map(|port| port.text("ConfiguredCapacity").trim_end_matches('%').parse::<f64>().ok());
            let capacity: f64 = capacity.sum();
            port.set("AllocatedCapacity", format!("{capacity:.1}%"));
            port.set("ConfiguredEthernetLogicalPorts", own.len());
        }
    }
}

fn virtual_io_server(state: &State, host: usize, object: &Object, element: &mut Element) {
    let groups: Vec<&Object> = state.children(host, &object.id, "VolumeGroup").collect();
    let links = groups.iter().map(|group| Element::reference("link", state.path_of(host, group)));
    element.put(Element::of("StoragePools", links));
    let repositories = groups.iter().filter_map(|group| group.element.at("MediaRepositories/VirtualMediaRepository"));
    element.put(Element::of("MediaRepositories", repositories.cloned()));
    let own = |adapter: &&Element| {
        adapter.target("AssignedVirtualIOServer").is_some_and(|id| id.eq_ignore_ascii_case(&object.id))
    };
    let bridges: Vec<&Object> = state.all(host, "NetworkBridge").collect();
    let adapters: Vec<Element> = bridges
        .iter()
        .flat_map(|bridge| bridge.element.child("SharedEthernetAdapters").into_iter().flat_map(|list| &list.children))
        .filter(own)
        .cloned()
        .collect();
    let trunks =
        adapters.iter().filter_map(|adapter| adapter.child("TrunkAdapters")).flat_map(|list| list.children.clone());
    element.put(Element::of("TrunkAdapters", trunks.collect::<Vec<_>>()));
    element.put(Element::of("SharedEthernetAdapters", adapters));
    let mapped = |disk: &Element| storage::is_mapped(state, host, &object.id, disk);
    let mut disks = element.child("PhysicalVolumes").cloned().unwrap_or_default();
    for disk in &mut disks.children {
        let free = disk.is("AvailableForUsage") && !mapped(disk);
        disk.set("AvailableForUsage", free);
    }
    element.put(disks);
}

/// Load groups and networks of a bridge follow from its trunks.
fn network_bridge(state: &State, host: usize, element: &mut Element) {
    let mut groups: Vec<(String, Vec<Element>)> = Vec::new();
    for trunk in bridge::all_trunks(element) {
        let own = trunk.text("PortVLANID").to_owned();
        match groups.iter_mut().find(|(vlan, _)| *vlan == own) {
            Some((_, trunks)) => trunks.push(trunk.clone()),
            None => groups.push((own, vec![trunk.clone()])),
        }
    }
    let mut all = Vec::new();
    let groups = groups.into_iter().map(|(vlan, trunks)| {
        let vlans: Vec<u16> = trunks.first().map(|trunk| bridge::vlans(trunk).collect()).unwrap_or_default();
        all.extend(&vlans);
        let links = network::links(state, host, "0", vlans.into_iter());
        Element::of("LoadGroup", [Element::leaf("PortVLANID", vlan), Element::of("TrunkAdapters", trunks), links])
    });
    let groups: Vec<Element> = groups.collect();
    element.put(Element::of("LoadGroups", groups));
    element.put(network::links(state, host, "0", all.into_iter()));
}
