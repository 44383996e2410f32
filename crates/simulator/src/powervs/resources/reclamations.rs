//! What is left of deleted object storage: for seven days it can be restored, unless somebody reclaims it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{InstanceState, Reclamation, gone};
use crate::core::Instant;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

const KEPT: Duration = Duration::from_hours(24 * 7);

fn show(cloud: &Cloud, reclamation: &Reclamation) -> Value {
    let instance = cloud.state.instances.get(&reclamation.instance);
    json!({
        "id": reclamation.id,
        "entity_id": reclamation.instance,
        "entity_type_id": "service_instance",
        "entity_crn": instance.map(|instance| &instance.crn),
        "resource_instance_id": reclamation.instance,
        "resource_group_id": instance.map(|instance| &instance.group),
        "account_id": cloud.state.account,
        "policy_id": "default",
        "state": reclamation.state,
        "target_time": cloud.time(Instant(reclamation.created.0 + KEPT)),
        "custom_properties": {},
        "created_at": cloud.time(reclamation.created),
        "created_by": "",
        "updated_at": cloud.time(reclamation.created),
        "updated_by": "",
    })
}

pub(super) fn list(cloud: &Cloud, call: &Call) -> Answer {
    let fits = |own: &&Reclamation| call.query("resource_instance_id").is_none_or(|wanted| own.instance == wanted);
    let shown: Vec<Value> = cloud.state.reclamations.values().filter(fits).map(|own| show(cloud, own)).collect();
    Ok(json_reply(200, &json!({ "resources": shown })))
}

pub(super) fn act(cloud: &mut Cloud, id: &str, action: &str) -> Answer {
    let Some(reclamation) = cloud.state.reclamations.get_mut(id) else {
        return Err(Refusal::not_found("reclamation", id));
    };
    let instance = reclamation.instance.clone();
    match action {
        "reclaim" => "RECLAIMING".clone_into(&mut reclamation.state),
        "restore" => "RESTORING".clone_into(&mut reclamation.state),
        _ => return Err(Refusal::no_route()),
    }
    let shown = cloud.state.reclamations.get(id).map(|own| show(cloud, own)).unwrap_or_default();
    cloud.state.reclamations.shift_remove(id);
    if action == "reclaim" {
        gone(cloud, &instance);
    } else if let Some(instance) = cloud.state.instances.get_mut(&instance) {
        instance.state = InstanceState::Active;
    }
    Ok(json_reply(200, &shown))
}
