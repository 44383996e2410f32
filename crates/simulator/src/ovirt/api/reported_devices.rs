//! What the guest agent reports about a VM's interfaces, of the whole VM or of one interface.

use super::found::{Found, Lookup, parse_id};
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Nic, ReportedInterface, Vm};
use crate::ovirt::table::Id;

/// The reported devices of a VM or of one of its interfaces, or one of them.
pub(crate) fn sub<'s>(vm: &'s Vm, nic: Option<&'s Nic>, parts: &[&str]) -> Lookup<'s> {
    let base = nic.map_or_else(|| format!("vms/{}", vm.id), |nic| format!("vms/{}/nics/{}", vm.id, nic.id));
    let report = vm.guest.as_ref().filter(|_| vm.is_running());
    let devices: Vec<&ReportedInterface> = report
        .map(|report| report.interfaces.iter().filter(|device| nic.is_none_or(|nic| nic.mac == device.mac)).collect())
        .unwrap_or_default();
    let write = move |view: &mut View, element: &'static str, device: &ReportedInterface| {
        let id = device_id(vm, device);
        view.open(element, format_args!("{base}/reporteddevices/{id}"), id);
        view.out.text("name", &device.name);
        view.out.text("description", "guest reported data");
        view.out.open_list("ips", "ip");
        for address in &device.addresses {
            view.out.open("ip");
            view.out.text("address", address);
            view.out.text("version", if address.is_ipv4() { "v4" } else { "v6" });
            view.close();
        }
        view.close();
        view.out.open("mac");
        view.out.text("address", &device.mac);
        view.close();
        view.out.text("type", "network");
        view.reference("vm", "vms", vm.id);
        view.close();
    };
    match parts {
        [] => Ok(Found::list("reported_devices", "reported_device", move |view| {
            for device in &devices {
                write(view, "reported_device", device);
            }
        })),
        [id] => {
            let id = parse_id(id)?;
            let device = devices.into_iter().find(|device| device_id(vm, device) == id).ok_or_else(Fault::not_found)?;
            Ok(Found::item("reported_device", move |view, element| write(view, element, device)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// A device's id follows from the VM and the hardware address, so that it can be looked up again.
fn device_id(vm: &Vm, device: &ReportedInterface) -> Id {
    let mac = device.mac.bytes().filter(u8::is_ascii_hexdigit).fold(0_u128, |id, digit| (id << 5) ^ u128::from(digit));
    Id::from_u128(vm.id.as_u128() ^ mac)
}
