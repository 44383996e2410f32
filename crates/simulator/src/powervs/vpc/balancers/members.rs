//! Those that pools send connections to.

use std::net::Ipv4Addr;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Member, Provisioning, change, known};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};
use crate::powervs::vpc::{REGION, new_id, show};

pub(super) fn members(cloud: &mut Cloud, call: &Call, id: &str, pool: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |member: &str| Refusal::new(404, "member_not_found", format!("member not found: {member}"));
    let own = known(cloud, id)?;
    let found = &own.pools[pool];
    let all = |cloud: &Cloud| -> Result<Value, Refusal> {
        let own = known(cloud, id)?;
        let members = own.pools[pool].members.values();
        Ok(json!({ "members": members.map(|one| show::member(cloud, own, &own.pools[pool], one)).collect::<Vec<_>>() }))
    };
    match (method, rest) {
        ("GET", []) => Ok(json_reply(200, &all(cloud)?)),
        ("POST", []) => {
            let made = read_member(cloud, &call.json)?;
            let found = &known(cloud, id)?.pools[pool];
            if found.members.values().any(|other| (&other.address, other.port) == (&made.address, made.port)) {
                let message = format!("The pool has a member {}:{} already", made.address, made.port);
                return Err(Refusal::new(409, "member_duplicate", message));
            }
            let member = made.id.clone();
            change(cloud, id, |own| own.pools[pool].members.insert(made.id.clone(), made))?;
            let own = known(cloud, id)?;
            let found = &own.pools[pool];
            Ok(json_reply(201, &show::member(cloud, own, found, &found.members[&member])))
        }
        // All of them at once, which is the only change that is one.
        ("PUT", []) => {
            let before = found.members.clone();
            let mut members = IndexMap::new();
            for wanted in call.list("members") {
                let mut made = read_member(cloud, wanted)?;
                let same = before.values().find(|old| (&old.address, old.port) == (&made.address, made.port));
                if let Some(old) = same {
                    made.id.clone_from(&old.id);
                    made.created = old.created;
                    made.status = Provisioning::UpdatePending;
                }
                members.insert(made.id.clone(), made);
            }
            change(cloud, id, |own| own.pools[pool].members = members)?;
            Ok(json_reply(202, &all(cloud)?))
        }
        ("GET", [member]) => {
            let one = found.members.get(*member).ok_or_else(|| missing(member))?;
            Ok(json_reply(200, &show::member(cloud, own, found, one)))
        }
        ("PATCH", [member]) => {
            found.members.get(*member).ok_or_else(|| missing(member))?;
            let port = call.value("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
            let weight = call.value("weight").and_then(Value::as_u64);
            change(cloud, id, |own| {
                if let Some(one) = own.pools[pool].members.get_mut(*member) {
                    one.port = port.unwrap_or(one.port);
                    one.weight = weight.unwrap_or(one.weight);
                    one.status = Provisioning::UpdatePending;
                }
            })?;
            let own = known(cloud, id)?;
            let found = &own.pools[pool];
            Ok(json_reply(200, &show::member(cloud, own, found, &found.members[*member])))
        }
        ("DELETE", [member]) => {
            found.members.get(*member).ok_or_else(|| missing(member))?;
            change(cloud, id, |own| {
                if let Some(one) = own.pools[pool].members.get_mut(*member) {
                    one.status = Provisioning::DeletePending;
                }
            })?;
            Ok(empty(202))
        }
        _ => Err(Refusal::no_route()),
    }
}

pub(super) fn read_member(cloud: &mut Cloud, wanted: &Value) -> Result<Member, Refusal> {
    let port = wanted["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or_else(|| Refusal::invalid("the port of a member must be a number up to 65535"))?;
    let address = wanted["target"]["address"].as_str().filter(|address| address.parse::<Ipv4Addr>().is_ok());
    let address = address.ok_or_else(|| Refusal::invalid("the target of a member must have an IPv4 address"))?;
    Ok(Member {
        id: new_id(cloud, REGION, false),
        port,
        address: address.to_owned(),
        weight: wanted["weight"].as_u64().unwrap_or(50),
        status: Provisioning::CreatePending,
        created: cloud.state.now,
    })
}
