//! Regions and their zones.

use serde_json::{Value, json};

use super::href;
use crate::powervs::cloud::Cloud;
use crate::powervs::places::vpc_regions;
use crate::powervs::reply::{Answer, Refusal, json_reply};

fn region(cloud: &Cloud, name: &str) -> Value {
    // Clients go on at the address that is given here.
    let endpoint = format!("{}/vpc/{name}", cloud.state.url);
    json!({ "name": name, "href": href(cloud, &format!("regions/{name}")), "endpoint": endpoint, "status": "available" })
}

fn zone(cloud: &Cloud, name: &str, number: u8) -> Value {
    let own = format!("{name}-{number}");
    json!({
        "name": own,
        "href": href(cloud, &format!("regions/{name}/zones/{own}")),
        "region": { "name": name, "href": href(cloud, &format!("regions/{name}")) },
        "status": "available",
        "data_center": own,
        "universal_name": own,
    })
}

pub(super) fn answer(cloud: &Cloud, rest: &[&str]) -> Answer {
    let known = |name: &str| {
        let found = vpc_regions().into_iter().find(|known| *known == name);
        found.ok_or_else(|| Refusal::new(404, "not_found", format!("region not found: {name}")))
    };
    match rest {
        [] => {
            let shown: Vec<Value> = vpc_regions().into_iter().map(|name| region(cloud, name)).collect();
            Ok(json_reply(200, &json!({ "regions": shown })))
        }
        [name] => Ok(json_reply(200, &region(cloud, known(name)?))),
        [name, "zones"] => {
            let name = known(name)?;
            let shown: Vec<Value> = (1..=3).map(|number| zone(cloud, name, number)).collect();
            Ok(json_reply(200, &json!({ "zones": shown })))
        }
        [name, "zones", own] => {
            let name = known(name)?;
            let found = (1..=3).map(|number| zone(cloud, name, number)).find(|zone| zone["name"] == *own);
            let found = found.ok_or_else(|| Refusal::new(404, "not_found", format!("zone not found: {own}")))?;
            Ok(json_reply(200, &found))
        }
        _ => Err(Refusal::no_route()),
    }
}
