//! The guests of virtual servers: what they are told, and what they say.

use super::cloud::Cloud;
use super::power::{Instance, Workspace};
use crate::core::guest::{GuestCommand, GuestDisk, GuestEvent, GuestMachine, GuestNic, UserData, UserDataFormat};

fn find_mut<'a>(cloud: &'a mut Cloud, id: &str) -> Option<&'a mut Instance> {
    cloud.state.workspaces.values_mut().find_map(|own| own.instances.get_mut(id))
}

/// Switches the guest of a virtual server on.
pub(super) fn start(cloud: &mut Cloud, ws: &str, id: &str) {
    let Some(own) = cloud.state.workspaces.get(ws) else { return };
    let Some(instance) = own.instances.get(id).filter(|instance| !instance.guest_started) else { return };
    let machine = machine(own, instance);
    cloud.state.guest_commands.push(GuestCommand::Start(Box::new(machine)));
    if let Some(instance) = find_mut(cloud, id) {
        instance.guest_started = true;
    }
}

/// Pulls the plug.
pub(super) fn stop(cloud: &mut Cloud, id: &str) {
    let Some(instance) = find_mut(cloud, id).filter(|instance| instance.guest_started) else { return };
    instance.guest_started = false;
    instance.guest_up = false;
    cloud.state.guest_commands.push(GuestCommand::Stop { id: id.to_owned() });
}

fn machine(own: &Workspace, instance: &Instance) -> GuestMachine {
    let disks = instance.volumes.iter().filter_map(|id| own.volumes.get(id)).map(|volume| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small and positive")]
        let size_bytes = (volume.size_gb * 1e9) as u64;
        GuestDisk {
            id: volume.id.clone(),
            size_bytes,
            bootable: volume.bootable,
            image: volume.boot.then(|| instance.image.clone()),
        }
    });
    let nics = instance.interfaces.iter().filter_map(|id| own.interfaces.get(id)).enumerate();
    let nics = nics.map(|(number, interface)| GuestNic {
        name: format!("env{}", number + 2),
        mac: interface.mac.clone(),
        network: interface.network.clone(),
        address: interface.address.map(Into::into),
    });
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "machines are small")]
    let (cpus, memory_mib) = (instance.processors.ceil() as u32, (instance.memory_gib * 1024.0) as u64);
    GuestMachine {
        id: instance.id.clone(),
        name: instance.name.clone(),
        hostname: Some(instance.name.clone()),
        // Each core runs eight threads.
        cpus: cpus * 8,
        memory_mib,
        serial: Some(instance.id.clone()),
        disks: disks.collect(),
        nics: nics.collect(),
        user_data: (!instance.user_data.is_empty())
            .then(|| UserData { format: UserDataFormat::Ignition, content: instance.user_data.clone() }),
        boot_script: None,
    }
}

/// Takes note of what a guest did.
pub(super) fn event(cloud: &mut Cloud, event: &GuestEvent) {
    let Some(instance) = find_mut(cloud, event.id()).filter(|instance| instance.guest_started) else { return };
    match event {
        GuestEvent::Booted { .. } => instance.guest_up = true,
        GuestEvent::Rebooting { .. } => instance.guest_up = false,
        GuestEvent::PoweredOff { .. } => {
            instance.guest_up = false;
            instance.guest_started = false;
            if instance.status == "ACTIVE" {
                "SHUTOFF".clone_into(&mut instance.status);
            }
        }
        // The platform leases addresses, and its routers listen to nobody.
        GuestEvent::Addresses { .. } | GuestEvent::Announces { .. } => {}
    }
}
