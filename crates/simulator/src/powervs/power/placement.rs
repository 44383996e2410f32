//! Placement groups: virtual servers that should, or should not, be on the same machine.

use serde_json::{Value, json};

use super::{crn, workspace, workspace_mut};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

pub(super) fn answer(cloud: &mut Cloud, call: &Call, ws: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |id: &str| Refusal::new(404, "placement group not found", format!("placement group {id} not found"));
    let own = workspace(cloud, ws)?;
    match (method, rest) {
        ("GET", []) => {
            let groups: Vec<&Value> = own.placement_groups.values().collect();
            Ok(json_reply(200, &json!({ "placementGroups": groups })))
        }
        ("POST", []) => create(cloud, call, ws),
        ("GET", [id]) => own.placement_groups.get(*id).map(|group| json_reply(200, group)).ok_or_else(|| missing(id)),
        ("DELETE", [id]) => {
            let group = own.placement_groups.get(*id).ok_or_else(|| missing(id))?;
            if group["members"].as_array().is_some_and(|members| !members.is_empty()) {
                return Err(Refusal::conflict(format!("placement group {id} has members")));
            }
            workspace_mut(cloud, ws)?.placement_groups.shift_remove(*id);
            Ok(json_reply(200, &json!({})))
        }
        (_, [id, "members"]) => {
            own.placement_groups.get(*id).ok_or_else(|| missing(id))?;
            let member = call.need("id")?.to_owned();
            if method == "POST" {
                join(cloud, ws, id, &member)?;
            } else {
                leave(cloud, ws, id, &member)?;
            }
            Ok(json_reply(200, &workspace(cloud, ws)?.placement_groups[*id]))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn create(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let (name, policy) = (call.need("name")?.to_owned(), call.need("policy")?.to_owned());
    if !matches!(policy.as_str(), "affinity" | "anti-affinity") {
        return Err(Refusal::invalid("policy must be affinity or anti-affinity"));
    }
    let own = workspace(cloud, ws)?;
    if own.placement_groups.values().any(|group| group["name"] == name.as_str()) {
        return Err(Refusal::conflict(format!("placement group {name} already exists")));
    }
    let id = cloud.id();
    let crn = crn(cloud, workspace(cloud, ws)?, "placement-group", &id);
    let group = json!({ "id": id, "name": name, "policy": policy, "members": [], "crn": crn });
    workspace_mut(cloud, ws)?.placement_groups.insert(id, group.clone());
    Ok(json_reply(200, &group))
}

/// Puts a virtual server into a group.
pub(super) fn join(cloud: &mut Cloud, ws: &str, id: &str, member: &str) -> Result<(), Refusal> {
    let own = workspace_mut(cloud, ws)?;
    let Some(instance) = own.instances.get_mut(member) else {
        return Err(Refusal::new(404, "pvm-instance not found", format!("pvm-instance {member} not found")));
    };
    if instance.placement_group.as_deref().is_some_and(|other| other != id) {
        return Err(Refusal::conflict(format!("pvm-instance {member} is in another placement-group")));
    }
    instance.placement_group = Some(id.to_owned());
    let members = own.placement_groups.get_mut(id).and_then(|group| group["members"].as_array_mut());
    if let Some(members) = members.filter(|members| !members.iter().any(|other| other == member)) {
        members.push(json!(member));
    }
    Ok(())
}

/// Takes a virtual server out of a group.
pub(super) fn leave(cloud: &mut Cloud, ws: &str, id: &str, member: &str) -> Result<(), Refusal> {
    let own = workspace_mut(cloud, ws)?;
    let members = own.placement_groups.get_mut(id).and_then(|group| group["members"].as_array_mut());
    let Some(members) = members.filter(|members| members.iter().any(|other| other == member)) else {
        let message = format!("pvm-instance {member} is not part of placement-group {id}");
        return Err(Refusal::new(404, "not_found", format!("{message}: not found")));
    };
    members.retain(|other| other != member);
    if let Some(instance) = own.instances.get_mut(member) {
        instance.placement_group = None;
    }
    Ok(())
}
