//! Everything that exists on simulated hosts, as their own state shows it.

use std::collections::BTreeMap;

use landfall_simulator::core::{Running, Simulation as _};
use landfall_simulator::powervm::NovaLink;
use serde_json::Value;

/// One line per object, without ids, times, slots, and without tokens, jobs and events.
pub(crate) fn list(hosts: &Running<NovaLink>) -> Vec<String> {
    let state = hosts.world().view(|hosts, _| hosts.snapshot());
    let mut lines = Vec::new();
    for host in state["hosts"].as_array().into_iter().flatten() {
        host_lines(host, &mut lines);
    }
    host_lines(&serde_json::json!({"name": "pool", "objects": state["pool"]}), &mut lines);
    lines.sort();
    lines
}

fn host_lines(host: &Value, lines: &mut Vec<String>) {
    let name = host["name"].as_str().unwrap_or_default();
    let objects: Vec<&Value> = host["objects"].as_object().into_iter().flat_map(|objects| objects.values()).collect();
    let names: BTreeMap<&str, String> = objects
        .iter()
        .map(|object| (object["id"].as_str().unwrap_or_default(), text(&object["element"], "PartitionName")))
        .collect();
    for object in &objects {
        let element = &object["element"];
        let owner = object["parent"].as_str().and_then(|id| names.get(id)).cloned().unwrap_or_default();
        let kind = element["n"].as_str().unwrap_or_default();
        match kind {
            "LogicalPartition" => lines.push(format!(
                "{name}: partition {} {} '{}' {} MB",
                text(element, "PartitionName"),
                text(element, "PartitionState"),
                text(element, "Description"),
                text(child(element, "PartitionMemoryConfiguration"), "DesiredMemory"),
            )),
            // The address of a trunk is the platform's choice.
            "ClientNetworkAdapter" => lines.push(format!(
                "{name}: adapter {} of {owner} VLAN {} switch {} ovs '{}' {}",
                if text(element, "OvsBridge").is_empty() { text(element, "MACAddress") } else { "(trunk)".to_owned() },
                text(element, "PortVLANID"),
                text(element, "VirtualSwitchID"),
                text(element, "OvsBridge"),
                text(element, "OvsPortExternalIds"),
            )),
            "VirtualNICDedicated" => {
                let devices = items(element, "AssociatedBackingDevices").count();
                lines.push(format!(
                    "{name}: vnic {} of {owner} on {devices}",
                    text(child(element, "Details"), "MACAddress")
                ));
            }
            "SRIOVEthernetLogicalPort" => lines.push(format!("{name}: logical port of {owner}")),
            "VirtualSwitch" => lines.push(format!("{name}: switch {}", text(element, "SwitchName"))),
            "LogicalUnit" => lines.push(format!(
                "{name}: unit {} {} GB {} cloned {}",
                text(element, "UnitName"),
                text(element, "UnitCapacity"),
                text(element, "LogicalUnitType"),
                !text(element, "ClonedFrom").is_empty(),
            )),
            "VolumeGroup" => {
                for disk in items(element, "VirtualDisks") {
                    lines.push(format!(
                        "{name}: virtual disk {} {}",
                        text(disk, "DiskName"),
                        text(disk, "DiskCapacity")
                    ));
                }
                let repository = items(element, "MediaRepositories").next().unwrap_or(&Value::Null);
                for medium in items(repository, "OpticalMedia") {
                    lines.push(format!("{name}: medium {} of {owner}", text(medium, "MediaName")));
                }
            }
            "VirtualIOServer" => vios_lines(name, element, &names, lines),
            "NetworkBridge" => {
                for adapter in items(element, "SharedEthernetAdapters") {
                    for trunk in items(adapter, "TrunkAdapters") {
                        let vlans = text(trunk, "TaggedVLANIDs");
                        lines.push(format!("{name}: trunk {} with {vlans}", text(trunk, "PortVLANID")));
                    }
                }
            }
            _ => {}
        }
    }
    let uploads = host["uploads"].as_object().map_or(0, serde_json::Map::len);
    if uploads > 0 {
        lines.push(format!("{name}: {uploads} notes of uploads"));
    }
}

fn vios_lines(host: &str, vios: &Value, names: &BTreeMap<&str, String>, lines: &mut Vec<String>) {
    let server = text(vios, "PartitionName");
    let owner = |mapping: &Value| {
        let href = child(mapping, "AssociatedLogicalPartition")["h"].as_str().unwrap_or_default().to_owned();
        let id = href.rsplit('/').next().unwrap_or_default().to_owned();
        names.get(id.as_str()).cloned().unwrap_or_else(|| "nobody".to_owned())
    };
    for mapping in items(vios, "VirtualSCSIMappings") {
        let storage = items(mapping, "Storage").next().unwrap_or(&Value::Null);
        let thing = ["UnitName", "DiskName", "MediaName", "VolumeName"].map(|field| text(storage, field)).concat();
        lines.push(format!("{host}: {server} shows '{thing}' to {}", owner(mapping)));
    }
    for mapping in items(vios, "VirtualFibreChannelMappings") {
        let wwpns = text(child(mapping, "ClientAdapter"), "WWPNs");
        let port = text(child(mapping, "Port"), "PortName");
        lines.push(format!("{host}: {server} gives {wwpns} on {port} to {}", owner(mapping)));
    }
    for disk in items(vios, "PhysicalVolumes") {
        lines.push(format!("{host}: {server} sees {}", text(disk, "VolumeName")));
    }
}

fn child<'a>(element: &'a Value, name: &str) -> &'a Value {
    let children = element["c"].as_array().map(Vec::as_slice).unwrap_or_default();
    children.iter().find(|child| child["n"] == name).unwrap_or(&Value::Null)
}

fn items<'a>(element: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    child(element, list)["c"].as_array().into_iter().flatten()
}

fn text(element: &Value, name: &str) -> String {
    child(element, name)["t"].as_str().unwrap_or_default().to_owned()
}
