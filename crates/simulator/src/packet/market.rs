//! What can be had, where, and at what price; and requests on the spot market.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::agenda::Due;
use super::call::Call;
use super::catalogue::{self, FACILITIES, METROS, PLANS, Plan};
use super::devices;
use super::lifecycle::{self, NOTICE};
use super::options::Options;
use super::reply::{Answer, Refusal, empty, list, object, page};
use super::state::{SpotRequest, State};
use crate::core::Instant;

/// What a spot instance costs, next to the list price, unless somebody says otherwise.
const DISCOUNT: f64 = 0.2;

pub(super) fn plans(call: &Call) -> Answer {
    let wanted = |plan: &&Plan| {
        call.text("slug").is_none_or(|slug| plan.slug == slug)
            && call.texts("categories").is_none_or(|categories| categories.iter().any(|own| own == "compute"))
    };
    list("plans", &PLANS.iter().filter(wanted).map(|plan| catalogue::show_plan(call.base, plan)).collect::<Vec<_>>())
}

pub(super) fn systems(call: &Call) -> Answer {
    let all = catalogue::SYSTEMS.iter().map(|(slug, ..)| catalogue::show_system(call.base, slug));
    list("operating_systems", &all.collect::<Vec<_>>())
}

pub(super) fn facilities(call: &Call) -> Answer {
    let all = FACILITIES.iter().map(|(code, ..)| catalogue::show_facility(call.base, code));
    list("facilities", &all.collect::<Vec<_>>())
}

pub(super) fn metros(call: &Call) -> Answer {
    list("metros", &METROS.iter().map(|(code, ..)| catalogue::show_metro(call.base, code)).collect::<Vec<_>>())
}

pub(super) fn metro(call: &Call, id: &str) -> Answer {
    let known = METROS.iter().find(|(code, ..)| *code == id || catalogue::fixed_id("metro", code) == id);
    known.map(|(code, ..)| object(200, &catalogue::show_metro(call.base, code))).ok_or_else(Refusal::not_found)
}

fn codes(metros: bool) -> Vec<&'static str> {
    if metros {
        METROS.iter().map(|(code, ..)| *code).collect()
    } else {
        FACILITIES.iter().map(|(code, ..)| *code).collect()
    }
}

/// How many servers are left at a place, whichever of its names was told to be short.
fn left(state: &State, location: &str, plan: &str) -> usize {
    let metro = catalogue::metro_of(location);
    let names = std::iter::once(location).chain(metro);
    names.map(|name| state.servers_left(name, plan)).min().unwrap_or_default()
}

pub(super) fn capacity(state: &State, metros: bool) -> Answer {
    let level = |location: &str, plan: &Plan| match left(state, location, plan.slug) {
        0 => "unavailable",
        1..=2 => "critical",
        3..=9 => "limited",
        _ => "normal",
    };
    let places = codes(metros).into_iter().map(|code| {
        let plans: Map<String, Value> =
            PLANS.iter().map(|plan| (plan.slug.to_owned(), json!({"level": level(code, plan)}))).collect();
        (code.to_owned(), Value::Object(plans))
    });
    Ok(object(200, &json!({"capacity": places.collect::<Map<_, _>>()})))
}

/// Whether so many servers can be had. The quantity comes back as it came: some send a number, some a text.
pub(super) fn check_capacity(state: &State, call: &Call) -> Answer {
    let servers = call.get("servers").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut wanted: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut answered = Vec::new();
    for mut server in servers {
        let place = ["metro", "facility"].iter().find_map(|name| server[*name].as_str()).unwrap_or_default().to_owned();
        let plan = server["plan"].as_str().unwrap_or_default().to_owned();
        let slug = catalogue::plan(&plan).map(|plan| plan.slug);
        let slug = slug.ok_or_else(|| Refusal::invalid(format!("{plan} is not a valid plan")))?;
        let known = catalogue::facility_of(&place).is_some() || catalogue::metro_of(&place).is_some();
        if !known {
            return Err(Refusal::invalid(format!("{place} is not a valid location")));
        }
        let quantity = &server["quantity"];
        let quantity = quantity.as_u64().or_else(|| quantity.as_str()?.parse().ok()).unwrap_or(1);
        // Several entries for one place and plan come out of the same stock.
        let sum = wanted.entry((place.clone(), slug.to_owned())).or_default();
        *sum += usize::try_from(quantity).unwrap_or(usize::MAX);
        server["available"] = json!(left(state, &place, slug) >= *sum);
        answered.push(server);
    }
    Ok(object(200, &json!({"servers": answered})))
}

/// The price of a plan on the spot market of a place.
pub(super) fn price(state: &State, location: &str, plan: &Plan) -> f64 {
    let usual = (plan.hourly * DISCOUNT * 100.0).round() / 100.0;
    state.prices.get(&format!("{location}/{}", plan.slug)).copied().unwrap_or(usual)
}

pub(super) fn prices(state: &State, call: &Call, metros: bool) -> Answer {
    let name = if metros { "metro" } else { "facility" };
    let wanted = |plan: &&Plan| {
        call.text("plan").is_none_or(|slug| catalogue::plan(slug).is_some_and(|own| own.slug == plan.slug))
    };
    let places =
        codes(metros).into_iter().filter(|code| call.text(name).is_none_or(|place| place == *code)).map(|code| {
            let plans: Map<String, Value> = PLANS
                .iter()
                .filter(wanted)
                .map(|plan| (plan.slug.to_owned(), json!({"price": price(state, code, plan)})))
                .collect();
            (code.to_owned(), Value::Object(plans))
        });
    Ok(object(200, &json!({"spot_market_prices": places.collect::<Map<_, _>>()})))
}

pub(super) fn history(state: &State, call: &Call) -> Answer {
    let place = call.text("facility").or_else(|| call.text("metro")).unwrap_or("ewr1");
    let plan = call.text("plan").and_then(catalogue::plan).unwrap_or(&PLANS[0]);
    let point = json!([state.epoch.as_second(), price(state, place, plan)]);
    Ok(object(200, &json!({"prices_history": {place: {plan.slug: {"datapoints": [point]}}}})))
}

fn show(state: &State, base: &str, request: &SpotRequest) -> Value {
    let own = state.devices.iter().filter(|device| device.spot_request.as_ref() == Some(&request.id));
    let devices: Vec<Value> = own.map(|device| json!({"href": format!("{base}/devices/{}", device.id)})).collect();
    let mut shown = json!({
        "id": request.id,
        "devices_min": request.min,
        "devices_max": request.max,
        "max_bid_price": request.bid,
        "created_at": state.time(request.created),
        "end_at": request.end_at,
        "devices": devices,
        "instances": {"href": format!("{base}/spot-market-requests/{}/instances", request.id)},
        "project": {"href": format!("{base}/projects/{}", request.project)},
        "href": format!("{base}/spot-market-requests/{}", request.id),
    });
    if let Some(metro) = &request.metro {
        shown["metro"] = catalogue::show_metro(base, metro);
    } else {
        shown["facilities"] =
            json!(request.facilities.iter().map(|code| catalogue::show_facility(base, code)).collect::<Vec<_>>());
    }
    shown
}

pub(super) fn requests(state: &State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let own = state.requests.iter().filter(|request| request.project == project);
    page(call, "spot_market_requests", &own.map(|request| show(state, call.base, request)).collect::<Vec<_>>())
}

pub(super) fn get_request(state: &State, call: &Call, id: &str) -> Answer {
    let request = state.requests.iter().find(|request| request.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show(state, call.base, request)))
}

/// A request is answered at once with as many servers as there are, up to its most.
pub(super) fn request(state: &mut State, options: &Options, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let bid = call.decimal("max_bid_price").ok_or_else(|| Refusal::invalid("Max bid price can't be blank"))?;
    let (min, max) = (call.number("devices_min").unwrap_or(1), call.number("devices_max").unwrap_or(1));
    if min == 0 || max < min {
        return Err(Refusal::invalid("Devices max must be at least devices min"));
    }
    let wanted = call.get("instance_parameters").and_then(Value::as_object).cloned().unwrap_or_default();
    let (metro, facilities) = (call.text("metro").map(str::to_owned), call.texts("facilities").unwrap_or_default());
    let request = SpotRequest {
        id: state.id(),
        project: project.to_owned(),
        min,
        max,
        bid,
        metro: metro.clone(),
        facilities: facilities.clone(),
        created: state.now,
        end_at: call.text("end_at").map(str::to_owned),
    };
    let id = request.id.clone();
    for index in 0..max {
        let mut fields = wanted.clone();
        let hostname = fields.get("hostname").and_then(Value::as_str).unwrap_or("spot").to_owned();
        let names = fields.get("hostnames").and_then(Value::as_array).cloned().unwrap_or_default();
        let own_name = usize::try_from(index).ok().and_then(|index| names.get(index).cloned());
        fields.insert("hostname".to_owned(), own_name.unwrap_or_else(|| json!(format!("{hostname}-{}", index + 1))));
        match &metro {
            Some(metro) => fields.insert("metro".to_owned(), json!(metro)),
            None => fields.insert("facility".to_owned(), json!(facilities)),
        };
        fields.insert("spot_instance".to_owned(), json!(true));
        fields.insert("spot_price_max".to_owned(), json!(bid));
        // A request that finds nothing waits for better days.
        let _none = devices::make(state, options, &call.with_params(fields), project, Some(&id));
    }
    state.requests.push(request.clone());
    Ok(object(201, &show(state, call.base, &request)))
}

pub(super) fn delete_request(state: &mut State, options: &Options, call: &Call, id: &str) -> Answer {
    let place = state.requests.iter().position(|request| request.id == id).ok_or_else(Refusal::not_found)?;
    let own: Vec<String> = state
        .devices
        .iter()
        .filter(|device| device.spot_request.as_deref() == Some(id))
        .map(|device| device.id.clone())
        .collect();
    if call.flag("force_termination") == Some(true) {
        for device in &own {
            lifecycle::remove(state, options, device);
        }
    } else if !own.is_empty() {
        return Err(Refusal::invalid("The request has devices; terminate them, or force the termination"));
    }
    state.requests.remove(place);
    Ok(empty(204))
}

/// A device that goes leaves its request.
pub(super) fn forget(state: &mut State, device: &str) {
    if let Some(device) = state.device_mut(device) {
        device.spot_request = None;
    }
}

/// Changes a price. Whoever offered less gets notice.
pub(super) fn set_price(state: &mut State, location: &str, plan: &str, price: f64) {
    state.prices.insert(format!("{location}/{plan}"), price);
    let (now, end) = (state.now, Instant(state.now.0 + NOTICE));
    let mut evicted = Vec::new();
    for device in &mut state.devices {
        let here = device.metro == location || device.facility == location;
        let outbid = device.spot_price_max.is_some_and(|bid| bid < price);
        if device.spot && here && device.plan == plan && outbid && device.termination.is_none() {
            device.termination = Some(end);
            device.updated = now;
            evicted.push((device.id.clone(), device.project.clone()));
        }
    }
    for (device, project) in evicted {
        state.log("instance.termination", "Spot instance will be terminated", Some(&device), Some(&project));
        state.agenda.add(end, Due::Evict { device });
    }
}
