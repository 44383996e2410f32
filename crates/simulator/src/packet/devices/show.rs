//! A device as the API shows it.

use serde_json::{Value, json};

use super::super::catalogue;
use super::super::state::{Device, State};
use super::super::{addresses, lifecycle, networks};

/// The device with everything that lists hold, too.
pub(in super::super) fn show(state: &State, base: &str, device: &Device) -> Value {
    let id = &device.id;
    let plan = catalogue::plan(&device.plan).map(|plan| catalogue::show_plan(base, plan));
    let mut shown = json!({
        "id": id,
        "short_id": &id[..8],
        "hostname": device.hostname,
        "description": device.description,
        "state": device.state.word(),
        "tags": device.tags,
        "image_url": null,
        "billing_cycle": device.billing_cycle,
        "user": if device.os.contains("flatcar") { "core" } else { "root" },
        "iqn": format!("iqn.2020-01.net.packet:device.{}", &id[..8]),
        "locked": device.locked,
        "bonding_mode": 4,
        "created_at": state.time(device.created),
        "updated_at": state.time(device.updated),
        "created_by": {"id": state.user, "short_id": &state.user[..8], "href": format!("{base}/users/{}", state.user)},
        "ipxe_script_url": device.ipxe_script_url,
        "always_pxe": device.always_pxe,
        "network_frozen": device.network_frozen,
        "storage": {},
        "customdata": device.customdata,
        "operating_system": catalogue::show_system(base, &device.os),
        "facility": catalogue::show_facility(base, &device.facility),
        "metro": catalogue::show_metro(base, &device.metro),
        "project": {"href": format!("{base}/projects/{}", device.project)},
        "project_lite": {"href": format!("{base}/projects/{}", device.project)},
        "ssh_keys": device.ssh_keys.iter().map(|key| json!({"href": format!("{base}/ssh-keys/{key}")})).collect::<Vec<_>>(),
        "volumes": [],
        "actions": [],
        "ip_addresses": addresses::show_device(state, base, device),
        "network_ports": networks::show_ports(state, base, device),
        "plan": plan,
        "userdata": device.userdata,
        "switch_uuid": &catalogue::fixed_id("switch", &device.facility)[..8],
        "sos": format!("{id}@sos.{}.platformequinix.com", device.facility),
        "spot_instance": device.spot,
        "root_password": device.root_password,
        "href": format!("{base}/devices/{id}"),
    });
    if let Some(price) = device.spot_price_max {
        shown["spot_price_max"] = json!(price);
    }
    if let Some(time) = device.termination {
        shown["termination_time"] = json!(state.time(time));
    }
    if let Some(reservation) = &device.reservation {
        shown["hardware_reservation"] = json!({"href": format!("{base}/hardware-reservations/{reservation}")});
    }
    if device.state.is_underway() {
        let (events, share) = lifecycle::progress(state, device);
        shown["provisioning_events"] = json!(events);
        shown["provisioning_percentage"] = json!(share);
    }
    shown
}
