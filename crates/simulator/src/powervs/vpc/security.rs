//! Security groups and the rules in them, and SSH keys of VPC.

use serde_json::{Value, json};

use super::{REGION, find, group, href, named, new_id, new_name, page, reference, rename, wanted};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply, without};

/// From this version of the API on, a rule for all protocols is called one for ICMP, TCP and UDP, which it always was.
const RENAMED: &str = "2025-12-09";

/// Makes a group. The default one of a VPC lets everything out, and in what comes from its own members.
pub(super) fn create(cloud: &mut Cloud, region: &str, name: &str, vpc: &Value, group: &Value, default: bool) -> Value {
    let id = new_id(cloud, region, false);
    let own_href = href(cloud, &format!("security_groups/{id}"));
    let crn = cloud.crn("is", region, "", "security-group", &id);
    let mut document = json!({
        "id": id,
        "crn": crn,
        "href": own_href,
        "name": name,
        "created_at": cloud.time_now(),
        "resource_group": group,
        "rules": [],
        "targets": [],
        "vpc": vpc,
        "is_default": default,
    });
    if default {
        let itself = reference(&document);
        let out = rule(cloud, &id, &json!({ "direction": "outbound", "protocol": "all" }));
        let within = json!({ "direction": "inbound", "protocol": "all", "remote": itself });
        let within = rule(cloud, &id, &within);
        document["rules"] = json!([out, within]);
    }
    cloud.state.security_groups.insert(id, document.clone());
    document
}

/// A rule as it is kept.
fn rule(cloud: &mut Cloud, group: &str, wanted: &Value) -> Value {
    let id = new_id(cloud, REGION, false);
    let anywhere = json!({ "cidr_block": "0.0.0.0/0" });
    let given = |name: &str, usual: &Value| wanted.get(name).filter(|value| !value.is_null()).unwrap_or(usual).clone();
    let mut document = json!({
        "id": id,
        "href": href(cloud, &format!("security_groups/{group}/rules/{id}")),
        "name": given("name", &json!(format!("rule-{}", &id[5..13]))),
        "direction": wanted["direction"],
        "ip_version": "ipv4",
        "protocol": wanted["protocol"],
        "local": given("local", &anywhere),
        "remote": given("remote", &anywhere),
        "resource_type": "security_group_rule",
    });
    for field in ["port_min", "port_max", "type", "code"] {
        if let Some(value) = wanted.get(field).filter(|value| !value.is_null()) {
            document[field] = value.clone();
        }
    }
    document
}

fn judge(wanted: &Value) -> Result<(), Refusal> {
    match wanted["direction"].as_str() {
        Some("inbound" | "outbound") => {}
        _ => return Err(Refusal::invalid("direction must be inbound or outbound")),
    }
    let port = |name: &str| wanted[name].as_u64();
    match wanted["protocol"].as_str() {
        Some("all" | "any" | "icmp" | "icmp_tcp_udp") => Ok(()),
        Some("tcp" | "udp") => match (port("port_min"), port("port_max")) {
            (None, None) => Ok(()),
            (Some(min), Some(max)) if (1..=65535).contains(&min) && min <= max && max <= 65535 => Ok(()),
            _ => Err(Refusal::invalid("port_min and port_max must both be there, from 1 to 65535 and in order")),
        },
        _ => Err(Refusal::invalid("protocol must be one of all, icmp, tcp, udp")),
    }
}

fn shown_rule(call: &Call, rule: &Value) -> Value {
    let mut shown = rule.clone();
    let renamed = call.query("version").is_some_and(|version| version >= RENAMED);
    if shown["protocol"] == "all" && renamed {
        shown["protocol"] = json!("icmp_tcp_udp");
    }
    shown
}

fn shown(call: &Call, group: &Value) -> Value {
    let mut shown = without(group, "is_default");
    let rules = group["rules"].as_array().into_iter().flatten().map(|rule| shown_rule(call, rule));
    shown["rules"] = rules.collect();
    shown
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    let known = |cloud: &Cloud, id: &str| find(&cloud.state.security_groups, "security group", id).cloned();
    match (method, rest) {
        ("GET", []) => {
            let own = cloud.state.security_groups.values().filter(|group| wanted(call, group));
            let items: Vec<Value> = own.map(|group| shown(call, group)).collect();
            page(cloud, call, "security_groups", "security_groups", &items)
        }
        ("POST", []) => {
            let vpc = named(call, "vpc").ok_or_else(|| Refusal::missing("vpc"))?;
            let vpc = reference(find(&cloud.state.vpcs, "VPC", vpc)?);
            for rule in call.list("rules") {
                judge(rule)?;
            }
            let name = new_name(cloud, call, |cloud, name| {
                cloud
                    .state
                    .security_groups
                    .values()
                    .any(|group| group["vpc"]["id"] == vpc["id"] && group["name"] == name)
            })?;
            let resource_group = group(cloud, call)?;
            let made = create(cloud, call.region().unwrap_or(REGION), &name, &vpc, &resource_group, false);
            let id = made["id"].as_str().unwrap_or_default().to_owned();
            let rules: Vec<Value> = call.list("rules").iter().map(|wanted| rule(cloud, &id, wanted)).collect();
            if let Some(group) = cloud.state.security_groups.get_mut(&id) {
                group["rules"] = json!(rules);
            }
            Ok(json_reply(201, &shown(call, &known(cloud, &id)?)))
        }
        ("GET", [id]) => Ok(json_reply(200, &shown(call, &known(cloud, id)?))),
        ("PATCH", [id]) => {
            known(cloud, id)?;
            rename(&mut cloud.state.security_groups, id, call);
            Ok(json_reply(200, &shown(call, &known(cloud, id)?)))
        }
        ("DELETE", [id]) => {
            let group = known(cloud, id)?;
            let used = cloud.state.load_balancers.values().find(|own| own.security_groups.iter().any(|own| own == id));
            if group["is_default"] == json!(true) || used.is_some() {
                let holder = used.map_or_else(|| "its VPC".to_owned(), |own| format!("load balancer {}", own.id));
                let message = format!("The security group is in use by {holder}");
                return Err(Refusal::new(409, "security_group_in_use", message));
            }
            cloud.state.security_groups.shift_remove(*id);
            Ok(empty(204))
        }
        (_, [id, "rules", rest @ ..]) => {
            known(cloud, id)?;
            rules(cloud, call, id, method, rest)
        }
        ("GET", [id, "targets"]) => {
            known(cloud, id)?;
            page(cloud, call, &format!("security_groups/{id}/targets"), "targets", &[])
        }
        _ => Err(Refusal::no_route()),
    }
}

fn rules(cloud: &mut Cloud, call: &Call, group: &str, method: &str, rest: &[&str]) -> Answer {
    let all = |cloud: &Cloud| {
        let own = cloud.state.security_groups.get(group).and_then(|own| own["rules"].as_array());
        own.cloned().unwrap_or_default()
    };
    let known = |cloud: &Cloud, id: &str| {
        let found = all(cloud).into_iter().find(|rule| rule["id"] == id);
        found.ok_or_else(|| Refusal::new(404, "not_found", format!("rule not found: {id}")))
    };
    let keep = |cloud: &mut Cloud, rules: Vec<Value>| {
        if let Some(own) = cloud.state.security_groups.get_mut(group) {
            own["rules"] = Value::Array(rules);
        }
    };
    match (method, rest) {
        ("GET", []) => {
            let rules: Vec<Value> = all(cloud).iter().map(|rule| shown_rule(call, rule)).collect();
            Ok(json_reply(200, &json!({ "rules": rules })))
        }
        ("POST", []) => {
            judge(&call.json)?;
            let made = rule(cloud, group, &call.json);
            let mut rules = all(cloud);
            rules.push(made.clone());
            keep(cloud, rules);
            Ok(json_reply(201, &shown_rule(call, &made)))
        }
        ("GET", [id]) => Ok(json_reply(200, &shown_rule(call, &known(cloud, id)?))),
        ("DELETE", [id]) => {
            known(cloud, id)?;
            let rules = all(cloud).into_iter().filter(|rule| rule["id"] != *id).collect();
            keep(cloud, rules);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

/// Whether one of some groups lets connections to a port in.
pub(in crate::powervs) fn admits(cloud: &Cloud, groups: &[String], port: u16) -> bool {
    let rules = groups
        .iter()
        .filter_map(|id| cloud.state.security_groups.get(id))
        .filter_map(|group| group["rules"].as_array());
    rules.flatten().any(|rule| {
        let number = |name: &str| rule[name].as_u64();
        // What is let in from the members of a group does not come from outside.
        let from_anywhere = rule["remote"].get("cidr_block").is_some();
        let fits = match rule["protocol"].as_str() {
            Some("all" | "any" | "icmp_tcp_udp") => true,
            Some("tcp") => {
                (number("port_min").unwrap_or(1)..=number("port_max").unwrap_or(65535)).contains(&port.into())
            }
            _ => false,
        };
        rule["direction"] == "inbound" && from_anywhere && fits
    })
}

pub(super) fn keys(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => super::listed(cloud, call, "keys", "keys", &cloud.state.vpc_keys),
        ("POST", []) => {
            let public_key = call.need("public_key")?.to_owned();
            let kind = match public_key.split(' ').next() {
                Some("ssh-rsa") => "rsa",
                Some("ssh-ed25519") => "ed25519",
                _ => return Err(Refusal::invalid("public_key must be an RSA or Ed25519 key")),
            };
            let name =
                new_name(cloud, call, |cloud, name| cloud.state.vpc_keys.values().any(|key| key["name"] == name))?;
            let id = new_id(cloud, REGION, false);
            let document = json!({
                "id": id,
                "crn": cloud.crn("is", call.region().unwrap_or(REGION), "", "key", &id),
                "href": href(cloud, &format!("keys/{id}")),
                "name": name,
                "created_at": cloud.time_now(),
                "fingerprint": format!("SHA256:{}", Cloud::fixed_hex(&public_key, 43)),
                "length": if kind == "rsa" { 2048 } else { 256 },
                "public_key": public_key,
                "resource_group": group(cloud, call)?,
                "type": kind,
            });
            cloud.state.vpc_keys.insert(id, document.clone());
            Ok(json_reply(201, &document))
        }
        ("GET", [id]) => Ok(json_reply(200, find(&cloud.state.vpc_keys, "key", id)?)),
        ("DELETE", [id]) => {
            find(&cloud.state.vpc_keys, "key", id)?;
            cloud.state.vpc_keys.shift_remove(*id);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}
