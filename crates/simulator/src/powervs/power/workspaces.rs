//! Workspaces as power-iaas sees them, and their Power Edge Routers.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Workspace, instances, places, workspace};
use crate::powervs::agenda::Event;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, json_reply};

/// A workspace is there; its router takes a while longer.
pub(in crate::powervs) fn open(cloud: &mut Cloud, guid: &str, name: &str, zone: &str) {
    let cloud_id = cloud.hex(32);
    let router = places::has_router(zone);
    let own = Workspace {
        guid: guid.to_owned(),
        cloud_id,
        name: name.to_owned(),
        zone: zone.to_owned(),
        router: if router { "configuring" } else { "inactive" }.to_owned(),
        created: cloud.state.now,
        images: IndexMap::new(),
        jobs: Vec::new(),
        networks: IndexMap::new(),
        interfaces: IndexMap::new(),
        dhcp_servers: IndexMap::new(),
        instances: IndexMap::new(),
        volumes: IndexMap::new(),
        placement_groups: IndexMap::new(),
        events: Vec::new(),
    };
    cloud.state.workspaces.insert(guid.to_owned(), own);
    if router {
        cloud.later(Kind::Router, guid, Event::Done);
    }
}

/// The router of a workspace is there, or is not going to be.
pub(in crate::powervs) fn routed(cloud: &mut Cloud, guid: &str) {
    let Some(name) = cloud.state.workspaces.get(guid).map(|own| own.name.clone()) else { return };
    let state = match cloud.outcome(Kind::Router, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "error",
        _ => "active",
    };
    if let Some(own) = cloud.state.workspaces.get_mut(guid) {
        state.clone_into(&mut own.router);
    }
}

fn show(cloud: &Cloud, own: &Workspace) -> Value {
    json!({
        "id": own.guid,
        "name": own.name,
        "status": "active",
        "type": "off-premises",
        "capabilities": places::capabilities(&own.zone),
        "location": {
            "region": own.zone,
            "type": "data-center",
            "url": format!("https://{}.power-iaas.cloud.ibm.com", crate::powervs::places::region_of(&own.zone)),
        },
        "details": {
            "crn": cloud.crn("power-iaas", &own.zone, &own.guid, "", ""),
            "creationDate": cloud.time(own.created),
            "href": format!("/v1/workspaces/{}", own.guid),
            "networkSecurityGroups": { "state": "inactive" },
            "powerEdgeRouter": { "state": own.router, "type": "automated" },
        },
    })
}

pub(super) fn list(cloud: &Cloud) -> Answer {
    let shown: Vec<Value> = cloud.state.workspaces.values().map(|own| show(cloud, own)).collect();
    Ok(json_reply(200, &json!({ "workspaces": shown })))
}

pub(super) fn get(cloud: &Cloud, id: &str) -> Answer {
    let own = cloud.state.workspaces.get(id).ok_or_else(|| Refusal::not_found("workspace", id))?;
    Ok(json_reply(200, &show(cloud, own)))
}

pub(super) fn cloud_instance(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let sum = |value: fn(&super::Instance) -> f64| own.instances.values().map(value).sum::<f64>();
    #[allow(clippy::cast_precision_loss, reason = "there are few")]
    let count = own.instances.len() as f64;
    let capabilities: Vec<String> =
        places::capabilities(&own.zone).into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect();
    let most = cloud.options.quota(crate::powervs::knobs::Limited::Instances);
    Ok(json_reply(
        200,
        &json!({
            "cloudInstanceID": own.cloud_id,
            "name": own.guid,
            "tenantID": cloud.state.account,
            "region": own.zone,
            "openstackID": own.zone,
            "enabled": true,
            "initialized": true,
            "capabilities": capabilities,
            "limits": {
                "instances": most, "memory": 100_000, "procUnits": 10_000, "processors": 10_000, "storage": 1_000_000,
                "storageSSD": 0, "storageStandard": 0, "instanceMemory": 15_307, "instanceProcUnits": 143,
            },
            "usage": {
                "instances": count,
                "memory": sum(|own| own.memory_gib),
                "procUnits": sum(|own| own.processors),
                "processors": sum(|own| own.processors),
                "storage": own.volumes.values().map(|volume| volume.size_gb).sum::<f64>(),
            },
            "pvmInstances": own.instances.values().map(|one| instances::show_row(cloud, own, one)).collect::<Vec<_>>(),
        }),
    ))
}
