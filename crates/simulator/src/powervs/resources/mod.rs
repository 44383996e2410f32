//! Resource controller and resource manager: instances of services, the groups they are in, their keys, and what is left of
//! them after they are deleted.

mod instances;
mod keys;
mod reclamations;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::Call;
use super::cloud::Cloud;
use super::reply::{Answer, Refusal, json_reply};
use crate::core::Instant;

pub(super) use instances::{done, find, gone};

/// What the catalogue calls a service, its id, and the ids of its plans.
pub(super) struct Offering {
    pub(super) name: &'static str,
    pub(super) id: &'static str,
    plans: &'static [(&'static str, &'static str)],
}

pub(super) const OFFERINGS: [Offering; 4] = [
    Offering {
        name: "power-iaas",
        id: "abd259f0-9990-11e8-acc8-b9f54a8f1661",
        plans: &[
            ("power-virtual-server-group", "f165dd34-3a40-423b-9d95-e90a23f724dd"),
            ("power-virtual-server-group-private", "1112d6a9-71d6-4968-956b-eb3edbf0225b"),
        ],
    },
    Offering {
        name: "cloud-object-storage",
        id: "dff97f5c-bc5e-4455-b470-411c3edbe49c",
        plans: &[
            ("one-rate", "1e4e33e4-cfa6-4f12-9016-be594a6d5f87"),
            ("standard", "744bfc56-d12c-4866-88d5-dac9139e0e5d"),
        ],
    },
    Offering {
        name: "internet-svcs",
        id: "75874a60-cb12-11e7-948e-37ac098eb1b9",
        plans: &[("standard-next", "50e2e3e6-5e5f-4f8f-9b0a-5c6b2f1d6b5a")],
    },
    Offering {
        name: "dns-svcs",
        id: "b4ed8a30-936f-11e9-b289-1d079699cbe5",
        plans: &[("standard-dns", "2c8fa097-d7c2-4df2-b53e-2efb7874cdf7")],
    },
];

impl Offering {
    pub(super) fn first_plan(&self) -> Option<&'static str> {
        self.plans.first().map(|(_, id)| *id)
    }
}

/// A group that resources are in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ResourceGroup {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) default: bool,
    pub(super) created: Instant,
}

/// Whether an instance of a service is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InstanceState {
    Provisioning,
    Active,
    Failed,
    PendingRemoval,
    PendingReclamation,
    Removed,
}

/// An instance of a service.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServiceInstance {
    pub(super) guid: String,
    pub(super) crn: String,
    pub(super) name: String,
    pub(super) service: String,
    pub(super) plan: String,
    pub(super) target: String,
    pub(super) group: String,
    pub(super) state: InstanceState,
    pub(super) reason: String,
    pub(super) parameters: Value,
    pub(super) created: Instant,
    pub(super) updated: Instant,
    pub(super) deleted: Option<Instant>,
}

/// A key to an instance; object storage has secrets that sign.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ResourceKey {
    pub(super) guid: String,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) role: String,
    pub(super) access_key: Option<String>,
    pub(super) secret_key: Option<String>,
    pub(super) created: Instant,
}

/// What is left of an instance for a while.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reclamation {
    pub(super) id: String,
    pub(super) instance: String,
    pub(super) state: String,
    pub(super) created: Instant,
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    match (call.method.as_str(), call.parts().as_slice()) {
        ("GET", ["v2", "resource_groups"]) => groups(cloud, call),
        ("GET", ["v2", "resource_groups", id]) => {
            let group = group(cloud, id).ok_or_else(|| Refusal::not_found("resource group", id))?;
            Ok(json_reply(200, &show_group(cloud, group)))
        }
        ("GET", ["v2", "resource_instances"]) => instances::list(cloud, call),
        ("POST", ["v2", "resource_instances"]) => instances::create(cloud, call),
        ("GET", ["v2", "resource_instances", id]) => instances::get(cloud, id),
        ("PATCH", ["v2", "resource_instances", id]) => instances::update(cloud, call, id),
        ("DELETE", ["v2", "resource_instances", id]) => instances::delete(cloud, call, id),
        ("GET", ["v2", "resource_keys"]) => keys::list(cloud, None),
        ("GET", ["v2", "resource_instances", id, "resource_keys"]) => keys::list(cloud, Some(id)),
        ("POST", ["v2", "resource_keys"]) => keys::create(cloud, call),
        ("GET", ["v2", "resource_keys", id]) => keys::get(cloud, id),
        ("DELETE", ["v2", "resource_keys", id]) => keys::delete(cloud, id),
        ("GET", ["v1", "reclamations"]) => reclamations::list(cloud, call),
        ("POST", ["v1", "reclamations", id, "actions", action]) => reclamations::act(cloud, id, action),
        _ => Err(Refusal::no_route()),
    }
}

/// A group by its id or its CRN.
pub(super) fn group<'a>(cloud: &'a Cloud, id: &str) -> Option<&'a ResourceGroup> {
    cloud.state.groups.iter().find(|group| group.id == id || id.ends_with(&format!("resource-group:{}", group.id)))
}

/// The group that a body names, or the default one.
pub(super) fn group_of<'a>(cloud: &'a Cloud, named: Option<&Value>) -> Result<&'a ResourceGroup, Refusal> {
    let id = named.and_then(|named| named.as_str().or_else(|| named["id"].as_str()));
    let found = match id {
        Some(id) => group(cloud, id),
        None => cloud.state.groups.iter().find(|group| group.default),
    };
    found.ok_or_else(|| Refusal::new(400, "bad_field", format!("resource group {} not found", id.unwrap_or_default())))
}

fn show_group(cloud: &Cloud, group: &ResourceGroup) -> Value {
    json!({
        "id": group.id,
        "crn": cloud.crn("resource-controller", "", "", "resource-group", &group.id),
        "account_id": cloud.state.account,
        "name": group.name,
        "state": "ACTIVE",
        "default": group.default,
        "quota_id": "a3d7b8d01e261c24677937c29ab33f3c",
        "quota_url": "/v2/quota_definitions/a3d7b8d01e261c24677937c29ab33f3c",
        "payment_methods_url": format!("/v2/resource_groups/{}/payment_methods", group.id),
        "resource_linkages": [],
        "teams_url": format!("/v2/resource_groups/{}/teams", group.id),
        "created_at": cloud.time(group.created),
        "updated_at": cloud.time(group.created),
    })
}

fn groups(cloud: &Cloud, call: &Call) -> Answer {
    if call.query("account_id").is_some_and(|account| account != cloud.state.account) {
        return Err(Refusal::new(403, "IamUnauthorized", "the account is not yours"));
    }
    let named = |group: &&ResourceGroup| {
        call.query("name").is_none_or(|name| group.name == name)
            && call.query("default").is_none_or(|default| (default == "true") == group.default)
    };
    let shown: Vec<Value> = cloud.state.groups.iter().filter(named).map(|group| show_group(cloud, group)).collect();
    Ok(json_reply(200, &json!({ "resources": shown })))
}

/// What the global catalogue says about the services that are here.
pub(super) fn catalog(cloud: &Cloud, call: &Call) -> Answer {
    let show = |offering: &Offering| {
        json!({
            "id": offering.id,
            "name": offering.name,
            "kind": "service",
            "active": true,
            "disabled": false,
            "parent_url": "",
            "children_url": format!("{}/catalog/api/v1/{}/plan", cloud.state.url, offering.id),
            "overview_ui": { "en": { "display_name": offering.name, "description": "", "long_description": "" } },
            "images": { "image": "" },
            "provider": { "email": "", "name": "IBM" },
            "tags": [],
            "geo_tags": [],
        })
    };
    let plans = |offering: &Offering| {
        let plan = |(name, id): &(&str, &str)| json!({ "id": id, "name": name, "kind": "plan", "active": true, "disabled": false, "parent_id": offering.id });
        offering.plans.iter().map(plan).collect::<Vec<Value>>()
    };
    let listed = |resources: Vec<Value>| {
        let count = resources.len();
        json!({ "offset": 0, "limit": 50, "count": count, "resource_count": count, "resources": resources })
    };
    let found = |id: &str| OFFERINGS.iter().find(|offering| offering.id == id || offering.name == id);
    match (call.method.as_str(), call.parts().as_slice()) {
        ("GET", []) => {
            let wanted = call.query("q").unwrap_or_default().trim_start_matches("name:");
            let fits = |offering: &&Offering| offering.name.contains(wanted) || offering.id == wanted;
            Ok(json_reply(200, &listed(OFFERINGS.iter().filter(fits).map(show).collect())))
        }
        ("GET", [id]) => {
            if let Some(offering) = found(id) {
                return Ok(json_reply(200, &show(offering)));
            }
            let plan = OFFERINGS.iter().flat_map(plans).find(|plan| plan["id"] == *id);
            plan.map(|plan| json_reply(200, &plan)).ok_or_else(|| Refusal::not_found("entry", id))
        }
        ("GET", [id, "plan"]) => {
            let offering = found(id).ok_or_else(|| Refusal::not_found("entry", id))?;
            Ok(json_reply(200, &listed(plans(offering))))
        }
        _ => Err(Refusal::no_route()),
    }
}
