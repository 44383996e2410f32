//! Members that go with their masters.
//!
//! A `Machine` of a master has a hook that holds its removal. When the machine controller has got that far, the masters have its etcd
//! member leave and take the hook away. So a master never goes while etcd needs it, and the next one can join: etcd takes no new member while one
//! does not answer.

use std::{collections::HashSet, net::IpAddr, time::Duration};

use landfall_machine_api::{ETCD_HOOK, GROUP, HOOK_PRESENT, NAMESPACE, ROLE_LABEL, TERMINABLE, VERSION};
use landfall_platform::error_chain;
use serde_json::Value;
use tokio::time::sleep;

use super::{Etcd, Leaving};
use crate::{Error, kube::Access, machine::Machine};

const INTERVAL: Duration = Duration::from_secs(10);

/// Keeps etcd's members like the masters for as long as the future is polled.
pub async fn keep_members(machine: &Machine) {
    let access = Access::of(machine);
    let mut told = HashSet::new();
    // waits: a service, which goes on for as long as its future is polled
    loop {
        if let Err(error) = round(&access, &mut told).await {
            tracing::debug!(error = error_chain(&error), "cannot look at the masters' machines");
        }
        sleep(INTERVAL).await;
    }
}

/// One round. `told` holds what was logged.
async fn round(access: &Access, told: &mut HashSet<String>) -> Result<(), Error> {
    let role = format!("{}%3Dmaster", ROLE_LABEL.replace('/', "%2F"));
    let path = format!("apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/machines");
    // Clusters without machine objects have none that could be held.
    let list = access.get("listing the masters' machines", &format!("{path}?labelSelector={role}")).await?;
    let list = list.unwrap_or_default();
    // One at a time: the others are looked at when this one is gone.
    let held = list["items"].as_array().into_iter().flatten().find(|object| is_held(object));
    let Some(object) = held else { return Ok(()) };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let addresses = addresses(object);
    let leaving = Leaving { name, addresses: &addresses };
    if let Err(error) = Etcd::of_this_machine()?.dismiss(&leaving, &Etcd::local()).await {
        let error = error_chain(&error);
        if told.insert(format!("{name}: {error}")) {
            tracing::warn!(master = name, error, "its etcd member cannot leave yet");
        }
        return Ok(());
    }
    // Refused if it has changed since: the next round, here or on another master, tries again.
    access.replace("letting a master go", &format!("{path}/{name}"), &without_hook(object)).await?;
    tracing::info!(master = name, "its etcd member has left");
    Ok(())
}

/// Whether a machine waits for its etcd member to leave, and for nothing else before that.
fn is_held(machine: &Value) -> bool {
    let array = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let is_deleting = machine["metadata"]["deletionTimestamp"].is_string();
    let hooks = array(&machine["spec"]["lifecycleHooks"]["preTerminate"]);
    let conditions = array(&machine["status"]["conditions"]);
    let waits = |condition: &Value| {
        condition["type"] == TERMINABLE && condition["status"] == "False" && condition["reason"] == HOOK_PRESENT
    };
    is_deleting && hooks.iter().any(|hook| hook["name"] == ETCD_HOOK) && conditions.iter().any(waits)
}

fn addresses(machine: &Value) -> Vec<IpAddr> {
    let all = machine["status"]["addresses"].as_array().into_iter().flatten();
    all.filter_map(|address| address["address"].as_str()?.parse().ok()).collect()
}

fn without_hook(machine: &Value) -> Value {
    let mut machine = machine.clone();
    if let Some(hooks) = machine["spec"]["lifecycleHooks"]["preTerminate"].as_array_mut() {
        hooks.retain(|hook| hook["name"] != ETCD_HOOK);
    }
    machine
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_machine_that_waits_for_this_is_let_go() {
        let held = json!({
            "metadata": { "name": "m0", "deletionTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "7" },
            "spec": { "lifecycleHooks": { "preTerminate": [
                { "name": ETCD_HOOK, "owner": "landfall-node" }, { "name": "backup", "owner": "somebody" },
            ] } },
            "status": { "conditions": [{ "type": TERMINABLE, "status": "False", "reason": HOOK_PRESENT }],
                "addresses": [{ "type": "InternalIP", "address": "192.0.2.1" }, { "type": "Hostname", "address": "m0" }] },
        });
        assert!(is_held(&held));
        assert_eq!(addresses(&held), ["192.0.2.1".parse::<IpAddr>().unwrap()]);
        let free = without_hook(&held);
        assert!(!is_held(&free));
        assert_eq!(free["spec"]["lifecycleHooks"]["preTerminate"][0]["name"], "backup");
        assert_eq!(free["metadata"]["resourceVersion"], "7", "so that nobody else's change is undone");
        for change in [
            |machine: &mut Value| machine["metadata"]["deletionTimestamp"] = Value::Null,
            |machine: &mut Value| machine["status"]["conditions"] = json!([]),
            |machine: &mut Value| machine["status"]["conditions"][0]["status"] = json!("True"),
        ] {
            let mut other = held.clone();
            change(&mut other);
            assert!(!is_held(&other), "{other}");
        }
    }
}
