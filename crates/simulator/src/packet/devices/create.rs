//! Creating devices: what is asked for, whether it can be had, and where.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::agenda::Due;
use super::super::call::Call;
use super::super::catalogue::{self, Plan};
use super::super::knobs::Outcome;
use super::super::options::Options;
use super::super::reply::{Answer, Refusal, object};
use super::super::state::{Device, DeviceState, Port, State};
use super::super::{addresses, market};
use super::show;
use crate::core::Injection;

const LONGEST_TAG: usize = 80;

pub(in super::super) fn create(state: &mut State, options: &Options, call: &Call, project: &str) -> Answer {
    let id = make(state, options, call, project, None)?;
    let device = state.device(&id).cloned().ok_or_else(Refusal::not_found)?;
    Ok(object(201, &show(state, call.base, &device)))
}

/// Where a device is to stand: what was asked for, and the facility and metro that it means.
struct Place {
    asked: String,
    facility: String,
    metro: String,
}

/// Makes a device and returns its id.
pub(in super::super) fn make(
    state: &mut State,
    options: &Options,
    call: &Call,
    project: &str,
    spot_request: Option<&str>,
) -> Result<String, Refusal> {
    if state.project(project).is_none() {
        return Err(Refusal::not_found());
    }
    let mut errors = Vec::new();
    let reservation = reserved(state, call, project)?;
    let plan = match (&reservation, call.text("plan")) {
        (Some(place), _) => catalogue::plan(&state.reservations[*place].plan),
        (None, Some(slug)) => catalogue::plan(slug),
        (None, None) => None,
    };
    if plan.is_none() {
        errors.push(
            call.text("plan").map_or("Plan can't be blank".to_owned(), |plan| format!("{plan} is not a valid plan")),
        );
    }
    let os = call.text("operating_system").unwrap_or_default();
    if !catalogue::SYSTEMS.iter().any(|(slug, ..)| *slug == os) {
        errors.push(if os.is_empty() {
            "Operating system can't be blank".to_owned()
        } else {
            format!("{os} is not a valid operating system")
        });
    }
    let hostname = call.text("hostname").map_or_else(|| "device".to_owned(), str::to_owned);
    let tags = call.texts("tags").unwrap_or_default();
    for problem in [check_hostname(&hostname), check_tags(&tags), check_boot(call, os), check_userdata(call, options)] {
        errors.extend(problem.err().into_iter().flat_map(|refusal| refusal.errors));
    }
    if let Some(lists) = call.get("ip_addresses").and_then(Value::as_array) {
        errors.extend(check_addresses(lists, os).err().into_iter().flat_map(|refusal| refusal.errors));
    }
    let (Some(plan), true) = (plan, errors.is_empty()) else { return Err(Refusal { status: 422, errors }) };
    let places = match &reservation {
        Some(place) => {
            let own = &state.reservations[*place];
            let (facility, metro) = (own.facility.clone(), own.metro.clone());
            vec![Place { asked: metro.clone(), facility, metro }]
        }
        None => places(call)?,
    };
    let own = |device: &&Device| device.project == project && !device.hidden;
    if state.devices.iter().filter(own).count() >= options.max_devices {
        return Err(Refusal::invalid(format!(
            "You have reached the maximum number of projects devices ({})",
            options.max_devices
        )));
    }
    let place = match reservation {
        Some(_) => places.into_iter().next(),
        None if call.injection == Some(Injection::NoCapacity) => None,
        None => places.into_iter().find(|place| has_server(state, call, place, plan)),
    };
    let Some(place) = place else {
        let asked = call.texts("facility").or_else(|| call.texts("metro")).unwrap_or_default().join(", ");
        let kind = if call.get("metro").is_some() { "metro" } else { "facility" };
        let text = format!("There are no provisionable {} servers matching your criteria in {kind} {asked}", plan.slug);
        return Err(Refusal::new(options.no_capacity_status, text));
    };
    Ok(put(state, options, call, project, spot_request, (plan, os, hostname, tags, reservation, place)))
}

type Decided<'a> = (&'static Plan, &'a str, String, Vec<String>, Option<usize>, Place);

/// Puts a device that can be had into the account.
fn put(
    state: &mut State,
    options: &Options,
    call: &Call,
    project: &str,
    spot_request: Option<&str>,
    decided: Decided<'_>,
) -> String {
    let (plan, os, hostname, tags, reservation, place) = decided;
    let id = state.id();
    let reservation = reservation.map(|index| {
        let own = &mut state.reservations[index];
        own.provisionable = false;
        own.device = Some(id.clone());
        own.id.clone()
    });
    let slow = match call.injection {
        Some(Injection::SlowState(factor)) => factor,
        _ => 1,
    };
    let spot = call.flag("spot_instance") == Some(true) || spot_request.is_some();
    let device = Device {
        id: id.clone(),
        project: project.to_owned(),
        hostname,
        description: call.text("description").map(str::to_owned),
        state: DeviceState::Queued,
        plan: plan.slug.to_owned(),
        os: os.to_owned(),
        facility: place.facility,
        metro: place.metro,
        counted: place.asked,
        billing_cycle: call.text("billing_cycle").unwrap_or("hourly").to_owned(),
        userdata: call.get("userdata").and_then(Value::as_str).unwrap_or_default().to_owned(),
        customdata: call.get("customdata").map_or_else(|| json!({}), customdata),
        tags,
        locked: call.flag("locked").unwrap_or(false),
        network_frozen: false,
        always_pxe: call.flag("always_pxe").unwrap_or(false),
        ipxe_script_url: call.text("ipxe_script_url").map(str::to_owned),
        reservation,
        spot,
        spot_price_max: call.decimal("spot_price_max"),
        spot_request: spot_request.map(str::to_owned),
        termination: None,
        ssh_keys: ssh_keys(state, call, project),
        created: state.now,
        updated: state.now,
        provisioned: Vec::new(),
        slow,
        hidden: false,
        guest_started: false,
        guest_up: false,
        announced: BTreeSet::new(),
        management: Vec::new(),
        ports: Vec::new(),
        root_password: state.id()[..10].to_owned(),
        disk: state.id(),
    };
    let wants = addresses::Wanted::read(call);
    state.devices.push(device);
    addresses::furnish(state, &id, wants);
    let ports = ports(state, &id);
    if let Some(device) = state.device_mut(&id) {
        device.ports = ports;
    }
    state.agenda.add(state.now, Due::Provision { device: id.clone(), stage: 0 });
    let _ = options;
    state.log("instance.created", "Provision started", Some(&id), Some(project));
    id
}

/// Ports in the order in which clients index them.
fn ports(state: &mut State, device: &str) -> Vec<Port> {
    let mac = |last: u8| {
        let hex: Vec<u8> = device.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |at: usize| String::from_utf8_lossy(&hex[2 * at..2 * at + 2]).into_owned();
        format!("0c:c4:{}:{}:{}:{last:02x}", pair(0), pair(1), pair(2))
    };
    let mut port = |name: &str, mac: String| Port {
        id: state.id(),
        name: name.to_owned(),
        mac,
        bonded: true,
        network_type: "layer3".to_owned(),
        vlans: Vec::new(),
        native: None,
    };
    vec![port("bond0", mac(0)), port("eth0", mac(0)), port("eth1", mac(1))]
}

/// The reserved hardware that is asked for: its place in the list.
fn reserved(state: &State, call: &Call, project: &str) -> Result<Option<usize>, Refusal> {
    let Some(wish) = call.text("hardware_reservation_id") else { return Ok(None) };
    let none = || Refusal::new(503, "There are no available hardware reservations that match your criteria");
    if call.injection == Some(Injection::NoCapacity) {
        return Err(none());
    }
    if wish == "next-available" {
        let asked: Vec<String> = ["facility", "metro"].iter().filter_map(|name| call.texts(name)).flatten().collect();
        let fits = |own: &super::super::state::Reservation| {
            own.project == project
                && own.provisionable
                && call.text("plan").is_none_or(|plan| catalogue::plan(plan).is_some_and(|plan| plan.slug == own.plan))
                && (asked.is_empty()
                    || asked.iter().any(|place| place == "any" || *place == own.facility || *place == own.metro))
        };
        return state.reservations.iter().position(fits).map(Some).ok_or_else(none);
    }
    let index = state.reservations.iter().position(|own| own.id == wish && own.project == project);
    let index = index.ok_or_else(|| Refusal::invalid("Hardware reservation is not valid"))?;
    if !state.reservations[index].provisionable {
        return Err(Refusal::invalid(format!("Server is not provisionable: hardware reservation {wish} is in use")));
    }
    Ok(Some(index))
}

/// The places where a device may stand, in the order given.
fn places(call: &Call) -> Result<Vec<Place>, Refusal> {
    let (facilities, metros) = (call.texts("facility"), call.texts("metro"));
    let asked = facilities.as_ref().or(metros.as_ref()).filter(|list| list.iter().any(|place| !place.is_empty()));
    let asked = asked.ok_or_else(|| Refusal::invalid("Facility or metro can't be blank"))?;
    if facilities.is_some() && metros.is_some() {
        return Err(Refusal::invalid("Facility and metro can't be given together"));
    }
    let mut places = Vec::new();
    for name in asked {
        let is_metro = metros.is_some();
        if name == "any" {
            places.extend(catalogue::METROS.iter().filter_map(|(metro, ..)| {
                let facility = catalogue::facility_of(metro)?.to_owned();
                Some(Place { asked: (*metro).to_owned(), facility, metro: (*metro).to_owned() })
            }));
            continue;
        }
        let known = if is_metro {
            catalogue::facility_of(name).map(|facility| (facility, name.as_str()))
        } else {
            catalogue::metro_of(name).map(|metro| (name.as_str(), metro))
        };
        let kind = if is_metro { "metro" } else { "facility" };
        let (facility, metro) = known.ok_or_else(|| Refusal::invalid(format!("{name} is not a valid {kind}")))?;
        places.push(Place { asked: name.clone(), facility: facility.to_owned(), metro: metro.to_owned() });
    }
    Ok(places)
}

/// Whether there is a server, on demand or at the price that is offered.
fn has_server(state: &State, call: &Call, place: &Place, plan: &Plan) -> bool {
    let left =
        [&place.asked, &place.facility, &place.metro].into_iter().all(|name| state.servers_left(name, plan.slug) > 0);
    let spot = call.flag("spot_instance") == Some(true);
    let price = market::price(state, &place.metro, plan).max(market::price(state, &place.asked, plan));
    left && (!spot || call.decimal("spot_price_max").is_none_or(|bid| bid >= price))
}

pub(super) fn check_hostname(hostname: &str) -> Result<(), Refusal> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let label =
        |label: &str| !label.is_empty() && label.len() <= 63 && !label.starts_with('-') && !label.ends_with('-');
    if hostname.chars().all(good) && hostname.len() <= 253 && hostname.split('.').all(label) {
        Ok(())
    } else {
        Err(Refusal::invalid("Hostname is invalid"))
    }
}

pub(super) fn check_tags(tags: &[String]) -> Result<(), Refusal> {
    match tags.iter().find(|tag| tag.chars().count() > LONGEST_TAG) {
        None => Ok(()),
        Some(tag) => Err(Refusal::invalid(format!("Tag {tag} is too long (maximum is {LONGEST_TAG} characters)"))),
    }
}

fn check_boot(call: &Call, os: &str) -> Result<(), Refusal> {
    let inline = call.get("userdata").and_then(Value::as_str).is_some_and(|text| text.starts_with("#!ipxe"));
    let url = call.text("ipxe_script_url");
    match (os, url) {
        ("custom_ipxe", None) if !inline => {
            Err(Refusal::invalid("An iPXE script URL or an iPXE script in the userdata is required for custom_ipxe"))
        }
        ("custom_ipxe", Some(url)) => match url::Url::parse(url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
            _ => Err(Refusal::invalid("iPXE script URL is invalid")),
        },
        ("custom_ipxe" | _, None) => Ok(()),
        (_, Some(_)) => Err(Refusal::invalid("iPXE script URL may only be given with operating system custom_ipxe")),
    }
}

fn check_userdata(call: &Call, options: &Options) -> Result<(), Refusal> {
    let length = call.get("userdata").and_then(Value::as_str).map_or(0, str::len);
    if length <= options.max_userdata { Ok(()) } else { Err(Refusal::invalid("Userdata is too long")) }
}

fn check_addresses(wanted: &[Value], os: &str) -> Result<(), Refusal> {
    let has = |family: u64, public: bool| {
        wanted.iter().any(|item| item["address_family"] == family && item["public"].as_bool() == Some(public))
    };
    if !has(4, false) {
        return Err(Refusal::invalid("Private IPv4 subnet is required"));
    }
    if os == "custom_ipxe" && !has(4, true) {
        return Err(Refusal::invalid("Public IPv4 subnet is required for this operating system"));
    }
    Ok(())
}

/// One client sends an object as a text.
pub(super) fn customdata(data: &Value) -> Value {
    match data {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| json!({})),
        other => other.clone(),
    }
}

/// The keys that a device gets: those named of the project and all of the users that are named, or all of the project and the user.
fn ssh_keys(state: &State, call: &Call, project: &str) -> Vec<String> {
    if call.flag("no_ssh_keys") == Some(true) {
        return Vec::new();
    }
    let keys = call.texts("project_ssh_keys").unwrap_or_default();
    let users = call.texts("user_ssh_keys").unwrap_or_default();
    let own = state.keys.iter().filter(|key| {
        if keys.is_empty() && users.is_empty() {
            key.project.as_deref().is_none_or(|owner| owner == project)
        } else {
            keys.contains(&key.id) || key.project.is_none() && users.contains(&state.user)
        }
    });
    own.map(|key| key.id.clone()).collect()
}

/// Several devices with one call.
pub(in super::super) fn create_batch(state: &mut State, options: &Options, call: &Call, project: &str) -> Answer {
    let wanted = call.get("batches").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut made = Vec::new();
    for one in wanted {
        let fields: Map<String, Value> = one.as_object().cloned().unwrap_or_default();
        let quantity = fields.get("quantity").and_then(Value::as_u64).unwrap_or(1);
        let mut devices = Vec::new();
        let mut problems: Vec<String> = Vec::new();
        for index in 0..quantity {
            let mut fields = fields.clone();
            let names = fields
                .get("hostnames")
                .and_then(Value::as_array)
                .and_then(|names| names.get(usize::try_from(index).ok()?))
                .cloned();
            let pattern = fields
                .get("hostname")
                .and_then(Value::as_str)
                .unwrap_or("device")
                .replace("{{index}}", &index.to_string());
            fields.insert("hostname".to_owned(), names.unwrap_or(Value::String(pattern)));
            match make(state, options, &call.with_params(fields), project, None) {
                Ok(id) => devices.push(json!({"href": format!("{}/devices/{id}", call.base)})),
                Err(refusal) => problems.extend(refusal.errors),
            }
        }
        let id = state.id();
        let batch = json!({
            "id": id,
            "state": if problems.is_empty() { "completed" } else { "failed" },
            "quantity": quantity,
            "created_at": state.time(state.now),
            "updated_at": state.time(state.now),
            "devices": devices,
            "project": {"href": format!("{}/projects/{project}", call.base)},
            "error_messages": problems,
            "href": format!("{}/batches/{id}", call.base),
        });
        state.batches.push(batch.clone());
        made.push(batch);
    }
    Ok(object(201, &json!({"batches": made})))
}

/// Whether a device was told to come to nothing.
pub(in super::super) fn outcome(options: &Options, hostname: &str) -> Option<Outcome> {
    options.outcomes.iter().find(|rule| hostname.contains(&rule.name)).map(|rule| rule.outcome)
}
