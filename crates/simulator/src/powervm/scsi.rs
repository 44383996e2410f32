//! Mappings of disks and media to partitions.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::network::slots;
use super::state::{Object, State};
use super::xml::Element;
use super::{ids, partition, pool, storage};

/// Takes over what a client made of the mappings of a VIOS: the new ones are made, those that are gone are removed.
pub(crate) fn update(state: &mut State, host: usize, vios: &str, posted: &Element) -> Result<(), Fault> {
    let stored = list(state, host, vios).clone();
    let mut kept = Vec::new();
    let mut new = Vec::new();
    for mapping in &posted.children {
        match stored.children.iter().find(|known| is_same(known, mapping)) {
            Some(known) if !kept.contains(known) => kept.push(known.clone()),
            Some(_) => {}
            None => new.push(mapping),
        }
    }
    let changed = kept.len() != stored.children.len() || !new.is_empty();
    for mapping in stored.children.iter().filter(|mapping| !kept.contains(mapping)) {
        if let Some(client) = client(state, host, mapping) {
            partition::can_change_adapters(&client.element)?;
        }
    }
    set(state, host, vios, kept);
    for mapping in new {
        match make(state, host, vios, mapping) {
            Ok(made) => {
                let mut mappings = list(state, host, vios).children.clone();
                mappings.push(made);
                set(state, host, vios, mappings);
            }
            Err(fault) => {
                set(state, host, vios, stored.children);
                return Err(fault);
            }
        }
    }
    if changed {
        state.announce(host, "MODIFY_URI", vios, "VirtualSCSIMappings");
    }
    Ok(())
}

fn list<'a>(state: &'a State, host: usize, vios: &str) -> &'a Element {
    static NONE: std::sync::LazyLock<Element> = std::sync::LazyLock::new(|| Element::new("VirtualSCSIMappings"));
    state.object(host, vios).and_then(|vios| vios.element.child("VirtualSCSIMappings")).unwrap_or(&NONE)
}

fn set(state: &mut State, host: usize, vios: &str, mappings: Vec<Element>) {
    if let Some(vios) = state.object_mut(host, vios) {
        vios.element.put(Element::of("VirtualSCSIMappings", mappings));
    }
}

/// Whether a client means a mapping that exists: the same server adapter with the same thing on it.
fn is_same(known: &Element, posted: &Element) -> bool {
    let slot = |mapping: &Element| mapping.number::<u32>("ServerAdapter/VirtualSlotNumber");
    let thing = |mapping: &Element| {
        mapping.child("Storage").and_then(|storage| storage.children.first()).map(storage::identity)
    };
    slot(known).is_some() && slot(known) == slot(posted) && thing(known) == thing(posted)
}

fn client<'a>(state: &'a State, host: usize, mapping: &Element) -> Option<&'a Object> {
    let id = mapping.target("AssociatedLogicalPartition")?;
    state.object(host, id).filter(|object| object.is_partition())
}

/// Makes a mapping: finds the thing, takes slots, names devices.
pub(crate) fn make(state: &State, host: usize, vios_id: &str, posted: &Element) -> Result<Element, Fault> {
    let vios =
        state.of_kind(host, "VirtualIOServer", vios_id).ok_or_else(|| Fault::not_found("VirtualIOServer", vios_id))?;
    let name = vios.element.text("PartitionName");
    let client = client(state, host, posted)
        .ok_or_else(|| Fault::refused(format!("VIOS01050001: The client of a mapping on {name} does not exist.")))?;
    partition::can_change_adapters(&client.element)?;
    let thing = posted.child("Storage").and_then(|storage| storage.children.first());
    let thing = thing.map(|thing| resolve(state, host, vios, thing)).transpose()?;
    let wanted = |side: &str| posted.number::<u32>(&format!("{side}/VirtualSlotNumber"));
    let number = client.partition_id();
    let mappings = &list(state, host, vios_id).children;
    // A pair of adapters that exists already is used again if the client names it.
    let pair = mappings.iter().find(|mapping| {
        let own = mapping.number::<u32>("ClientAdapter/LocalPartitionID") == Some(number);
        let slot = |side: &str| mapping.number::<u32>(&format!("{side}/VirtualSlotNumber"));
        own && (wanted("ServerAdapter").is_some_and(|wanted| slot("ServerAdapter") == Some(wanted))
            || wanted("ServerAdapter").is_none()
                && wanted("ClientAdapter").is_some_and(|wanted| slot("ClientAdapter") == Some(wanted)))
    });
    let mut made = Element::new("VirtualSCSIMapping");
    made.put(Element::reference("AssociatedLogicalPartition", state.path_of(host, client)));
    if let Some(pair) = pair {
        let sides = ["ClientAdapter", "ServerAdapter"].into_iter();
        made.children.extend(sides.filter_map(|side| pair.child(side).cloned()));
    } else {
        let client_slot = free_slot(&slots(state, host, client), wanted("ClientAdapter"))?;
        let server_slot = free_slot(&slots(state, host, vios), wanted("ServerAdapter"))?;
        made.children.extend(adapters(state, host, vios, client, server_slot, client_slot));
    }
    if let Some(thing) = thing {
        let server = made.number::<u32>("ServerAdapter/VirtualSlotNumber").unwrap_or_default();
        made.put(target(posted, vios, mappings, &thing, server));
        let backing = thing.text(match thing.name.as_str() {
            "PhysicalVolume" => "VolumeName",
            "LogicalUnit" => "UnitName",
            "VirtualDisk" => "DiskName",
            _ => "MediaName",
        });
        made.child_mut("ServerAdapter").set("BackingDeviceName", backing);
        made.put(Element::of("Storage", [thing]));
    }
    Ok(made)
}

/// The slot that is wanted, if it is free, or else the first that is.
fn free_slot(taken: &BTreeSet<u32>, wanted: Option<u32>) -> Result<u32, Fault> {
    match wanted {
        Some(slot) if taken.contains(&slot) => {
            Err(Fault::refused(format!("HSCL2902: The virtual slot {slot} is in use.")))
        }
        Some(slot) => Ok(slot),
        None => Ok((2..u32::MAX).find(|slot| !taken.contains(slot)).unwrap_or_default()),
    }
}

fn adapters(
    state: &State,
    host: usize,
    vios: &Object,
    client: &Object,
    server_slot: u32,
    client_slot: u32,
) -> [Element; 2] {
    let location = state.location(host);
    let (server, guest) = (vios.partition_id(), client.partition_id());
    let (server_place, client_place) =
        (format!("{location}-V{server}-C{server_slot}"), format!("{location}-V{guest}-C{client_slot}"));
    let names: BTreeSet<&str> =
        list(state, host, &vios.id).children.iter().map(|mapping| mapping.text("ServerAdapter/AdapterName")).collect();
    let name = (0..u32::MAX)
        .map(|number| format!("vhost{number}"))
        .find(|name| !names.contains(name.as_str()))
        .unwrap_or_default();
    let text = |number: u32| number.to_string();
    let client = Element::record(
        "ClientAdapter",
        &[
            ("AdapterType", "Client"),
            ("DynamicReconfigurationConnectorName", &client_place),
            ("LocationCode", &client_place),
            ("LocalPartitionID", &text(guest)),
            ("RequiredAdapter", "false"),
            ("VariedOn", "true"),
            ("VirtualSlotNumber", &text(client_slot)),
            ("RemoteLogicalPartitionID", &text(server)),
            ("RemoteSlotNumber", &text(server_slot)),
            ("ServerLocationCode", &server_place),
        ],
    );
    let server = Element::record(
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
            ("RemoteLogicalPartitionID", &text(guest)),
            ("RemoteSlotNumber", &text(client_slot)),
            ("ServerLocationCode", &client_place),
            ("UniqueDeviceID", &format!("1e{server_place}")),
        ],
    );
    [client, server]
}

/// The device that a VIOS makes of a mapped thing.
fn target(posted: &Element, vios: &Object, mappings: &[Element], thing: &Element, server_slot: u32) -> Element {
    let (kind, prefix, stem) = match thing.name.as_str() {
        "PhysicalVolume" => ("PhysicalVolumeVirtualTargetDevice", "08", "vtscsi"),
        "LogicalUnit" => ("SharedStoragePoolLogicalUnitVirtualTargetDevice", "0a", "vtscsi"),
        "VirtualDisk" => ("LogicalVolumeVirtualTargetDevice", "09", "vtscsi"),
        _ => ("VirtualOpticalTargetDevice", "19", "vtopt"),
    };
    let devices: Vec<&Element> =
        mappings.iter().filter_map(|mapping| mapping.child("TargetDevice")?.children.first()).collect();
    let names: BTreeSet<&str> = devices.iter().map(|device| device.text("TargetName")).collect();
    let wanted = posted.child("TargetDevice").and_then(|target| target.children.first());
    let wanted_text = |field: &str| wanted.map_or("", |device| device.text(field)).to_owned();
    let name = Some(wanted_text("TargetName")).filter(|name| !name.is_empty()).unwrap_or_else(|| {
        (0..u32::MAX)
            .map(|number| format!("{stem}{number}"))
            .find(|name| !names.contains(name.as_str()))
            .unwrap_or_default()
    });
    let on_adapter: BTreeSet<&str> = mappings
        .iter()
        .filter(|mapping| mapping.number("ServerAdapter/VirtualSlotNumber") == Some(server_slot))
        .filter_map(|mapping| Some(mapping.child("TargetDevice")?.children.first()?.text("LogicalUnitAddress")))
        .collect();
    let address = Some(wanted_text("LogicalUnitAddress")).filter(|address| !address.is_empty()).unwrap_or_else(|| {
        let addresses = (0x81_u64..0x100).map(|number| format!("0x{number:02x}00000000000000"));
        addresses.into_iter().find(|address| !on_adapter.contains(address.as_str())).unwrap_or_default()
    });
    let udid = format!("{prefix}{}", ids::hex(&[&vios.id, &name, &storage::identity(thing)], 16));
    Element::of(
        "TargetDevice",
        [Element::record(kind, &[("LogicalUnitAddress", &address), ("TargetName", &name), ("UniqueDeviceID", &udid)])],
    )
}

/// The thing itself, with all that is known about it, for what a client says about it.
fn resolve(state: &State, host: usize, vios: &Object, wanted: &Element) -> Result<Element, Fault> {
    let server = vios.element.text("PartitionName");
    let missing =
        |what: &str, name: &str| Fault::refused(format!("VIOS01050002: There is no {what} {name} on {server}."));
    match wanted.name.as_str() {
        "PhysicalVolume" => {
            let name = wanted.text("VolumeName");
            let disks = vios.element.child("PhysicalVolumes").into_iter().flat_map(|list| &list.children);
            let mut disk = disks.into_iter().find(|disk| disk.text("VolumeName") == name).cloned();
            if let Some(disk) = &mut disk
                && let Some(tag) = wanted.child("Tag")
            {
                disk.put(tag.clone());
            }
            disk.ok_or_else(|| missing("physical volume", name))
        }
        "VirtualOpticalMedia" => {
            let name = wanted.text("MediaName");
            let medium = storage::find_medium(state, host, &vios.id, name).cloned();
            medium.ok_or_else(|| missing("optical medium", name))
        }
        "VirtualDisk" => {
            let disk = storage::find_disk(state, host, &vios.id, wanted);
            disk.ok_or_else(|| missing("virtual disk", wanted.text("DiskName")))
        }
        "LogicalUnit" => {
            let (udid, name) = (wanted.text("UniqueDeviceID"), wanted.text("UnitName"));
            let unit = pool::find_unit(state, host, udid, name).map(|unit| unit.element.clone());
            unit.ok_or_else(|| missing("logical unit", if name.is_empty() { udid } else { name }))
        }
        other => Err(Fault::schema(format!("'{other}' cannot be mapped."))),
    }
}
