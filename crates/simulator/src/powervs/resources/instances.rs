//! Instances of services: Power workspaces, object storage, Internet Services, DNS Services.

use serde_json::{Value, json};

use super::{InstanceState, OFFERINGS, Reclamation, ServiceInstance, group, group_of};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};
use crate::powervs::{places, power, tags};

impl InstanceState {
    fn word(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Active => "active",
            Self::Failed => "failed",
            Self::PendingRemoval => "pending_removal",
            Self::PendingReclamation => "pending_reclamation",
            Self::Removed => "removed",
        }
    }
}

/// The GUID of an instance that is named by that, or by its CRN.
pub(in crate::powervs) fn find(cloud: &Cloud, id: &str) -> Option<String> {
    let guid = id.strip_prefix("crn:").and_then(|crn| crn.split(':').nth(6)).unwrap_or(id);
    cloud.state.instances.contains_key(guid).then(|| guid.to_owned())
}

fn known(cloud: &Cloud, id: &str) -> Result<String, Refusal> {
    find(cloud, id).ok_or_else(|| Refusal::not_found("resource instance", id))
}

fn offering(service: &str) -> &'static super::Offering {
    OFFERINGS.iter().find(|offering| offering.name == service).unwrap_or(&OFFERINGS[0])
}

pub(super) fn create(cloud: &mut Cloud, call: &Call) -> Answer {
    let (name, target, plan) = (call.need("name")?, call.need("target")?, call.need("resource_plan_id")?);
    if name.chars().count() > 180 {
        return Err(Refusal::new(400, "InvalidRequest", "the name is too long"));
    }
    let group = group_of(cloud, call.value("resource_group"))?.id.clone();
    let offered = OFFERINGS.iter().find(|offering| offering.plans.iter().any(|(_, id)| *id == plan));
    let offered = offered.ok_or_else(|| Refusal::new(400, "InvalidPlan", format!("plan {plan} not found")))?;
    // A target may be the catalogue's name of a deployment, which contains that of the place.
    let target = target.rsplit(':').next().unwrap_or(target).to_owned();
    let is_workspace = offered.name == "power-iaas";
    if is_workspace && places::find(&target).is_none() {
        let message = format!("[400, Bad Request] the plan is not available in {target}");
        return Err(Refusal::new(400, "ServiceBrokerErrorResponse", message));
    }
    let place = if is_workspace { target.clone() } else { "global".to_owned() };
    let guid = cloud.id();
    let now = cloud.state.now;
    let crn = cloud.crn(offered.name, &place, &guid, "", "");
    let tags = tags::of_call(call, "tags")?;
    tags::attach(cloud, &crn, &tags);
    let instance = ServiceInstance {
        guid: guid.clone(),
        crn,
        name: name.to_owned(),
        service: offered.name.to_owned(),
        plan: plan.to_owned(),
        target: place,
        group,
        state: InstanceState::Provisioning,
        reason: String::new(),
        parameters: call.value("parameters").cloned().unwrap_or_else(|| json!({})),
        created: now,
        updated: now,
        deleted: None,
    };
    cloud.state.instances.insert(guid.clone(), instance);
    if is_workspace {
        cloud.later(Kind::Workspace, &guid, Event::Done);
        return Ok(json_reply(202, &show(cloud, &guid)));
    }
    finish(cloud, &guid, InstanceState::Active);
    Ok(json_reply(201, &show(cloud, &guid)))
}

fn finish(cloud: &mut Cloud, guid: &str, state: InstanceState) {
    let now = cloud.state.now;
    if let Some(instance) = cloud.state.instances.get_mut(guid) {
        instance.state = state;
        instance.updated = now;
    }
}

/// A workspace is there, or is not going to be.
pub(in crate::powervs) fn done(cloud: &mut Cloud, guid: &str) {
    let Some(instance) = cloud.state.instances.get(guid) else { return };
    if instance.state != InstanceState::Provisioning {
        return;
    }
    let (name, zone) = (instance.name.clone(), instance.target.clone());
    match cloud.outcome(Kind::Workspace, &name) {
        Some(Outcome::Stuck) => {}
        Some(Outcome::Failed) => {
            finish(cloud, guid, InstanceState::Failed);
            if let Some(instance) = cloud.state.instances.get_mut(guid) {
                "The service broker could not create the workspace".clone_into(&mut instance.reason);
            }
        }
        _ => {
            finish(cloud, guid, InstanceState::Active);
            power::open(cloud, guid, &name, &zone);
        }
    }
}

/// An instance is removed; it is still answered for, and no longer listed.
pub(in crate::powervs) fn gone(cloud: &mut Cloud, guid: &str) {
    let now = cloud.state.now;
    let Some(instance) = cloud.state.instances.get_mut(guid) else { return };
    instance.state = InstanceState::Removed;
    instance.deleted = Some(now);
    instance.updated = now;
    cloud.state.workspaces.shift_remove(guid);
    cloud.state.buckets.retain(|_, bucket| bucket.instance != guid);
    cloud.state.resource_keys.retain(|_, key| key.source != guid);
}

fn show(cloud: &Cloud, guid: &str) -> Value {
    let Some(instance) = cloud.state.instances.get(guid) else { return Value::Null };
    let path = |rest: &str| format!("/v2/resource_instances/{guid}{rest}");
    let underway = matches!(instance.state, InstanceState::Provisioning | InstanceState::PendingRemoval);
    let operation = match instance.state {
        InstanceState::PendingRemoval | InstanceState::Removed | InstanceState::PendingReclamation => "delete",
        _ => "create",
    };
    let outcome = match instance.state {
        InstanceState::Failed => "failed",
        _ if underway => "in progress",
        _ => "succeeded",
    };
    let owner = format!("IBMid-{}", &cloud.state.account[..10].to_uppercase());
    json!({
        "id": instance.crn,
        "guid": guid,
        "url": path(""),
        "created_at": cloud.time(instance.created),
        "updated_at": cloud.time(instance.updated),
        "deleted_at": instance.deleted.map(|at| cloud.time(at)),
        "created_by": owner,
        "updated_by": "",
        "deleted_by": if instance.deleted.is_some() { owner.as_str() } else { "" },
        "scheduled_reclaim_at": null,
        "restored_at": null,
        "scheduled_reclaim_by": "",
        "restored_by": "",
        "name": instance.name,
        "region_id": instance.target,
        "account_id": cloud.state.account,
        "reseller_channel_id": "",
        "resource_plan_id": instance.plan,
        "resource_group_id": instance.group,
        "resource_group_crn": cloud.crn("resource-controller", "", "", "resource-group", &instance.group),
        "target_crn": cloud.crn("resource-catalog", &instance.target, &instance.plan, "deployment", ""),
        "parameters": instance.parameters,
        "allow_cleanup": false,
        "crn": instance.crn,
        "state": instance.state.word(),
        "type": if instance.service == "power-iaas" { "composite_instance" } else { "service_instance" },
        "resource_id": offering(&instance.service).id,
        "dashboard_url": null,
        "last_operation": {
            "type": operation,
            "state": outcome,
            "sub_type": null,
            "async": underway,
            "description": if instance.reason.is_empty() { "Completed create instance operation" } else { instance.reason.as_str() },
            "reason_code": null,
            "poll_after": 1000,
            "cancelable": false,
            "poll": underway,
        },
        "resource_aliases_url": path("/resource_aliases"),
        "resource_bindings_url": path("/resource_bindings"),
        "resource_keys_url": path("/resource_keys"),
        "plan_history": [{
            "resource_plan_id": instance.plan,
            "start_date": cloud.time(instance.created),
            "requestor_id": owner,
        }],
        "migrated": false,
        "extensions": { "resourceCRNs": { "power-iaas": instance.crn } },
        "controlled_by": "",
        "locked": false,
    })
}

pub(super) fn list(cloud: &Cloud, call: &Call) -> Answer {
    let fits = |instance: &&ServiceInstance| {
        let service = offering(&instance.service);
        let kind = if instance.service == "power-iaas" { "composite_instance" } else { "service_instance" };
        let is = |parameter: &str, value: &str| call.query(parameter).is_none_or(|wanted| wanted == value);
        let state = instance.state.word();
        is("guid", &instance.guid)
            && is("name", &instance.name)
            && is("resource_group_id", &instance.group)
            && is("resource_id", service.id)
            && is("resource_plan_id", &instance.plan)
            && is("type", kind)
            && (call.query("state").is_some() || instance.state != InstanceState::Removed)
            && is("state", state)
    };
    let all: Vec<&str> = cloud.state.instances.values().filter(fits).map(|instance| instance.guid.as_str()).collect();
    let limit = call.number("limit", 100, 100)?;
    let start = call.query("start").and_then(|start| all.iter().position(|guid| *guid == start)).unwrap_or(0);
    let shown: Vec<Value> = all.iter().skip(start).take(limit).map(|guid| show(cloud, guid)).collect();
    let next = all.get(start + limit).map(|guid| format!("/v2/resource_instances?start={guid}&limit={limit}"));
    Ok(json_reply(200, &json!({ "rows_count": shown.len(), "next_url": next, "resources": shown })))
}

pub(super) fn get(cloud: &Cloud, id: &str) -> Answer {
    let guid = known(cloud, id)?;
    Ok(json_reply(200, &show(cloud, &guid)))
}

pub(super) fn update(cloud: &mut Cloud, call: &Call, id: &str) -> Answer {
    let guid = known(cloud, id)?;
    if let (Some(name), Some(instance)) = (call.text("name"), cloud.state.instances.get_mut(&guid)) {
        name.clone_into(&mut instance.name);
    }
    Ok(json_reply(200, &show(cloud, &guid)))
}

pub(super) fn delete(cloud: &mut Cloud, call: &Call, id: &str) -> Answer {
    let guid = known(cloud, id)?;
    let Some(instance) = cloud.state.instances.get(&guid) else { return Err(Refusal::no_route()) };
    let (service, state) = (instance.service.clone(), instance.state);
    match state {
        InstanceState::Removed => return Err(Refusal::new(410, "Gone", "the instance is removed already")),
        InstanceState::PendingRemoval | InstanceState::PendingReclamation => return Ok(empty(202)),
        _ => {}
    }
    let recursive = call.query("recursive") == Some("true");
    if !recursive && cloud.state.resource_keys.values().any(|key| key.source == guid) {
        let message = "the instance has keys or aliases, which must be deleted before";
        return Err(Refusal::new(400, "ResourceInstanceHasKeys", message));
    }
    if service == "cloud-object-storage" {
        finish(cloud, &guid, InstanceState::PendingReclamation);
        let id = cloud.id();
        let created = cloud.state.now;
        let state = "SCHEDULED".to_owned();
        cloud.state.reclamations.insert(id.clone(), Reclamation { id, instance: guid, state, created });
        return Ok(empty(202));
    }
    if let Some(reason) = cloud.state.workspaces.get(&guid).and_then(power::Workspace::in_use) {
        let message = format!("[400, Bad Request] the workspace cannot be deleted: {reason}");
        return Err(Refusal::new(400, "ServiceBrokerErrorResponse", message));
    }
    finish(cloud, &guid, InstanceState::PendingRemoval);
    cloud.state.agenda.forget(&guid);
    cloud.later(Kind::WorkspaceDelete, &guid, Event::Gone);
    Ok(empty(202))
}

impl ServiceInstance {
    /// The name of its group.
    pub(in crate::powervs) fn group_name<'a>(&self, cloud: &'a Cloud) -> &'a str {
        group(cloud, &self.group).map_or("", |group| group.name.as_str())
    }
}
