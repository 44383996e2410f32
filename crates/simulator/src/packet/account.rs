//! Who the user is: organisations, projects, SSH keys.

use serde_json::{Value, json};

use super::call::Call;
use super::catalogue::fixed_id;
use super::metal::Caller;
use super::reply::{Answer, Refusal, empty, list, object, page};
use super::state::{DeviceState, Organization, Project, SshKey, State};

const LONGEST_NAME: usize = 80;

pub(super) fn user(state: &State, call: &Call, caller: &Caller) -> Answer {
    if matches!(caller, Caller::Project(_)) {
        return Err(Refusal::new(403, "You are not authorized to view this user"));
    }
    let id = &state.user;
    Ok(object(
        200,
        &json!({
            "id": id,
            "short_id": &id[..8],
            "email": "simulator@example.com",
            "first_name": "Simulated",
            "last_name": "User",
            "full_name": "Simulated User",
            "two_factor_auth": "",
            "max_projects": 100,
            "max_organizations": 10,
            "timezone": "UTC",
            "created_at": state.time(crate::core::Instant(std::time::Duration::ZERO)),
            "default_organization_id": state.organizations.first().map(|organization| &organization.id),
            "default_project_id": state.projects.first().map(|project| &project.id),
            "href": format!("{}/users/{id}", call.base),
        }),
    ))
}

pub(super) fn show_organization(state: &State, base: &str, organization: &Organization) -> Value {
    let id = &organization.id;
    let own = state.projects.iter().filter(|project| project.organization == *id);
    json!({
        "id": id,
        "name": organization.name,
        "description": "",
        "website": "",
        "twitter": "",
        "personal": false,
        "customdata": {},
        "credit_amount": 0,
        "created_at": state.time(organization.created),
        "updated_at": state.time(organization.created),
        "projects": own.map(|project| json!({"href": format!("{base}/projects/{}", project.id)})).collect::<Vec<_>>(),
        "members": [],
        "href": format!("{base}/organizations/{id}"),
    })
}

pub(super) fn organizations(state: &State, call: &Call) -> Answer {
    let all: Vec<Value> = state.organizations.iter().map(|one| show_organization(state, call.base, one)).collect();
    page(call, "organizations", &all)
}

pub(super) fn organization(state: &State, call: &Call, id: &str) -> Answer {
    let found = state.organizations.iter().find(|organization| organization.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show_organization(state, call.base, found)))
}

pub(super) fn show_project(state: &State, base: &str, project: &Project) -> Value {
    let id = &project.id;
    let references = |path: &str, ids: &mut dyn Iterator<Item = &String>| -> Vec<Value> {
        ids.map(|id| json!({"href": format!("{base}/{path}/{id}")})).collect()
    };
    let devices = state.devices.iter().filter(|device| device.project == *id && !device.hidden);
    let keys = state.keys.iter().filter(|key| key.project.as_deref() == Some(id));
    json!({
        "id": id,
        "name": project.name,
        "created_at": state.time(project.created),
        "updated_at": state.time(project.created),
        "max_devices": {},
        "members": [{"href": format!("{base}/users/{}", state.user)}],
        "memberships": [],
        "network_status": {},
        "invitations": [],
        "payment_method": project.payment_method.as_ref().map(|id| json!({"href": format!("{base}/payment-methods/{id}")})),
        "devices": references("devices", &mut devices.map(|device| &device.id)),
        "ssh_keys": references("ssh-keys", &mut keys.map(|key| &key.id)),
        "volumes": [],
        "bgp_config": {"href": format!("{base}/projects/{id}/bgp-config")},
        "backend_transfer_enabled": project.backend_transfer,
        "customdata": project.customdata,
        "tags": project.tags,
        "type": "default",
        "organization": {"href": format!("{base}/organizations/{}", project.organization)},
        "href": format!("{base}/projects/{id}"),
    })
}

pub(super) fn projects(state: &State, call: &Call, organization: Option<&str>) -> Answer {
    if organization.is_some_and(|id| !state.organizations.iter().any(|known| known.id == id)) {
        return Err(Refusal::not_found());
    }
    let wanted = |project: &&Project| {
        organization.is_none_or(|id| project.organization == id)
            && call.text("name").is_none_or(|name| project.name == name)
    };
    let shown: Vec<Value> =
        state.projects.iter().filter(wanted).map(|project| show_project(state, call.base, project)).collect();
    page(call, "projects", &shown)
}

pub(super) fn create_project(state: &mut State, call: &Call, organization: Option<&str>) -> Answer {
    let name = call.text("name").ok_or_else(|| Refusal::invalid("Name can't be blank"))?;
    if name.chars().count() > LONGEST_NAME {
        return Err(Refusal::invalid(format!("Name is too long (maximum is {LONGEST_NAME} characters)")));
    }
    let organization = organization.or_else(|| call.text("organization_id"));
    let organization = match organization {
        Some(id) => state.organizations.iter().find(|known| known.id == id).ok_or_else(Refusal::not_found)?.id.clone(),
        None => state.organizations.first().map(|organization| organization.id.clone()).unwrap_or_default(),
    };
    let project = Project {
        id: state.id(),
        name: name.to_owned(),
        organization,
        created: state.now,
        tags: call.texts("tags").unwrap_or_default(),
        customdata: call.get("customdata").cloned().unwrap_or_else(|| json!({})),
        backend_transfer: false,
        bgp: None,
        payment_method: call.text("payment_method_id").map(str::to_owned),
    };
    state.log("project.1001", "Project created", None, Some(&project.id));
    let shown = show_project(state, call.base, &project);
    state.projects.push(project);
    Ok(object(201, &shown))
}

pub(super) fn project(state: &State, call: &Call, id: &str) -> Answer {
    let project = state.project(id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show_project(state, call.base, project)))
}

pub(super) fn update_project(state: &mut State, call: &Call, id: &str) -> Answer {
    let project = state.projects.iter_mut().find(|project| project.id == id).ok_or_else(Refusal::not_found)?;
    if let Some(name) = call.text("name") {
        name.clone_into(&mut project.name);
    }
    if let Some(flag) = call.flag("backend_transfer_enabled") {
        project.backend_transfer = flag;
    }
    if let Some(data) = call.get("customdata") {
        project.customdata = data.clone();
    }
    if let Some(tags) = call.texts("tags") {
        project.tags = tags;
    }
    let project = project.clone();
    Ok(object(200, &show_project(state, call.base, &project)))
}

pub(super) fn delete_project(state: &mut State, id: &str) -> Answer {
    state.project(id).ok_or_else(Refusal::not_found)?;
    let in_use = state
        .devices
        .iter()
        .any(|device| device.project == id && !device.hidden && device.state != DeviceState::Deprovisioning);
    if in_use {
        return Err(Refusal::invalid("Cannot delete a project that has devices"));
    }
    state.projects.retain(|project| project.id != id);
    state.keys.retain(|key| key.project.as_deref() != Some(id));
    state.blocks.retain(|block| block.project != id);
    state.vlans.retain(|vlan| vlan.project != id);
    Ok(empty(204))
}

pub(super) fn show_key(state: &State, base: &str, key: &SshKey) -> Value {
    let owner = match &key.project {
        Some(project) => format!("{base}/projects/{project}"),
        None => format!("{base}/users/{}", state.user),
    };
    json!({
        "id": key.id,
        "label": key.label,
        "key": key.key,
        "fingerprint": fingerprint(&key.key),
        "tags": key.tags,
        "created_at": state.time(key.created),
        "updated_at": state.time(key.created),
        "owner": owner,
        "entity": {"href": owner},
        "href": format!("{base}/ssh-keys/{}", key.id),
    })
}

/// Sixteen bytes in the customary form: it names a key, and nobody checks how it is made.
fn fingerprint(key: &str) -> String {
    let hex = fixed_id("fingerprint", key).replace('-', "");
    let pairs: Vec<&str> = (0..16).map(|pair| &hex[2 * pair..2 * pair + 2]).collect();
    pairs.join(":")
}

pub(super) fn keys(state: &State, call: &Call, project: Option<&str>, caller: &Caller) -> Answer {
    let wanted = |key: &&SshKey| {
        // Who holds the key of a project sees the project's, wherever it looks.
        let own = matches!(caller, Caller::Project(own) if key.project.as_ref() == Some(own));
        (key.project.as_deref() == project || own)
            && call.text("search").is_none_or(|search| key.label.contains(search) || key.key.contains(search))
    };
    let shown: Vec<Value> = state.keys.iter().filter(wanted).map(|key| show_key(state, call.base, key)).collect();
    list("ssh_keys", &shown)
}

pub(super) fn keys_of_device(state: &State, call: &Call, id: &str) -> Answer {
    let device = state.device(id).ok_or_else(Refusal::not_found)?;
    let own = state.keys.iter().filter(|key| device.ssh_keys.contains(&key.id));
    list("ssh_keys", &own.map(|key| show_key(state, call.base, key)).collect::<Vec<_>>())
}

pub(super) fn create_key(state: &mut State, call: &Call, project: Option<&str>, caller: &Caller) -> Answer {
    if project.is_some_and(|id| state.project(id).is_none()) {
        return Err(Refusal::not_found());
    }
    let label = call.text("label").ok_or_else(|| Refusal::invalid("Label can't be blank"))?.to_owned();
    let key = call.text("key").ok_or_else(|| Refusal::invalid("Key can't be blank"))?.trim().to_owned();
    if !key.starts_with("ssh-") && !key.starts_with("ecdsa-") {
        return Err(Refusal::invalid("Key is not a valid SSH public key"));
    }
    if state.keys.iter().any(|known| known.key == key && known.project.as_deref() == project) {
        return Err(Refusal::invalid("Key has already been taken"));
    }
    let tags = call.texts("tags").unwrap_or_default();
    let made = SshKey { id: state.id(), label, key, project: project.map(str::to_owned), tags, created: state.now };
    let shown = show_key(state, call.base, &made);
    state.keys.push(made);
    // It is made all the same: a defect that clients learnt to live with.
    if matches!(caller, Caller::Project(_)) {
        return Err(Refusal::not_found());
    }
    Ok(object(201, &shown))
}

pub(super) fn key(state: &State, call: &Call, id: &str) -> Answer {
    let key = state.keys.iter().find(|key| key.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show_key(state, call.base, key)))
}

pub(super) fn update_key(state: &mut State, call: &Call, id: &str) -> Answer {
    let key = state.keys.iter_mut().find(|key| key.id == id).ok_or_else(Refusal::not_found)?;
    if let Some(label) = call.text("label") {
        label.clone_into(&mut key.label);
    }
    if let Some(text) = call.text("key") {
        text.clone_into(&mut key.key);
    }
    let key = key.clone();
    Ok(object(200, &show_key(state, call.base, &key)))
}

pub(super) fn delete_key(state: &mut State, id: &str) -> Answer {
    let before = state.keys.len();
    state.keys.retain(|key| key.id != id);
    if state.keys.len() == before { Err(Refusal::not_found()) } else { Ok(empty(204)) }
}
