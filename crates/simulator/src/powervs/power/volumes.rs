//! Volumes.

use serde_json::{Value, json};

use super::{Volume, Workspace, crn, images::TIERS, log, workspace, workspace_mut};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, json_reply};
use crate::powervs::tags;

fn show(cloud: &Cloud, own: &Workspace, volume: &Volume) -> Value {
    let rate = TIERS.iter().find(|(tier, _)| *tier == volume.tier).map_or(3, |(_, rate)| *rate);
    let rate = if rate == 0 { 5000.0 } else { f64::from(rate) * volume.size_gb };
    json!({
        "volumeID": volume.id,
        "name": volume.name,
        "size": volume.size_gb,
        "state": volume.state,
        "diskType": volume.tier,
        "volumePool": volume.pool,
        "volumeType": format!("{}-{}", volume.tier, volume.pool),
        "shareable": volume.shareable,
        "bootable": volume.bootable,
        "bootVolume": volume.boot,
        "deleteOnTermination": volume.boot,
        "auxiliary": false,
        "replicationEnabled": false,
        "ioThrottleRate": format!("{rate} iops"),
        "wwn": volume.wwn,
        "pvmInstanceIDs": volume.instances,
        "creationDate": cloud.time(volume.created),
        "lastUpdateDate": cloud.time(volume.created),
        "crn": crn(cloud, own, "volume", &volume.id),
        "userTags": tags::of(cloud, &crn(cloud, own, "volume", &volume.id)),
        "href": own.href(&format!("volumes/{}", volume.id)),
    })
}

fn find<'a>(own: &'a Workspace, id: &str) -> Result<&'a Volume, Refusal> {
    let missing = || Refusal::new(404, "volume not found", format!("volume {id} not found"));
    own.volumes.get(id).ok_or_else(missing)
}

pub(super) fn list(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let shown: Vec<Value> = own.volumes.values().map(|volume| show(cloud, own, volume)).collect();
    Ok(json_reply(200, &json!({ "volumes": shown })))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    Ok(json_reply(200, &show(cloud, own, find(own, id)?)))
}

/// A volume as the platform makes it.
pub(super) fn make(cloud: &mut Cloud, name: &str, size_gb: f64, tier: &str) -> Volume {
    Volume {
        id: cloud.id(),
        name: name.to_owned(),
        state: "creating".to_owned(),
        size_gb,
        tier: tier.to_owned(),
        pool: "Tier3-Flash-1".to_owned(),
        shareable: false,
        bootable: false,
        boot: false,
        wwn: cloud.hex(32).to_uppercase(),
        instances: Vec::new(),
        created: cloud.state.now,
    }
}

pub(super) fn create(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let name = call.need("name")?.to_owned();
    let size = call.value("size").and_then(Value::as_f64).filter(|size| (1.0..=100_000.0).contains(size));
    let size = size.ok_or_else(|| Refusal::invalid("size must be a number of GB from 1 to 100000"))?;
    let tier = call.text("diskType").unwrap_or("tier3");
    if !TIERS.iter().any(|(known, _)| *known == tier) {
        return Err(Refusal::invalid(format!("diskType {tier} is not supported")));
    }
    let tags = tags::of_call(call, "userTags")?;
    let mut volume = make(cloud, &name, size, tier);
    volume.shareable = call.value("shareable").and_then(Value::as_bool).unwrap_or(false);
    let id = volume.id.clone();
    workspace_mut(cloud, ws)?.volumes.insert(id.clone(), volume);
    let name_everywhere = crn(cloud, workspace(cloud, ws)?, "volume", &id);
    tags::attach(cloud, &name_everywhere, &tags);
    cloud.later(Kind::Volume, &id, Event::Done);
    log(cloud, ws, "info", "volume", "create", &format!("Volume {name} is being made"));
    let own = workspace(cloud, ws)?;
    Ok(json_reply(202, &show(cloud, own, find(own, &id)?)))
}

/// A volume is there, or is not going to be.
pub(in crate::powervs) fn done(cloud: &mut Cloud, id: &str) {
    let name = cloud.state.workspaces.values().find_map(|own| own.volumes.get(id)).map(|volume| volume.name.clone());
    let Some(name) = name else { return };
    let state = match cloud.outcome(Kind::Volume, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "error",
        _ => "available",
    };
    let volume = cloud.state.workspaces.values_mut().find_map(|own| own.volumes.get_mut(id));
    if let Some(volume) = volume.filter(|volume| volume.state == "creating") {
        state.clone_into(&mut volume.state);
    }
}

pub(super) fn update(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Answer {
    let before = find(workspace(cloud, ws)?, id)?.size_gb;
    let size = call.value("size").and_then(Value::as_f64);
    if size.is_some_and(|size| size < before) {
        return Err(Refusal::invalid("a volume cannot shrink"));
    }
    if let Some(volume) = workspace_mut(cloud, ws)?.volumes.get_mut(id) {
        if let Some(name) = call.text("name") {
            name.clone_into(&mut volume.name);
        }
        volume.size_gb = size.unwrap_or(volume.size_gb);
        volume.shareable = call.value("shareable").and_then(Value::as_bool).unwrap_or(volume.shareable);
    }
    get(cloud, ws, id)
}

pub(super) fn delete(cloud: &mut Cloud, ws: &str, id: &str) -> Answer {
    let volume = find(workspace(cloud, ws)?, id)?;
    if !volume.instances.is_empty() {
        return Err(Refusal::conflict(format!("volume {id} is attached to pvm-instances")));
    }
    workspace_mut(cloud, ws)?.volumes.shift_remove(id);
    Ok(json_reply(200, &json!({})))
}

pub(super) fn of_instance(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let mounted = own.volumes.values().filter(|volume| volume.instances.iter().any(|other| other == id));
    let shown: Vec<Value> = mounted.map(|volume| show(cloud, own, volume)).collect();
    Ok(json_reply(200, &json!({ "volumes": shown })))
}

pub(super) fn attach(cloud: &mut Cloud, ws: &str, id: &str, volume: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let found = find(own, volume)?;
    if !own.instances.contains_key(id) {
        return Err(Refusal::new(404, "pvm-instance not found", format!("pvm-instance {id} not found")));
    }
    if found.state == "creating" || (!found.instances.is_empty() && !found.shareable) {
        return Err(Refusal::conflict(format!("volume {volume} is {}", found.state)));
    }
    let own = workspace_mut(cloud, ws)?;
    if let Some(found) = own.volumes.get_mut(volume) {
        found.instances.push(id.to_owned());
        "in-use".clone_into(&mut found.state);
    }
    if let Some(instance) = own.instances.get_mut(id) {
        instance.volumes.push(volume.to_owned());
    }
    Ok(json_reply(200, &json!({})))
}

pub(super) fn detach(cloud: &mut Cloud, ws: &str, id: &str, volume: &str) -> Answer {
    let found = find(workspace(cloud, ws)?, volume)?;
    if found.boot || !found.instances.iter().any(|other| other == id) {
        return Err(Refusal::conflict(format!("volume {volume} is the boot volume, or is not attached to {id}")));
    }
    let own = workspace_mut(cloud, ws)?;
    if let Some(found) = own.volumes.get_mut(volume) {
        found.instances.retain(|other| other != id);
        if found.instances.is_empty() {
            "available".clone_into(&mut found.state);
        }
    }
    if let Some(instance) = own.instances.get_mut(id) {
        instance.volumes.retain(|other| other != volume);
    }
    Ok(json_reply(202, &json!({})))
}
