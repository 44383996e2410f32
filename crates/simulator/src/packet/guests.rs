//! The guests of devices: what they are told, what they say, and which elastic addresses lead to them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use super::catalogue;
use super::state::{Device, DeviceState, State};
use crate::core::guest::{GuestCommand, GuestDisk, GuestEvent, GuestMachine, GuestNic, UserData, UserDataFormat};

/// Switches the guest of a device on.
pub(super) fn start(state: &mut State, id: &str) {
    let Some(device) = state.device(id).filter(|device| !device.guest_started) else { return };
    let machine = machine(device);
    state.guest_commands.push(GuestCommand::Start(Box::new(machine)));
    if let Some(device) = state.device_mut(id) {
        device.guest_started = true;
    }
    // A machine that starts anew is told again what leads to it.
    state.routes.remove(id);
}

/// Pulls the plug.
pub(super) fn stop(state: &mut State, id: &str) {
    let Some(device) = state.device_mut(id).filter(|device| device.guest_started) else { return };
    device.guest_started = false;
    device.guest_up = false;
    device.announced.clear();
    state.guest_commands.push(GuestCommand::Stop { id: id.to_owned() });
}

fn machine(device: &Device) -> GuestMachine {
    let plan = catalogue::plan(&device.plan);
    let public = device.management.iter().find(|own| own.family == 4 && own.public);
    let address = public.and_then(|own| own.address.parse().ok());
    let inline = device.userdata.starts_with("#!ipxe");
    let script = (device.os == "custom_ipxe" && !inline).then(|| device.ipxe_script_url.clone()).flatten();
    GuestMachine {
        id: device.id.clone(),
        name: device.hostname.clone(),
        hostname: Some(device.hostname.clone()),
        cpus: plan.map_or(4, |plan| plan.cpus * plan.cores),
        memory_mib: plan.map_or(8192, |plan| plan.memory_gb * 1024),
        serial: Some(device.id.clone()),
        disks: vec![GuestDisk { id: device.disk.clone(), size_bytes: 480_000_000_000, bootable: true, image: None }],
        nics: vec![GuestNic {
            name: "bond0".to_owned(),
            mac: device.ports.first().map(|port| port.mac.clone()).unwrap_or_default(),
            network: device.metro.clone(),
            address,
        }],
        user_data: (!inline).then(|| UserData { format: UserDataFormat::Ignition, content: device.userdata.clone() }),
        boot_script: script,
    }
}

/// Takes note of what a guest did.
pub(super) fn event(state: &mut State, event: GuestEvent) {
    let Some(device) = state.device_mut(event.id()) else { return };
    match event {
        GuestEvent::Booted { .. } => device.guest_up = true,
        GuestEvent::Rebooting { .. } => device.guest_up = false,
        GuestEvent::PoweredOff { .. } => {
            device.guest_up = false;
            device.guest_started = false;
            device.announced.clear();
            if device.state == DeviceState::Active {
                device.state = DeviceState::Inactive;
            }
        }
        GuestEvent::Announces { addresses, .. } => {
            device.announced = addresses
                .into_iter()
                .filter_map(|address| match address {
                    IpAddr::V4(address) => Some(address),
                    IpAddr::V6(_) => None,
                })
                .collect();
        }
        // The platform knows the addresses: it gave them.
        GuestEvent::Addresses { .. } => {}
    }
}

/// Tells guests which elastic addresses lead to them. An address that is assigned leads to its device whatever anybody
/// announces; one that is not leads to a device with a BGP session that announces it.
pub(super) fn update_routes(state: &mut State) {
    let mut routes: BTreeMap<String, BTreeSet<Ipv4Addr>> = BTreeMap::new();
    for device in state.devices.iter().filter(|device| device.guest_started) {
        routes.insert(device.id.clone(), BTreeSet::new());
    }
    for block in state.blocks.iter().filter(|block| !block.management && block.kind.ends_with("ipv4")) {
        let Ok(address) = block.network.parse::<Ipv4Addr>() else { continue };
        let assigned = block.assignments.first().map(|assignment| assignment.device.clone());
        let target = assigned.or_else(|| {
            let announces = |device: &&Device| {
                device.announced.contains(&address)
                    && state.sessions.iter().any(|session| session.device == device.id && session.family == "ipv4")
            };
            state.devices.iter().find(announces).map(|device| device.id.clone())
        });
        if let Some(route) = target.and_then(|target| routes.get_mut(&target)) {
            route.insert(address);
        }
    }
    // Taken away first, so that no two machines have one address at a time.
    let mut changed: Vec<(&String, &BTreeSet<Ipv4Addr>)> = routes
        .iter()
        .filter(|(id, route)| state.routes.get(*id).map_or(!route.is_empty(), |before| before != *route))
        .collect();
    changed.sort_by_key(|(_, route)| route.len());
    for (id, route) in changed {
        let addresses = route.iter().map(|address| IpAddr::V4(*address)).collect();
        state.guest_commands.push(GuestCommand::Route { id: id.clone(), addresses });
    }
    state.routes = routes;
}
