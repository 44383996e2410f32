//! Keys to instances. Those of object storage can have a pair of secrets that sign requests.

use serde_json::{Value, json};

use super::{ResourceKey, find};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

fn show(cloud: &Cloud, key: &ResourceKey) -> Value {
    let source = cloud.state.instances.get(&key.source);
    let mut credentials = json!({
        "apikey": format!("key-{}", key.guid),
        "endpoints": "https://control.cloud-object-storage.cloud.ibm.com/v2/endpoints",
        "iam_apikey_description": "Auto-generated for key",
        "iam_apikey_name": key.name,
        "iam_role_crn": format!("crn:v1:bluemix:public:iam::::serviceRole:{}", key.role),
        "resource_instance_id": source.map(|source| &source.crn),
    });
    if let (Some(access), Some(secret)) = (&key.access_key, &key.secret_key) {
        credentials["cos_hmac_keys"] = json!({ "access_key_id": access, "secret_access_key": secret });
    }
    json!({
        "id": source.map(|source| format!("{}resource-key:{}", source.crn.trim_end_matches(':').to_owned() + ":", key.guid)),
        "guid": key.guid,
        "url": format!("/v2/resource_keys/{}", key.guid),
        "crn": source.map(|source| format!("{}resource-key:{}", source.crn.trim_end_matches(':').to_owned() + ":", key.guid)),
        "name": key.name,
        "account_id": cloud.state.account,
        "resource_group_id": source.map(|source| &source.group),
        "resource_group_name": source.map(|source| source.group_name(cloud)),
        "source_crn": source.map(|source| &source.crn),
        "role": key.role,
        "state": "active",
        "credentials": credentials,
        "iam_compatible": true,
        "migrated": false,
        "resource_instance_url": format!("/v2/resource_instances/{}", key.source),
        "resource_alias_url": null,
        "created_at": cloud.time(key.created),
        "updated_at": cloud.time(key.created),
        "deleted_at": null,
        "created_by": "",
        "updated_by": "",
        "deleted_by": "",
    })
}

pub(super) fn create(cloud: &mut Cloud, call: &Call) -> Answer {
    let (name, source) = (call.need("name")?, call.need("source")?);
    let source = find(cloud, source).ok_or_else(|| Refusal::not_found("resource instance", source))?;
    let signs = call.value("parameters").and_then(|parameters| parameters["HMAC"].as_bool()).unwrap_or(false);
    let guid = cloud.id();
    let (access_key, secret_key) = if signs { (Some(cloud.hex(32)), Some(cloud.hex(48))) } else { (None, None) };
    let key = ResourceKey {
        guid: guid.clone(),
        name: name.to_owned(),
        source,
        role: call.text("role").unwrap_or("Writer").rsplit(':').next().unwrap_or("Writer").to_owned(),
        access_key,
        secret_key,
        created: cloud.state.now,
    };
    let shown = show(cloud, &key);
    cloud.state.resource_keys.insert(guid, key);
    Ok(json_reply(201, &shown))
}

fn known(cloud: &Cloud, id: &str) -> Result<String, Refusal> {
    let guid = id.rsplit(':').next().unwrap_or(id);
    let known = cloud.state.resource_keys.contains_key(guid);
    known.then(|| guid.to_owned()).ok_or_else(|| Refusal::not_found("resource key", id))
}

pub(super) fn list(cloud: &Cloud, of: Option<&str>) -> Answer {
    let of = of.map(|id| find(cloud, id).ok_or_else(|| Refusal::not_found("resource instance", id))).transpose()?;
    let keys = cloud.state.resource_keys.values().filter(|key| of.as_ref().is_none_or(|guid| key.source == *guid));
    let shown: Vec<Value> = keys.map(|key| show(cloud, key)).collect();
    Ok(json_reply(200, &json!({ "rows_count": shown.len(), "next_url": null, "resources": shown })))
}

pub(super) fn get(cloud: &Cloud, id: &str) -> Answer {
    Ok(json_reply(200, &show(cloud, &cloud.state.resource_keys[&known(cloud, id)?])))
}

pub(super) fn delete(cloud: &mut Cloud, id: &str) -> Answer {
    let guid = known(cloud, id)?;
    cloud.state.resource_keys.shift_remove(&guid);
    Ok(empty(204))
}
