//! What a device is told about itself.

use serde_json::{Value, json};

use super::call::Call;
use super::catalogue;
use super::reply::{Answer, Refusal, object};
use super::state::{Device, State};
use super::{addresses, bgp};
use crate::core::Response;

fn device<'a>(state: &'a State, id: &str) -> Result<&'a Device, Refusal> {
    state.device(id).filter(|device| !device.hidden).ok_or_else(Refusal::not_found)
}

/// The document that the instance's own service serves at `/metadata`.
pub(super) fn document(state: &State, call: &Call, id: &str) -> Answer {
    let device = device(state, id)?;
    let keys = state.keys.iter().filter(|key| device.ssh_keys.contains(&key.id)).map(|key| &key.key);
    let system = catalogue::show_system(call.base, &device.os);
    let interfaces = device.ports.iter().skip(1);
    let mut document = json!({
        "id": device.id,
        "hostname": device.hostname,
        "iqn": format!("iqn.2020-01.net.packet:device.{}", &device.id[..8]),
        "operating_system": {
            "slug": device.os,
            "distro": system["distro"],
            "version": system["version"],
            "license_activation": {"state": "unlicensed"},
            "image_tag": null,
        },
        "plan": device.plan,
        "class": device.plan,
        "facility": device.facility,
        "metro": device.metro,
        "reserved": device.reservation.is_some(),
        "private_subnets": ["10.0.0.0/8"],
        "tags": device.tags,
        "ssh_keys": keys.collect::<Vec<_>>(),
        "customdata": device.customdata,
        "specs": catalogue::plan(&device.plan).map(|plan| catalogue::show_plan(call.base, plan)["specs"].clone()),
        "switch_short_id": &catalogue::fixed_id("switch", &device.facility)[..8],
        "storage": {},
        "volumes": [],
        "network": {
            "bonding": {
                "mode": 4,
                "link_aggregation": "mlag_ha",
                "mac": device.ports.first().map(|port| &port.mac),
            },
            "interfaces": interfaces.map(|port| json!({"name": port.name, "mac": port.mac, "bond": "bond0"})).collect::<Vec<_>>(),
            "addresses": addresses::show_device(state, call.base, device),
            "metal_gateways": [],
        },
        "api_url": "https://metadata.platformequinix.com",
        "phone_home_url": format!("http://tinkerbell.{}.packet.net/phone-home", device.facility),
        "user_state_url": format!("http://tinkerbell.{}.packet.net/events", device.facility),
    });
    let neighbors = bgp::neighbor_list(state, id)?;
    if !neighbors.is_empty() {
        document["bgp_neighbors"] = json!(neighbors);
    }
    if device.spot {
        document["spot"] = match device.termination {
            Some(at) => json!({"termination_time": state.time(at)}),
            None => json!({}),
        };
    }
    Ok(object(200, &document))
}

pub(super) fn userdata(state: &State, id: &str) -> Answer {
    let device = device(state, id)?;
    Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
        body: device.userdata.clone().into(),
    })
}

pub(super) fn customdata(state: &State, id: &str) -> Answer {
    Ok(object(200, &device(state, id)?.customdata))
}

/// A line without a curve: nothing here measures traffic.
pub(super) fn bandwidth(state: &State, call: &Call, id: &str) -> Answer {
    let device = device(state, id)?;
    let (from, until) = (call.decimal("from").unwrap_or_default(), call.decimal("until").unwrap_or_default());
    let series = |target: &str| -> Value {
        json!({
            "target": target,
            "tags": {"aggregatedBy": "average", "name": device.hostname},
            "datapoints": [[0, from], [0, until]],
        })
    };
    Ok(object(200, &json!({"bandwidth": [series("inbound"), series("outbound")]})))
}
