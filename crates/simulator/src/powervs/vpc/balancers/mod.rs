//! Load balancers: one change at a time, and each takes its time.

mod create;
mod listeners;
mod members;
mod model;
mod pools;

use serde_json::{Value, json};

use super::{href, page, show, wanted};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

use create::create;
use listeners::listeners;
pub(in crate::powervs) use model::{Listener, LoadBalancer, Member, Pool, Provisioning};
use pools::pools;

pub(super) fn answer(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => {
            let own = cloud.state.load_balancers.values().map(|own| show::balancer(cloud, own));
            let items: Vec<Value> = own.filter(|own| wanted(call, own)).collect();
            page(cloud, call, "load_balancers", "load_balancers", &items)
        }
        ("POST", []) => create(cloud, call),
        ("GET", ["profiles"]) => profiles(cloud, call),
        ("GET", [id]) => Ok(json_reply(200, &show::balancer(cloud, known(cloud, id)?))),
        ("PATCH", [id]) => {
            let name = call.text("name").map(str::to_owned);
            change(cloud, id, |own| {
                if let Some(name) = name {
                    own.name = name;
                }
            })?;
            Ok(json_reply(200, &show::balancer(cloud, known(cloud, id)?)))
        }
        ("DELETE", [id]) => delete(cloud, id),
        ("GET", [id, "statistics"]) => {
            known(cloud, id)?;
            let body = json!({ "active_connections": 0, "connection_rate": 0.0, "data_processed_this_month": 0, "throughput": 0.0 });
            Ok(json_reply(200, &body))
        }
        (_, [id, "listeners", rest @ ..]) => listeners(cloud, call, id, method, rest),
        (_, [id, "pools", rest @ ..]) => pools(cloud, call, id, method, rest),
        _ => Err(Refusal::no_route()),
    }
}

pub(super) fn profiles(cloud: &Cloud, call: &Call) -> Answer {
    let own = json!({
        "name": "dynamic", "family": "application", "href": href(cloud, "load_balancer/profiles/dynamic"),
        "access_modes": { "type": "enum", "values": ["public", "private"] },
        "advanced_health_checks_supported": { "type": "fixed", "value": false },
        "asymmetric_routing_supported": { "type": "fixed", "value": false },
        "availability": { "type": "fixed", "value": "region" },
        "failsafe_policy_actions": { "type": "enum", "values": ["fail"], "default": "fail" },
        "fqdn_pool_members_supported": { "type": "fixed", "value": false },
        "instance_groups_supported": { "type": "fixed", "value": true },
        "logging_supported": { "type": "fixed", "value": ["datapath"] },
        "mtls_supported": { "type": "fixed", "value": false },
        "route_mode_supported": { "type": "fixed", "value": false },
        "security_groups_supported": { "type": "fixed", "value": true },
        "source_ip_session_persistence_supported": { "type": "fixed", "value": true },
        "targetable_load_balancer_profiles": [],
        "targetable_resource_types": { "type": "fixed", "value": ["instance"] },
        "udp_supported": { "type": "fixed", "value": false },
    });
    page(cloud, call, "load_balancer/profiles", "profiles", &[own])
}

fn known<'a>(cloud: &'a Cloud, id: &str) -> Result<&'a LoadBalancer, Refusal> {
    let missing = || Refusal::new(404, "load_balancer_not_found", format!("load balancer not found: {id}"));
    cloud.state.load_balancers.get(id).ok_or_else(missing)
}

/// Makes a change, unless one is under way, and lets it take its time.
fn change<R>(cloud: &mut Cloud, id: &str, make: impl FnOnce(&mut LoadBalancer) -> R) -> Result<R, Refusal> {
    let status = known(cloud, id)?.status;
    if status != Provisioning::Active {
        let status = status.word().to_uppercase();
        let message = format!("The load balancer with ID '{id}' cannot be updated because its status is '{status}'.");
        return Err(Refusal::new(409, "load_balancer_update_conflict", message));
    }
    let Some(own) = cloud.state.load_balancers.get_mut(id) else { return Err(Refusal::no_route()) };
    own.status = Provisioning::UpdatePending;
    let result = make(own);
    cloud.later(Kind::LoadBalancerUpdate, id, Event::Done);
    Ok(result)
}

/// A load balancer is there, or a change of it has taken effect.
pub(in crate::powervs) fn settled(cloud: &mut Cloud, id: &str) {
    let Some(own) = cloud.state.load_balancers.get(id) else { return };
    let (name, new) = (own.name.clone(), own.status == Provisioning::CreatePending);
    let outcome = if new { cloud.outcome(Kind::LoadBalancer, &name) } else { None };
    let Some(own) = cloud.state.load_balancers.get_mut(id) else { return };
    match (outcome, own.status) {
        (Some(Outcome::Stuck), _) | (_, Provisioning::DeletePending | Provisioning::Failed) => return,
        (Some(Outcome::Failed), _) => {
            own.status = Provisioning::Failed;
            return;
        }
        _ => own.status = Provisioning::Active,
    }
    own.listeners.retain(|_, listener| listener.status != Provisioning::DeletePending);
    own.pools.retain(|_, pool| pool.status != Provisioning::DeletePending);
    for listener in own.listeners.values_mut() {
        listener.status = Provisioning::Active;
    }
    for pool in own.pools.values_mut() {
        pool.status = Provisioning::Active;
        pool.members.retain(|_, member| member.status != Provisioning::DeletePending);
        for member in pool.members.values_mut() {
            member.status = Provisioning::Active;
        }
    }
}

/// A load balancer is gone.
pub(in crate::powervs) fn gone(cloud: &mut Cloud, id: &str) {
    cloud.state.load_balancers.shift_remove(id);
}

fn delete(cloud: &mut Cloud, id: &str) -> Answer {
    let status = known(cloud, id)?.status;
    if matches!(status, Provisioning::CreatePending | Provisioning::UpdatePending | Provisioning::DeletePending) {
        let status = status.word().to_uppercase();
        let message = format!("The load balancer with ID '{id}' cannot be deleted because its status is '{status}'.");
        return Err(Refusal::new(409, "load_balancer_update_conflict", message));
    }
    if let Some(own) = cloud.state.load_balancers.get_mut(id) {
        own.status = Provisioning::DeletePending;
    }
    cloud.state.agenda.forget(id);
    cloud.later(Kind::LoadBalancerDelete, id, Event::Gone);
    Ok(empty(204))
}
