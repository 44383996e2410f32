//! SSH keys. They belong to the account; a newer set of calls shows the same ones.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

fn find<'a>(cloud: &'a Cloud, name: &str) -> Result<&'a Value, Refusal> {
    let by_id = || cloud.state.ssh_keys.values().find(|key| key["id"] == name);
    let missing = || Refusal::new(404, "ssh key not found", format!("ssh key {name} not found"));
    cloud.state.ssh_keys.get(name).or_else(by_id).ok_or_else(missing)
}

fn create(cloud: &mut Cloud, call: &Call) -> Result<String, Refusal> {
    let (name, key) = (call.need("name")?.to_owned(), call.need("sshKey")?.to_owned());
    if name.len() > 128 {
        return Err(Refusal::invalid("name must be at most 128 characters"));
    }
    judge(&key).map_err(Refusal::invalid)?;
    if cloud.state.ssh_keys.contains_key(&name) {
        return Err(Refusal::conflict(format!("ssh key {name} already exists")));
    }
    let (id, time) = (cloud.id(), cloud.time_now());
    let document = json!({
        "id": id,
        "name": name,
        "sshKey": key,
        "creationDate": time,
        "description": call.text("description").unwrap_or_default(),
        "primaryWorkspace": true,
        "visibility": call.text("visibility").unwrap_or("account"),
    });
    cloud.state.ssh_keys.insert(name.clone(), document);
    Ok(name)
}

/// Only RSA keys are taken.
fn judge(key: &str) -> Result<(), String> {
    let mut words = key.split_whitespace();
    if words.next() != Some("ssh-rsa") {
        return Err("sshKey must be an RSA key (ssh-rsa)".to_owned());
    }
    let bytes = words.next().and_then(|text| STANDARD.decode(text).ok());
    match bytes {
        Some(bytes) if bytes.len() >= 270 => Ok(()),
        Some(_) => Err("sshKey must have at least 2048 bits".to_owned()),
        None => Err("sshKey is not base64".to_owned()),
    }
}

fn of_tenant_shape(key: &Value) -> Value {
    json!({ "name": key["name"], "sshKey": key["sshKey"], "creationDate": key["creationDate"] })
}

pub(super) fn of_tenant(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    answer(cloud, call, method, rest, "sshKeys", of_tenant_shape)
}

pub(super) fn of_workspace(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    answer(cloud, call, method, rest, "sshKeys", Value::clone)
}

fn answer(
    cloud: &mut Cloud,
    call: &Call,
    method: &str,
    rest: &[&str],
    plural: &str,
    show: impl Fn(&Value) -> Value,
) -> Answer {
    match (method, rest) {
        ("GET", []) => {
            let shown: Vec<Value> = cloud.state.ssh_keys.values().map(show).collect();
            Ok(json_reply(200, &json!({ plural: shown })))
        }
        ("POST", []) => {
            let name = create(cloud, call)?;
            Ok(json_reply(201, &show(find(cloud, &name)?)))
        }
        ("GET", [name]) => Ok(json_reply(200, &show(find(cloud, name)?))),
        ("PUT", [name]) => {
            let name = find(cloud, name)?["name"].as_str().unwrap_or_default().to_owned();
            if let Some(key) = call.text("sshKey") {
                judge(key).map_err(Refusal::invalid)?;
                if let Some(document) = cloud.state.ssh_keys.get_mut(&name) {
                    document["sshKey"] = json!(key);
                }
            }
            Ok(json_reply(200, &show(find(cloud, &name)?)))
        }
        ("DELETE", [name]) => {
            let name = find(cloud, name)?["name"].as_str().unwrap_or_default().to_owned();
            cloud.state.ssh_keys.shift_remove(&name);
            Ok(json_reply(200, &json!({})))
        }
        _ => Err(Refusal::no_route()),
    }
}
