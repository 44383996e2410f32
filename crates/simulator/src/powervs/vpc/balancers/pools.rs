//! Where what comes to listeners goes.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    Pool, Provisioning, change, known,
    members::{members, read_member},
};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};
use crate::powervs::vpc::{REGION, new_id, show};

pub(super) fn pools(cloud: &mut Cloud, call: &Call, id: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |pool: &str| Refusal::new(404, "pool_not_found", format!("pool not found: {pool}"));
    let own = known(cloud, id)?;
    match (method, rest) {
        ("GET", []) => {
            let shown: Vec<Value> = own.pools.values().map(|pool| show::pool(cloud, own, pool)).collect();
            Ok(json_reply(200, &json!({ "pools": shown })))
        }
        ("POST", []) => {
            let names: Vec<String> = own.pools.values().map(|pool| pool.name.clone()).collect();
            let made = read_pool(cloud, &call.json)?;
            if names.contains(&made.name) {
                let message = format!("The load balancer has a pool with name {} already", made.name);
                return Err(Refusal::new(409, "pool_duplicate_name", message));
            }
            let pool = made.id.clone();
            change(cloud, id, |own| own.pools.insert(made.id.clone(), made))?;
            let own = known(cloud, id)?;
            Ok(json_reply(201, &show::pool(cloud, own, &own.pools[&pool])))
        }
        ("GET", [pool]) => {
            let found = own.pools.get(*pool).ok_or_else(|| missing(pool))?;
            Ok(json_reply(200, &show::pool(cloud, own, found)))
        }
        ("PATCH", [pool]) => {
            own.pools.get(*pool).ok_or_else(|| missing(pool))?;
            let text = |name: &str| call.text(name).map(str::to_owned);
            let (name, algorithm) = (text("name"), text("algorithm"));
            let monitor = call.value("health_monitor").cloned();
            change(cloud, id, |own| {
                if let Some(found) = own.pools.get_mut(*pool) {
                    found.name = name.unwrap_or_else(|| found.name.clone());
                    found.algorithm = algorithm.unwrap_or_else(|| found.algorithm.clone());
                    found.monitor = monitor.unwrap_or_else(|| found.monitor.clone());
                    found.status = Provisioning::UpdatePending;
                }
            })?;
            let own = known(cloud, id)?;
            Ok(json_reply(200, &show::pool(cloud, own, &own.pools[*pool])))
        }
        ("DELETE", [pool]) => {
            own.pools.get(*pool).ok_or_else(|| missing(pool))?;
            if own.listeners.values().any(|listener| listener.pool.as_deref() == Some(*pool)) {
                let message = format!("The pool {pool} is the default pool of a listener");
                return Err(Refusal::new(409, "pool_in_use", message));
            }
            change(cloud, id, |own| {
                if let Some(found) = own.pools.get_mut(*pool) {
                    found.status = Provisioning::DeletePending;
                }
            })?;
            Ok(empty(202))
        }
        (_, [pool, "members", rest @ ..]) => {
            own.pools.get(*pool).ok_or_else(|| missing(pool))?;
            members(cloud, call, id, pool, method, rest)
        }
        _ => Err(Refusal::no_route()),
    }
}

pub(super) fn read_pool(cloud: &mut Cloud, wanted: &Value) -> Result<Pool, Refusal> {
    let text = |name: &str| wanted[name].as_str().filter(|text| !text.is_empty());
    let algorithm = text("algorithm").ok_or_else(|| Refusal::missing("algorithm"))?;
    if !matches!(algorithm, "round_robin" | "weighted_round_robin" | "least_connections") {
        return Err(Refusal::invalid(format!("algorithm {algorithm} is not supported")));
    }
    let protocol = text("protocol").ok_or_else(|| Refusal::missing("protocol"))?;
    if !matches!(protocol, "tcp" | "http" | "https") {
        return Err(Refusal::invalid(format!("protocol {protocol} is not supported")));
    }
    let monitor = wanted["health_monitor"].clone();
    let complete = ["delay", "max_retries", "timeout", "type"].iter().all(|field| !monitor[field].is_null());
    if !complete {
        return Err(Refusal::missing("health_monitor"));
    }
    if monitor["timeout"].as_u64() >= monitor["delay"].as_u64() {
        return Err(Refusal::invalid("the timeout of health_monitor must be less than its delay"));
    }
    let mut monitor = monitor;
    if monitor["type"] != "tcp" {
        if monitor["url_path"].is_null() {
            monitor["url_path"] = json!("/");
        }
        for (field, usual) in [("request", json!({ "method": "get" })), ("response", json!({ "codes": ["200"] }))] {
            if monitor[field].is_null() {
                monitor[field] = usual;
            }
        }
    }
    let id = new_id(cloud, REGION, false);
    let name = text("name").map_or_else(|| format!("pool-{}", &id[5..13]), str::to_owned);
    let mut members = IndexMap::new();
    for member in wanted["members"].as_array().into_iter().flatten() {
        let member = read_member(cloud, member)?;
        members.insert(member.id.clone(), member);
    }
    Ok(Pool {
        id,
        name,
        algorithm: algorithm.to_owned(),
        protocol: protocol.to_owned(),
        monitor,
        persistence: wanted["session_persistence"].clone(),
        members,
        status: Provisioning::CreatePending,
        created: cloud.state.now,
    })
}
