//! Where load balancers listen.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Listener, Pool, Provisioning, change, known};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};
use crate::powervs::vpc::{REGION, named, new_id, show};

pub(super) fn listeners(cloud: &mut Cloud, call: &Call, id: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |listener: &str| Refusal::new(404, "listener_not_found", format!("listener not found: {listener}"));
    let own = known(cloud, id)?;
    match (method, rest) {
        ("GET", []) => {
            let shown: Vec<Value> = own.listeners.values().map(|one| show::listener(cloud, own, one)).collect();
            Ok(json_reply(200, &json!({ "listeners": shown })))
        }
        ("POST", []) => {
            let (others, pools) = (own.listeners.clone(), own.pools.clone());
            let made = read_listener(cloud, &call.json, &others, &pools)?;
            let listener = made.id.clone();
            change(cloud, id, |own| own.listeners.insert(made.id.clone(), made))?;
            let own = known(cloud, id)?;
            Ok(json_reply(201, &show::listener(cloud, own, &own.listeners[&listener])))
        }
        ("GET", [listener]) => {
            let one = own.listeners.get(*listener).ok_or_else(|| missing(listener))?;
            Ok(json_reply(200, &show::listener(cloud, own, one)))
        }
        ("PATCH", [listener]) => {
            own.listeners.get(*listener).ok_or_else(|| missing(listener))?;
            let pool = named(call, "default_pool").map(str::to_owned);
            if pool.as_ref().is_some_and(|pool| !own.pools.contains_key(pool)) {
                return Err(Refusal::new(404, "pool_not_found", "the default pool was not found"));
            }
            change(cloud, id, |own| {
                if let Some(one) = own.listeners.get_mut(*listener) {
                    one.pool = pool.or(one.pool.take());
                    one.status = Provisioning::UpdatePending;
                }
            })?;
            let own = known(cloud, id)?;
            Ok(json_reply(200, &show::listener(cloud, own, &own.listeners[*listener])))
        }
        ("DELETE", [listener]) => {
            own.listeners.get(*listener).ok_or_else(|| missing(listener))?;
            change(cloud, id, |own| {
                if let Some(one) = own.listeners.get_mut(*listener) {
                    one.status = Provisioning::DeletePending;
                }
            })?;
            Ok(empty(202))
        }
        _ => Err(Refusal::no_route()),
    }
}

pub(super) fn read_listener(
    cloud: &mut Cloud,
    wanted: &Value,
    others: &IndexMap<String, Listener>,
    pools: &IndexMap<String, Pool>,
) -> Result<Listener, Refusal> {
    let port = wanted["port"].as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
    let port = port.ok_or_else(|| Refusal::invalid("the port of a listener must be a number from 1 to 65535"))?;
    if others.values().any(|other| other.port == port) {
        let message = format!("The load balancer has a listener with port {port} already");
        return Err(Refusal::new(400, "listener_duplicate_port", message));
    }
    let protocol = wanted["protocol"].as_str().ok_or_else(|| Refusal::missing("protocol"))?;
    if !matches!(protocol, "tcp" | "http" | "https") {
        return Err(Refusal::invalid(format!("protocol {protocol} is not supported")));
    }
    let pool = match wanted.get("default_pool").filter(|pool| !pool.is_null()) {
        None => None,
        Some(pool) => {
            let found = pools.values().find(|own| pool["id"] == own.id.as_str() || pool["name"] == own.name.as_str());
            Some(found.ok_or_else(|| Refusal::new(404, "pool_not_found", "the default pool was not found"))?.id.clone())
        }
    };
    Ok(Listener {
        id: new_id(cloud, REGION, false),
        port,
        protocol: protocol.to_owned(),
        pool,
        status: Provisioning::CreatePending,
        connection_limit: wanted["connection_limit"].clone(),
        created: cloud.state.now,
    })
}
