//! Virtual networks, and the ports of devices that are put into them.

use serde_json::{Value, json};

use super::call::Call;
use super::catalogue;
use super::reply::{Answer, Refusal, empty, object};
use super::state::{Device, Port, State, Vlan};

/// Numbers that are given out when nobody chooses one, and those that may be chosen.
const USUAL: std::ops::Range<u64> = 1000..2000;
const POSSIBLE: std::ops::Range<u64> = 2..4000;

pub(super) fn show(state: &State, base: &str, vlan: &Vlan) -> Value {
    let attached = |device: &&Device| device.ports.iter().any(|port| port.vlans.contains(&vlan.id));
    let instances: Vec<Value> = state
        .devices
        .iter()
        .filter(attached)
        .map(|device| json!({"href": format!("{base}/devices/{}", device.id)}))
        .collect();
    let mut shown = json!({
        "id": vlan.id,
        "vxlan": vlan.vxlan,
        "description": vlan.description,
        "tags": vlan.tags,
        "created_at": state.time(vlan.created),
        "instances": instances,
        "metal_gateways": [],
        "assigned_to": {"href": format!("{base}/projects/{}", vlan.project)},
        "href": format!("{base}/virtual-networks/{}", vlan.id),
    });
    if let Some(facility) = &vlan.facility {
        shown["facility_code"] = json!(facility);
        shown["facility"] = catalogue::show_facility(base, facility);
    }
    if let Some(metro) = &vlan.metro {
        shown["metro_code"] = json!(metro);
        shown["metro"] = catalogue::show_metro(base, metro);
    }
    shown
}

pub(super) fn list(state: &State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let wanted = |vlan: &&Vlan| {
        vlan.project == project
            && call.text("metro").is_none_or(|metro| vlan.metro.as_deref() == Some(metro))
            && call.text("facility").is_none_or(|facility| vlan.facility.as_deref() == Some(facility))
    };
    let shown: Vec<Value> = state.vlans.iter().filter(wanted).map(|vlan| show(state, call.base, vlan)).collect();
    // One client follows `meta` here if it is there; the API has none.
    Ok(object(200, &json!({"virtual_networks": shown})))
}

pub(super) fn create(state: &mut State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let (facility, metro) = (call.text("facility"), call.text("metro"));
    let metro = match (facility, metro) {
        (None, Some(metro)) => catalogue::facility_of(metro).map(|_| metro),
        (Some(facility), None) => catalogue::metro_of(facility),
        _ => return Err(Refusal::invalid("Either facility or metro must be given")),
    };
    let metro = metro.ok_or_else(|| Refusal::invalid("Location is not valid"))?;
    let is_taken = |state: &State, number: u64| {
        state
            .vlans
            .iter()
            .any(|vlan| vlan.project == project && vlan.vxlan == number && vlan.metro.as_deref() == Some(metro))
    };
    let vxlan = match call.number("vxlan") {
        Some(number) if !POSSIBLE.contains(&number) => {
            return Err(Refusal::invalid("Vxlan must be between 2 and 3999"));
        }
        Some(number) if is_taken(state, number) => return Err(Refusal::invalid("Vxlan has already been taken")),
        Some(number) => number,
        None => {
            let free = USUAL.clone().find(|number| !is_taken(state, *number));
            free.ok_or_else(|| Refusal::invalid("There is no virtual network left"))?
        }
    };
    let network = Vlan {
        id: state.id(),
        project: project.to_owned(),
        vxlan,
        description: call.text("description").map(str::to_owned),
        facility: facility.map(str::to_owned),
        metro: Some(metro.to_owned()),
        tags: call.texts("tags").unwrap_or_default(),
        created: state.now,
    };
    let shown = show(state, call.base, &network);
    state.vlans.push(network);
    Ok(object(201, &shown))
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    let vlan = state.vlans.iter().find(|vlan| vlan.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show(state, call.base, vlan)))
}

pub(super) fn delete(state: &mut State, id: &str) -> Answer {
    let place = state.vlans.iter().position(|vlan| vlan.id == id).ok_or_else(Refusal::not_found)?;
    let attached =
        state.devices.iter().any(|device| device.ports.iter().any(|port| port.vlans.iter().any(|own| own == id)));
    if attached {
        return Err(Refusal::invalid("The virtual network is attached to a device and cannot be deleted"));
    }
    state.vlans.remove(place);
    Ok(empty(204))
}

/// The ports of a device.
pub(super) fn show_ports(state: &State, base: &str, device: &Device) -> Vec<Value> {
    device.ports.iter().map(|port| show_port(state, base, device, port)).collect()
}

fn show_port(state: &State, base: &str, device: &Device, port: &Port) -> Value {
    let bond = device.ports.first().map(|bond| json!({"id": bond.id, "name": bond.name}));
    let networks: Vec<Value> =
        port.vlans.iter().map(|vlan| json!({"href": format!("{base}/virtual-networks/{vlan}")})).collect();
    let mut data = json!({"mac": port.mac, "bonded": port.bonded});
    if port.name == "bond0" {
        data = json!({"bonded": port.bonded});
    }
    let _ = state;
    json!({
        "id": port.id,
        "type": if port.name == "bond0" { "NetworkBondPort" } else { "NetworkPort" },
        "name": port.name,
        "data": data,
        "bond": if port.name == "bond0" || !port.bonded { Value::Null } else { json!(bond) },
        "network_type": port.network_type,
        "native_virtual_network": port.native.as_ref().map(|vlan| json!({"href": format!("{base}/virtual-networks/{vlan}")})),
        "hardware": {"href": format!("{base}/hardware/{}", catalogue::fixed_id("hardware", &device.id))},
        "virtual_networks": networks,
        "disbond_operation_supported": true,
        "connected_ports": [],
        "href": format!("{base}/ports/{}", port.id),
    })
}

fn locate(state: &State, id: &str) -> Result<(usize, usize), Refusal> {
    let found = state.devices.iter().enumerate().find_map(|(number, device)| {
        let port = device.ports.iter().position(|port| port.id == id)?;
        Some((number, port))
    });
    found.ok_or_else(Refusal::not_found)
}

pub(super) fn port(state: &State, call: &Call, id: &str) -> Answer {
    let (device, port) = locate(state, id)?;
    let device = &state.devices[device];
    Ok(object(200, &show_port(state, call.base, device, &device.ports[port])))
}

pub(super) fn change_port(state: &mut State, call: &Call, id: &str, rest: &[&str]) -> Answer {
    let (number, port) = locate(state, id)?;
    let device = &state.devices[number];
    let able = catalogue::plan(&device.plan).is_some_and(|plan| plan.layer2);
    let refuse = || Refusal::invalid(format!("Layer 2 is not available on plan {}", device.plan));
    let vlan = call.get("vnid").map(|wish| vlan_of(state, device, wish));
    match (call.method.as_str(), rest) {
        ("POST", ["assign"]) => {
            let vlan = vlan.ok_or_else(|| Refusal::invalid("Vnid can't be blank"))??;
            if !able {
                return Err(refuse());
            }
            let port = &mut state.devices[number].ports[port];
            if port.vlans.contains(&vlan) {
                return Err(Refusal::invalid("Virtual network is already assigned to this port"));
            }
            port.vlans.push(vlan);
        }
        ("POST", ["unassign"]) => {
            let vlan = vlan.ok_or_else(|| Refusal::invalid("Vnid can't be blank"))??;
            let port = &mut state.devices[number].ports[port];
            if !port.vlans.contains(&vlan) {
                return Err(Refusal::invalid("Virtual network is not assigned to this port"));
            }
            port.vlans.retain(|own| *own != vlan);
            if port.native.as_ref() == Some(&vlan) {
                port.native = None;
            }
        }
        ("POST", ["native-vlan"]) => {
            let vlan = vlan.ok_or_else(|| Refusal::invalid("Vnid can't be blank"))??;
            let port = &mut state.devices[number].ports[port];
            if port.vlans.len() < 2 {
                return Err(Refusal::invalid("At least two virtual networks must be assigned first"));
            }
            port.native = Some(vlan);
        }
        ("DELETE", ["native-vlan"]) => state.devices[number].ports[port].native = None,
        ("POST", ["bond"]) => bond(&mut state.devices[number], port, true),
        ("POST", ["disbond"]) => bond(&mut state.devices[number], port, false),
        ("POST", ["convert", "layer-2"]) => {
            if !able {
                return Err(refuse());
            }
            let vlan = vlan.transpose()?;
            let device = &mut state.devices[number];
            // Addresses of a device that leaves layer 3 do not come back; it gets new ones when it returns.
            device.management.clear();
            device.ports[port].vlans.extend(vlan);
            device.ports.iter_mut().for_each(|port| "layer2-bonded".clone_into(&mut port.network_type));
        }
        ("POST", ["convert", "layer-3"]) => {
            let device = &mut state.devices[number];
            // Only the bond leaves its networks; those of a port that is out of it stay.
            device.ports[port].vlans.clear();
            device.ports.iter_mut().for_each(|port| port.bonded = true);
            let id = device.id.clone();
            if device.management.is_empty() {
                super::addresses::furnish(
                    state,
                    &id,
                    super::addresses::Wanted::read(&call.with_params(serde_json::Map::new())),
                );
            }
        }
        _ => return Err(Refusal::not_found()),
    }
    settle(&mut state.devices[number]);
    let device = &state.devices[number];
    Ok(object(200, &show_port(state, call.base, device, &device.ports[port])))
}

/// A bond takes in or lets go of one port, or of all if the port is the bond.
fn bond(device: &mut Device, port: usize, bonded: bool) {
    if port == 0 {
        device.ports.iter_mut().for_each(|port| port.bonded = bonded);
    } else {
        device.ports[port].bonded = bonded;
        device.ports[0].bonded = device.ports[1..].iter().any(|port| port.bonded);
    }
}

/// What kind of network the ports make up now.
fn settle(device: &mut Device) {
    let layer3 = !device.management.is_empty();
    let loose = device.ports[1..].iter().any(|port| !port.bonded);
    let on_bond = !device.ports[0].vlans.is_empty();
    let word = match (layer3, loose, on_bond) {
        (true, true, _) => "hybrid",
        (true, false, true) => "hybrid-bonded",
        (true, false, false) => "layer3",
        (false, true, _) => "layer2-individual",
        (false, false, _) => "layer2-bonded",
    };
    device.ports.iter_mut().for_each(|port| word.clone_into(&mut port.network_type));
}

/// A virtual network by its id or by its number.
fn vlan_of(state: &State, device: &Device, wish: &Value) -> Result<String, Refusal> {
    let number = wish.as_u64().or_else(|| wish.as_str()?.parse().ok());
    let is_it = |vlan: &&Vlan| {
        vlan.project == device.project
            && (wish.as_str() == Some(&vlan.id)
                || (number == Some(vlan.vxlan) && vlan.metro.as_ref() == Some(&device.metro)))
    };
    let vlan = state.vlans.iter().find(is_it).ok_or_else(|| Refusal::invalid("Virtual network is not valid"))?;
    if vlan.metro.as_ref() != Some(&device.metro) {
        return Err(Refusal::invalid("Virtual network and device are not in the same metro"));
    }
    Ok(vlan.id.clone())
}
