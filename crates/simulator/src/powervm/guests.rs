//! The guests of partitions: what they are told, and what they say.

use super::operations;
use super::partition;
use super::state::State;
use super::xml::Element;
use crate::core::guest::{GuestCommand, GuestDisk, GuestEvent, GuestMachine, GuestNic, UserData, UserDataFormat};

/// Switches a guest on, with the config drive that it finds in its virtual optical device.
pub(crate) fn start(state: &mut State, host: usize, id: &str) {
    if let Some(machine) = machine(state, host, id) {
        state.guest_commands.push(GuestCommand::Start(Box::new(machine)));
    }
}

/// Pulls the plug.
pub(crate) fn stop(state: &mut State, _host: usize, id: &str) {
    state.guest_commands.push(GuestCommand::Stop { id: id.to_owned() });
}

/// Asks the operating system.
pub(crate) fn shut_down(state: &mut State, id: &str, restart: bool) {
    let id = id.to_owned();
    state.guest_commands.push(if restart { GuestCommand::Reboot { id } } else { GuestCommand::Shutdown { id } });
}

fn machine(state: &State, host: usize, id: &str) -> Option<GuestMachine> {
    let object = state.of_kind(host, "LogicalPartition", id)?;
    let element = &object.element;
    let number = object.partition_id();
    let (memory_mib, units) = partition::share(element);
    let cpus = element.number("PartitionProcessorConfiguration/SharedProcessorConfiguration/DesiredVirtualProcessors");
    let mut disks = Vec::new();
    let mut drive = None;
    for vios in state.all(host, "VirtualIOServer") {
        let mappings = vios.element.child("VirtualSCSIMappings").into_iter().flat_map(|list| &list.children);
        for mapping in mappings.filter(|mapping| mapping.number("ClientAdapter/LocalPartitionID") == Some(number)) {
            let Some(thing) = mapping.child("Storage").and_then(|storage| storage.children.first()) else { continue };
            if thing.name == "VirtualOpticalMedia" {
                drive = state.hosts[host].media.get(&format!("{}/{}", vios.id, thing.text("MediaName"))).or(drive);
                continue;
            }
            let disk = GuestDisk {
                id: super::storage::identity(thing),
                size_bytes: size(thing),
                bootable: disks.is_empty(),
                image: thing.child("ClonedFrom").map(|source| source.text.clone()),
            };
            // Every VIOS shows the same unit: paths to one disk.
            if !disks.iter().any(|other: &GuestDisk| other.id == disk.id) {
                disks.push(disk);
            }
        }
    }
    let nics = state.children(host, id, "ClientNetworkAdapter").map(|adapter| GuestNic {
        name: format!("env{}", adapter.element.text("VirtualSlotNumber")),
        mac: colons(adapter.element.text("MACAddress")),
        network: format!("{}/{}", adapter.element.text("VirtualSwitchID"), adapter.element.text("PortVLANID")),
        address: None,
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "processors are few")]
    let whole = units.ceil() as u32;
    Some(GuestMachine {
        boot_script: None,
        id: id.to_owned(),
        name: element.text("PartitionName").to_owned(),
        hostname: drive.and_then(|drive| drive.hostname.clone()),
        cpus: cpus.unwrap_or(whole),
        memory_mib,
        serial: Some(id.to_owned()),
        disks,
        nics: nics.collect(),
        user_data: drive.and_then(|drive| drive.user_data.clone()).map(|content| UserData {
            format: if content.trim_start().starts_with('{') {
                UserDataFormat::Ignition
            } else {
                UserDataFormat::CloudInit
            },
            content,
        }),
    })
}

fn colons(mac: &str) -> String {
    let pairs: Vec<&str> = mac.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
    pairs.join(":").to_lowercase()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes of disks are far below 2^52")]
fn size(thing: &Element) -> u64 {
    let gigabytes = |field: &str| thing.number::<f64>(field).map(|size| (size * f64::from(1 << 30)) as u64);
    gigabytes("UnitCapacity")
        .or_else(|| gigabytes("DiskCapacity"))
        .or_else(|| thing.number::<u64>("VolumeCapacity").map(|size| size << 20))
        .unwrap_or_default()
}

/// Takes note of what a guest did.
pub(crate) fn event(state: &mut State, event: &GuestEvent) {
    let id = event.id().to_owned();
    let Some(host) = (0..state.hosts.len()).find(|host| state.hosts[*host].objects.contains_key(&id)) else { return };
    let running = state.object(host, &id).is_some_and(|object| object.element.text("PartitionState") == "running");
    match event {
        GuestEvent::Booted { .. } if running => {
            let connected = !state.hosts[host].cut_off.contains(&id);
            if let Some(object) = state.object_mut(host, &id) {
                object.element.set("ResourceMonitoringControlState", if connected { "active" } else { "inactive" });
                object.element.put(partition::capabilities(connected));
                object.element.set("OperatingSystemVersion", "Linux/Unknown");
                object.element.set("ReferenceCode", "Linux ppc64le");
            }
            state.announce(host, "MODIFY_URI", &id, "ReferenceCode");
        }
        GuestEvent::Addresses { interfaces, .. } => {
            let address = interfaces.iter().flat_map(|interface| &interface.addresses).next();
            if let (Some(address), Some(object)) = (address, state.object_mut(host, &id)) {
                object.element.set("ResourceMonitoringIPAddress", address);
            }
        }
        GuestEvent::Rebooting { .. } => {
            if let Some(object) = state.object_mut(host, &id) {
                object.element.set("ResourceMonitoringControlState", "inactive");
                object.element.put(partition::capabilities(false));
            }
        }
        GuestEvent::PoweredOff { .. } if running => operations::switch_off(state, host, &id),
        _ => {}
    }
}
