//! Addresses: blocks that projects reserve, what is assigned to devices, and what devices have of themselves.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::call::Call;
use super::catalogue;
use super::options::Options;
use super::reply::{Answer, Refusal, empty, list as plain_list, object, page_of};
use super::state::{Assignment, Block, Device, Management, State};

/// Where the addresses of devices begin in the network, and those that are reserved; the first 256 are left to people.
const DEVICES: u32 = 4096;
const ELASTIC: u32 = 256;
/// Lists of blocks are longer than others.
const PAGE: usize = 250;

/// What addresses a device is to have of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    public_v4: bool,
    public_v6: bool,
}

impl Wanted {
    pub(super) fn read(call: &Call) -> Self {
        let Some(wanted) = call.get("ip_addresses").and_then(Value::as_array) else {
            return Self { public_v4: true, public_v6: true };
        };
        let has = |family: u64| {
            wanted.iter().any(|item| item["address_family"] == family && item["public"].as_bool() == Some(true))
        };
        Self { public_v4: has(4), public_v6: has(6) }
    }
}

/// Gives a device the addresses that it has of itself.
pub(super) fn furnish(state: &mut State, id: &str, wanted: Wanted) {
    let Some(device) = state.device(id).cloned() else { return };
    let mut own = Vec::new();
    if wanted.public_v4 {
        let network = next_free(state, DEVICES, 31);
        let gateway = network.network();
        let address = Ipv4Addr::from(u32::from(gateway) + 1);
        let block = block(state, &device, "public_ipv4", &gateway.to_string(), 31, Some(id));
        own.push(management(state, block, 4, true, address.to_string(), gateway.to_string(), gateway.to_string(), 31));
    }
    let number = state.devices.iter().position(|other| other.id == id).unwrap_or_default() as u64 + state.ids;
    if wanted.public_v6 {
        let block = shared(state, &device, "public_ipv6", "2604:1380:4641::", 56);
        let (address, gateway) = (format!("2604:1380:4641::{number:x}:1"), format!("2604:1380:4641::{number:x}:0"));
        own.push(management(state, block, 6, true, address, gateway.clone(), gateway, 127));
    }
    let block = shared(state, &device, "private_ipv4", "10.70.0.0", 25);
    let pair = u32::from(Ipv4Addr::new(10, 70, 0, 0)) + 2 * u32::try_from(number % 30_000).unwrap_or_default();
    let (gateway, address) = (Ipv4Addr::from(pair).to_string(), Ipv4Addr::from(pair + 1).to_string());
    own.push(management(state, block, 4, false, address, gateway.clone(), gateway, 31));
    if let Some(device) = state.device_mut(id) {
        device.management = own;
    }
}

#[allow(clippy::too_many_arguments, reason = "they are the fields of one thing")]
fn management(
    state: &mut State,
    block: String,
    family: u8,
    public: bool,
    address: String,
    network: String,
    gateway: String,
    cidr: u8,
) -> Management {
    Management { id: state.id(), block, family, public, address, network, gateway, cidr }
}

/// A block that the platform makes.
fn block(state: &mut State, device: &Device, kind: &str, network: &str, cidr: u8, owner: Option<&str>) -> String {
    let id = state.id();
    state.blocks.push(Block {
        id: id.clone(),
        project: device.project.clone(),
        kind: kind.to_owned(),
        network: network.to_owned(),
        cidr,
        facility: Some(device.facility.clone()),
        metro: Some(device.metro.clone()),
        tags: Vec::new(),
        details: owner.map(str::to_owned),
        customdata: json!({}),
        state: "created".to_owned(),
        created: state.now,
        management: true,
        assignments: Vec::new(),
    });
    id
}

/// A block that all devices of a project at one place share.
fn shared(state: &mut State, device: &Device, kind: &str, network: &str, cidr: u8) -> String {
    let is_it = |block: &&Block| {
        block.management
            && block.kind == kind
            && block.project == device.project
            && block.facility.as_ref() == Some(&device.facility)
    };
    match state.blocks.iter().find(is_it) {
        Some(block) => block.id.clone(),
        None => block(state, device, kind, network, cidr, None),
    }
}

/// The first free block of addresses from a place in the network on.
fn next_free(state: &State, from: u32, cidr: u8) -> Ipv4Net {
    let size = 1u32 << (32 - cidr);
    let first = u32::from(state.network.network()) + from;
    let taken: Vec<Ipv4Net> =
        state.blocks.iter().filter_map(|block| Ipv4Net::new(block.network.parse().ok()?, block.cidr).ok()).collect();
    let candidates = (0..).map(|number| Ipv4Addr::from(first + number * size));
    let nets = candidates.filter_map(|address| Ipv4Net::new(address, cidr).ok());
    let free = |net: &Ipv4Net| !taken.iter().any(|other| other.contains(net) || net.contains(other));
    nets.into_iter().find(free).unwrap_or(state.network)
}

/// The addresses of a device, its own and those assigned to it.
pub(super) fn show_device(state: &State, base: &str, device: &Device) -> Vec<Value> {
    let own = device.management.iter().map(|own| {
        let netmask = netmask(own.family, own.cidr);
        json!({
            "id": own.id,
            "address_family": own.family,
            "netmask": netmask,
            "created_at": state.time(device.created),
            "details": null,
            "tags": [],
            "public": own.public,
            "cidr": own.cidr,
            "management": true,
            "manageable": true,
            "enabled": true,
            "global_ip": false,
            "customdata": {},
            "project": {},
            "project_lite": {},
            "facility": catalogue::show_facility(base, &device.facility),
            "metro": catalogue::show_metro(base, &device.metro),
            "assigned_to": {"href": format!("{base}/devices/{}", device.id)},
            "interface": {"href": format!("{base}/ports/{}", device.ports.first().map_or("", |port| &port.id))},
            "network": own.network,
            "address": own.address,
            "gateway": own.gateway,
            "type": "IPAssignment",
            "parent_block": {
                "network": own.network,
                "netmask": netmask,
                "cidr": own.cidr,
                "href": format!("{base}/ips/{}", own.block),
            },
            "href": format!("{base}/ips/{}", own.id),
        })
    });
    let assigned = state.blocks.iter().flat_map(|block| {
        let own = block.assignments.iter().filter(|assignment| assignment.device == device.id);
        own.map(|assignment| show_assignment(state, base, block, assignment))
    });
    own.chain(assigned).collect()
}

fn show_assignment(state: &State, base: &str, block: &Block, assignment: &Assignment) -> Value {
    json!({
        "id": assignment.id,
        "address_family": 4,
        "netmask": netmask(4, assignment.cidr),
        "created_at": state.time(assignment.created),
        "details": null,
        "tags": [],
        "public": block.kind != "private_ipv4",
        "cidr": assignment.cidr,
        "management": false,
        "manageable": true,
        "enabled": true,
        "global_ip": block.kind == "global_ipv4",
        "customdata": {},
        "metro": block.metro.as_deref().map(|metro| catalogue::show_metro(base, metro)),
        "assigned_to": {"href": format!("{base}/devices/{}", assignment.device)},
        "network": assignment.network,
        "address": assignment.network,
        "gateway": assignment.network,
        "type": "IPAssignment",
        "parent_block": {
            "network": block.network,
            "netmask": netmask(4, block.cidr),
            "cidr": block.cidr,
            "href": format!("{base}/ips/{}", block.id),
        },
        "href": format!("{base}/ips/{}", assignment.id),
    })
}

pub(super) fn show_block(state: &State, base: &str, block: &Block) -> Value {
    let family = if block.kind == "public_ipv6" { 6 } else { 4 };
    let (gateway, address) = match (family, block.cidr) {
        (4, 32) | (6, _) => (block.network.clone(), block.network.clone()),
        (_, 31) => (block.network.clone(), above(&block.network, 1)),
        _ => (above(&block.network, 1), above(&block.network, 2)),
    };
    let assignments = block.assignments.iter().map(|own| json!({"href": format!("{base}/ips/{}", own.id)}));
    let mut shown = json!({
        "id": block.id,
        "type": block.kind,
        "address_family": family,
        "netmask": netmask(family, block.cidr),
        "network": block.network,
        "address": address,
        "gateway": gateway,
        "cidr": block.cidr,
        "public": block.kind != "private_ipv4",
        "management": block.management,
        "manageable": !block.management,
        "enabled": true,
        "global_ip": block.kind == "global_ipv4",
        "addon": !block.management,
        "bill": !block.management,
        "tags": block.tags,
        "details": block.details,
        "customdata": block.customdata,
        "state": block.state,
        "created_at": state.time(block.created),
        "assignments": assignments.collect::<Vec<_>>(),
        "available": format!("{base}/ips/{}/available", block.id),
        "project": {"href": format!("{base}/projects/{}", block.project)},
        "project_lite": {"href": format!("{base}/projects/{}", block.project)},
        "requested_by": {"href": format!("{base}/users/{}", state.user)},
        "href": format!("{base}/ips/{}", block.id),
    });
    if let Some(facility) = &block.facility {
        shown["facility"] = catalogue::show_facility(base, facility);
    }
    if let Some(metro) = &block.metro {
        shown["metro"] = catalogue::show_metro(base, metro);
    }
    shown
}

fn above(network: &str, by: u32) -> String {
    network
        .parse::<Ipv4Addr>()
        .map_or_else(|_| network.to_owned(), |first| Ipv4Addr::from(u32::from(first) + by).to_string())
}

fn netmask(family: u8, cidr: u8) -> String {
    match family {
        4 => Ipv4Net::new(Ipv4Addr::UNSPECIFIED, cidr.min(32)).map(|net| net.netmask().to_string()).unwrap_or_default(),
        _ => ipnet::Ipv6Net::new(std::net::Ipv6Addr::UNSPECIFIED, cidr)
            .map(|net| net.netmask().to_string())
            .unwrap_or_default(),
    }
}

/// A block or an assignment: they share one space of ids.
pub(super) fn find(state: &State, base: &str, id: &str) -> Option<Value> {
    if let Some(block) = state.blocks.iter().find(|block| block.id == id) {
        return Some(show_block(state, base, block));
    }
    let assigned = state.blocks.iter().find_map(|block| {
        let own = block.assignments.iter().find(|assignment| assignment.id == id)?;
        Some(show_assignment(state, base, block, own))
    });
    assigned.or_else(|| {
        let device = state.devices.iter().find(|device| device.management.iter().any(|own| own.id == id))?;
        show_device(state, base, device).into_iter().find(|shown| shown["id"] == id)
    })
}

pub(super) fn list(state: &State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let types = call.texts("types");
    let wanted = |block: &&Block| {
        block.project == project
            && types.as_ref().is_none_or(|types| types.contains(&block.kind))
            && call.flag("public").is_none_or(|public| (block.kind != "private_ipv4") == public)
            && call.flag("ipv4").is_none_or(|v4| (block.kind != "public_ipv6") == v4)
            && call.text("metro").is_none_or(|metro| block.metro.as_deref() == Some(metro))
            && call.text("facility").is_none_or(|facility| block.facility.as_deref() == Some(facility))
    };
    let shown: Vec<Value> =
        state.blocks.iter().filter(wanted).map(|block| show_block(state, call.base, block)).collect();
    page_of(call, "ip_addresses", &shown, PAGE)
}

pub(super) fn of_device(state: &State, call: &Call, id: &str) -> Answer {
    let device = state.device(id).ok_or_else(Refusal::not_found)?;
    plain_list("ip_addresses", &show_device(state, call.base, device))
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    find(state, call.base, id).map(|shown| object(200, &shown)).ok_or_else(Refusal::not_found)
}

pub(super) fn reserve(state: &mut State, options: &Options, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let kind = call.text("type").ok_or_else(|| Refusal::invalid("Type can't be blank"))?;
    if !["public_ipv4", "global_ipv4", "private_ipv4", "public_ipv6"].contains(&kind) {
        return Err(Refusal::invalid("Type is not included in the list"));
    }
    let quantity = call.number("quantity").unwrap_or(1);
    if !quantity.is_power_of_two() || quantity > 256 {
        return Err(Refusal::invalid("Quantity must be one of 1, 2, 4, 8, 16"));
    }
    let metro = match (call.text("metro"), call.text("facility")) {
        (Some(metro), _) => Some(metro),
        (None, Some(facility)) => {
            Some(catalogue::metro_of(facility).ok_or_else(|| Refusal::invalid("Facility is not valid"))?)
        }
        (None, None) if kind == "global_ipv4" => None,
        (None, None) => return Err(Refusal::invalid("Facility or metro can't be blank")),
    };
    if metro.is_some_and(|metro| catalogue::facility_of(metro).is_none()) {
        return Err(Refusal::invalid("Metro is not valid"));
    }
    let elastic = |block: &&Block| block.project == project && !block.management;
    let held: usize = state.blocks.iter().filter(elastic).map(|block| 1usize << (32 - block.cidr.min(32))).sum();
    let needs_approval = quantity > 16 || held + usize::try_from(quantity).unwrap_or(usize::MAX) > options.max_elastic;
    if needs_approval && call.flag("fail_on_approval_required") == Some(true) {
        return Err(Refusal::invalid("The request for addresses requires approval, because the quota is exceeded"));
    }
    let cidr = 32 - u8::try_from(quantity.trailing_zeros()).unwrap_or_default();
    let block = Block {
        id: state.id(),
        project: project.to_owned(),
        kind: kind.to_owned(),
        network: next_free(state, ELASTIC, cidr).network().to_string(),
        cidr,
        facility: call.text("facility").map(str::to_owned),
        metro: metro.map(str::to_owned),
        tags: call.texts("tags").unwrap_or_default(),
        details: call.text("details").map(str::to_owned),
        customdata: call.get("customdata").cloned().unwrap_or_else(|| json!({})),
        state: if needs_approval { "pending" } else { "created" }.to_owned(),
        created: state.now,
        management: false,
        assignments: Vec::new(),
    };
    let shown = show_block(state, call.base, &block);
    state.blocks.push(block);
    Ok(object(201, &shown))
}

pub(super) fn update(state: &mut State, call: &Call, id: &str) -> Answer {
    let block = state.blocks.iter_mut().find(|block| block.id == id).ok_or_else(Refusal::not_found)?;
    if let Some(tags) = call.texts("tags") {
        block.tags = tags;
    }
    if let Some(details) = call.text("details") {
        block.details = Some(details.to_owned());
    }
    if let Some(data) = call.get("customdata") {
        block.customdata = data.clone();
    }
    let block = block.clone();
    Ok(object(200, &show_block(state, call.base, &block)))
}

pub(super) fn delete(state: &mut State, id: &str) -> Answer {
    if let Some(place) = state.blocks.iter().position(|block| block.id == id) {
        let block = &state.blocks[place];
        if block.management {
            return Err(Refusal::invalid("A management block cannot be released"));
        }
        if !block.assignments.is_empty() {
            return Err(Refusal::invalid("IP reservation has assignments and cannot be released"));
        }
        state.blocks.remove(place);
        return Ok(empty(204));
    }
    for block in &mut state.blocks {
        if let Some(place) = block.assignments.iter().position(|assignment| assignment.id == id) {
            block.assignments.remove(place);
            return Ok(empty(204));
        }
    }
    Err(Refusal::not_found())
}

pub(super) fn available(state: &State, call: &Call, id: &str) -> Answer {
    let block = state.blocks.iter().find(|block| block.id == id).ok_or_else(Refusal::not_found)?;
    let cidr = u8::try_from(call.number("cidr").unwrap_or(32)).unwrap_or(32);
    let whole = block.network.parse().ok().and_then(|network| Ipv4Net::new(network, block.cidr).ok());
    let parts = whole.and_then(|whole| whole.subnets(cidr).ok());
    let free: Vec<String> =
        parts.into_iter().flatten().filter(|part| is_free(block, *part)).map(|part| part.to_string()).collect();
    Ok(object(200, &json!({"available": free})))
}

fn is_free(block: &Block, part: Ipv4Net) -> bool {
    let taken = block.assignments.iter().filter_map(|own| Ipv4Net::new(own.network.parse().ok()?, own.cidr).ok());
    !taken.into_iter().any(|other| other.contains(&part) || part.contains(&other))
}

/// There is no call that moves an address: it is taken from one device and given to another.
pub(super) fn assign(state: &mut State, call: &Call, id: &str) -> Answer {
    let device = state.device(id).filter(|device| !device.hidden).ok_or_else(Refusal::not_found)?.clone();
    let wanted = call.text("address").ok_or_else(|| Refusal::invalid("Address can't be blank"))?;
    let part: Ipv4Net = if wanted.contains('/') { wanted.parse().ok() } else { format!("{wanted}/32").parse().ok() }
        .ok_or_else(|| Refusal::invalid("Address is not valid"))?;
    let assignment = Assignment {
        id: state.id(),
        device: id.to_owned(),
        network: part.network().to_string(),
        cidr: part.prefix_len(),
        created: state.now,
    };
    let holds = |block: &&mut Block| {
        let whole = block.network.parse().ok().and_then(|network| Ipv4Net::new(network, block.cidr).ok());
        !block.management && block.project == device.project && whole.is_some_and(|whole| whole.contains(&part))
    };
    let block = state.blocks.iter_mut().find(holds);
    let block = block.ok_or_else(|| Refusal::invalid(format!("{wanted} is not an address of this project")))?;
    if block.state != "created" {
        return Err(Refusal::invalid("IP reservation is not approved yet"));
    }
    if block.metro.as_ref().is_some_and(|metro| *metro != device.metro) {
        return Err(Refusal::invalid("IP reservation and device are not in the same metro"));
    }
    if !is_free(block, part) {
        return Err(Refusal::invalid(format!("{wanted} is already assigned")));
    }
    block.assignments.push(assignment.clone());
    let block = block.clone();
    Ok(object(201, &show_assignment(state, call.base, &block, &assignment)))
}
