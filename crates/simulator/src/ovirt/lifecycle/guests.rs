//! The guests of VMs: what they are told, and what they say.

use super::power;
use super::vm::Event;
use crate::core::guest::{
    GuestCommand, GuestDisk, GuestEvent, GuestInterface, GuestMachine, GuestNic, UserData, UserDataFormat,
};
use crate::ovirt::model::{GuestReport, Nic, ReportedInterface, Vm, VmStatus};
use crate::ovirt::operating_systems::Delivery;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Switches the guest of a VM on, with what this run delivers to it.
pub(super) fn start(state: &mut State, id: Id) {
    let Some(vm) = state.vms.get(id).filter(|vm| !vm.guest_started) else { return };
    let machine = machine(state, vm);
    state.guest_commands.push(GuestCommand::Start(Box::new(machine)));
    if let Some(vm) = state.vms.get_mut(id) {
        vm.guest_started = true;
    }
}

/// Pulls the plug.
pub(super) fn stop(state: &mut State, id: Id) {
    if let Some(vm) = state.vms.get_mut(id).filter(|vm| vm.guest_started) {
        vm.guest_started = false;
        state.guest_commands.push(GuestCommand::Stop { id: id.to_string() });
    }
}

/// Presses the power button.
pub(super) fn shut_down(state: &mut State, id: Id) {
    if state.vms.get(id).is_some_and(|vm| vm.guest_started) {
        state.guest_commands.push(GuestCommand::Shutdown { id: id.to_string() });
    }
}

/// Asks for a reboot, or forces one; a guest that reboots of itself needs neither.
pub(super) fn reboot(state: &mut State, id: Id, event: Event) {
    match event {
        Event::Reboot if state.vms.get(id).is_some_and(|vm| vm.guest_started) => {
            state.guest_commands.push(GuestCommand::Reboot { id: id.to_string() });
        }
        Event::Reset => {
            if let Some(vm) = state.vms.get_mut(id) {
                vm.guest_started = false;
            }
            start(state, id);
        }
        _ => {}
    }
}

fn machine(state: &State, vm: &Vm) -> GuestMachine {
    let initialization = vm.effective().sub("initialization");
    let mut attachments: Vec<_> = vm.disks.iter().filter(|attachment| attachment.active).collect();
    attachments.sort_by_key(|attachment| !attachment.bootable);
    let disks = attachments.into_iter().filter_map(|attachment| {
        let disk = state.disks.get(attachment.disk)?;
        Some(GuestDisk {
            id: disk.id.to_string(),
            size_bytes: disk.provisioned_bytes,
            bootable: attachment.bootable,
            image: disk.origin.as_deref().map(str::to_owned),
        })
    });
    let static_address = |index: usize| {
        let configuration = initialization?.list("nic_configurations")?.nth(index)?;
        configuration.text("boot_protocol").filter(|protocol| *protocol == "static")?;
        configuration.sub("ip")?.text("address")?.parse().ok()
    };
    let nics = vm.nics.iter().filter(|nic| nic.plugged && nic.linked).enumerate().map(|(index, nic)| GuestNic {
        name: nic.name.to_string(),
        mac: nic.mac.to_string(),
        network: network_of(state, nic),
        address: static_address(index),
    });
    GuestMachine {
        id: vm.id.to_string(),
        name: vm.name.to_string(),
        hostname: initialization.and_then(|init| init.text("host_name")).map(str::to_owned),
        cpus: vm.cpus(),
        memory_mib: vm.memory_bytes() >> 20,
        serial: Some(vm.id.to_string()),
        disks: disks.collect(),
        nics: nics.collect(),
        user_data: vm.drive.as_ref().map(|drive| UserData {
            format: match drive.delivery {
                Delivery::Ignition => UserDataFormat::Ignition,
                Delivery::CloudInit => UserDataFormat::CloudInit,
                Delivery::Sysprep => UserDataFormat::Raw,
            },
            content: drive.user_data().to_owned(),
        }),
        boot_script: None,
    }
}

fn network_of(state: &State, nic: &Nic) -> String {
    let profile = nic.profile.and_then(|profile| state.vnic_profiles.get(profile));
    let network = profile.and_then(|profile| state.networks.get(profile.network));
    network.map(|network| network.name.to_string()).unwrap_or_default()
}

/// Takes note of what a guest did; an event of a VM that is gone or off came too late.
pub(crate) fn event(state: &mut State, event: &GuestEvent) {
    let Some(vm) = Id::try_parse(event.id()).ok().and_then(|id| state.vms.get_mut(id)) else { return };
    if !vm.guest_started {
        return;
    }
    let (id, status) = (vm.id, vm.status);
    let happened = match event {
        GuestEvent::Booted { .. } => {
            matches!(status, VmStatus::PoweringUp | VmStatus::RebootInProgress).then_some(Event::GuestUp)
        }
        GuestEvent::Addresses { hostname, interfaces, .. } => {
            vm.guest = Some(Box::new(report(hostname.as_deref(), interfaces)));
            None
        }
        GuestEvent::Rebooting { .. } => (status != VmStatus::RebootInProgress
            && super::vm::next(status, Event::GuestReboots).is_ok())
        .then_some(Event::GuestReboots),
        GuestEvent::PoweredOff { .. } => {
            vm.guest_started = false;
            Some(Event::GuestOff)
        }
        // Routers are none of an engine's business.
        GuestEvent::Announces { .. } => None,
    };
    if let Some(happened) = happened {
        power::due(state, id, happened);
    }
}

fn report(hostname: Option<&str>, interfaces: &[GuestInterface]) -> GuestReport {
    GuestReport {
        hostname: hostname.map(Into::into),
        interfaces: interfaces
            .iter()
            .map(|interface| ReportedInterface {
                name: interface.name.as_str().into(),
                mac: interface.mac.as_str().into(),
                addresses: interface.addresses.clone(),
            })
            .collect(),
    }
}
