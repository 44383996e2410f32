//! Making virtual servers.

use std::net::Ipv4Addr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::show::show_one;
use crate::core::Injection;
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Limited};
use crate::powervs::power::{Instance, Interface, crn, log, networks, placement, volumes, workspace, workspace_mut};
use crate::powervs::reply::{Answer, Refusal, json_reply};
use crate::powervs::{places, tags};

/// What is asked for, once it has been found to make sense.
struct Wanted {
    name: String,
    image: String,
    memory_gib: f64,
    processors: f64,
    processor_type: String,
    system: String,
    networks: Vec<(String, Option<Ipv4Addr>)>,
    volumes: Vec<String>,
    tier: String,
    placement_group: Option<String>,
    key: Option<String>,
    user_data: String,
    pin_policy: String,
    tags: Vec<String>,
}

pub(in crate::powervs::power) fn create(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let wanted = read(cloud, call, ws)?;
    let most = cloud.options.quota(Limited::Instances);
    let replicants = call.value("replicants").and_then(Value::as_f64).unwrap_or(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the same line")]
    let replicants = if (1.0..=100.0).contains(&replicants) { replicants as usize } else { 0 };
    if replicants == 0 {
        return Err(Refusal::invalid("replicants must be a number from 1 to 100"));
    }
    if workspace(cloud, ws)?.instances.len() + replicants > most {
        let message = format!("quota exceeded: the workspace may have {most} pvm-instances");
        return Err(Refusal::new(422, "unprocessable_entity", message));
    }
    if call.injection == Some(Injection::NoCapacity) {
        let message = "insufficient resources: no host has room for the pvm-instance";
        return Err(Refusal::new(422, "unprocessable_entity", message));
    }
    let mut made = Vec::new();
    for number in 1..=replicants {
        let name = match (replicants, call.text("replicantNamingScheme")) {
            (1, _) => wanted.name.clone(),
            (_, Some("prefix")) => format!("{number}-{}", wanted.name),
            _ => format!("{}-{number}", wanted.name),
        };
        made.push(make(cloud, ws, &wanted, name)?);
    }
    let own = workspace(cloud, ws)?;
    let shown = made.iter().filter_map(|id| own.instances.get(id)).map(|one| show_one(cloud, own, one)).collect();
    Ok(json_reply(201, &Value::Array(shown)))
}

fn number(call: &Call, name: &str) -> Result<f64, Refusal> {
    call.value(name).and_then(Value::as_f64).ok_or_else(|| Refusal::missing(name))
}

fn read(cloud: &Cloud, call: &Call, ws: &str) -> Result<Wanted, Refusal> {
    let own = workspace(cloud, ws)?;
    let (name, image) = (call.need("serverName")?, call.need("imageID")?);
    let (memory_gib, processors) = (number(call, "memory")?, number(call, "processors")?);
    let processor_type = call.need("procType")?;
    let name_is_valid =
        name.len() <= 63 && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if !name_is_valid {
        return Err(Refusal::invalid("serverName must be at most 63 letters, digits, '-', '_' and '.'"));
    }
    if !matches!(processor_type, "dedicated" | "shared" | "capped") {
        return Err(Refusal::invalid("procType must be one of dedicated, shared, capped"));
    }
    let smallest = if processor_type == "dedicated" { 1.0 } else { 0.25 };
    if processors < smallest || memory_gib < 2.0 {
        return Err(Refusal::invalid(format!("at least {smallest} processors and 2 GiB of memory are required")));
    }
    if processor_type == "dedicated" && processors.fract() != 0.0 || (processors * 4.0).fract() != 0.0 {
        return Err(Refusal::invalid("processors must be whole for dedicated ones, else multiples of 0.25"));
    }
    let offered = places::find(&own.zone).map(|zone| zone.systems).unwrap_or_default();
    let system = call.text("sysType").or_else(|| offered.first().copied()).unwrap_or("s922");
    if !offered.contains(&system) {
        return Err(Refusal::invalid(format!("sysType {system} is not offered in {}", own.zone)));
    }
    match own.images.get(image) {
        Some(found) if found.state == "active" => {}
        Some(found) => return Err(Refusal::invalid(format!("image {image} is {}", found.state))),
        None => return Err(Refusal::new(404, "image not found", format!("image {image} not found"))),
    }
    let user_data = call.text("userData").unwrap_or_default();
    if user_data.len() > cloud.options.max_userdata {
        let message = format!("userData has more than {} bytes", cloud.options.max_userdata);
        return Err(Refusal::invalid(message));
    }
    let user_data = STANDARD.decode(user_data).map_err(|_| Refusal::invalid("userData is not base64"))?;
    let user_data = String::from_utf8(user_data).map_err(|_| Refusal::invalid("userData is not text"))?;
    let key = call.text("keyPairName").map(str::to_owned);
    if let Some(key) = key.as_ref().filter(|key| !cloud.state.ssh_keys.contains_key(*key)) {
        return Err(Refusal::new(404, "ssh key not found", format!("ssh key {key} not found")));
    }
    let volumes: Vec<String> =
        call.list("volumeIDs").iter().filter_map(|volume| Some(volume.as_str()?.to_owned())).collect();
    for volume in &volumes {
        let found = own.volumes.get(volume);
        let found = found.ok_or_else(|| Refusal::new(404, "volume not found", format!("volume {volume} not found")))?;
        if found.state != "available" && !found.shareable {
            return Err(Refusal::conflict(format!("volume {volume} is {}", found.state)));
        }
    }
    let placement_group = call.text("placementGroup").map(str::to_owned);
    if let Some(group) = placement_group.as_ref().filter(|group| !own.placement_groups.contains_key(*group)) {
        return Err(Refusal::new(404, "placement group not found", format!("placement group {group} not found")));
    }
    Ok(Wanted {
        name: name.to_owned(),
        image: image.to_owned(),
        memory_gib,
        processors,
        processor_type: processor_type.to_owned(),
        system: system.to_owned(),
        networks: wanted_networks(call, own)?,
        volumes,
        tier: call.text("storageType").unwrap_or("tier3").to_owned(),
        placement_group,
        key,
        user_data,
        pin_policy: call.text("pinPolicy").unwrap_or("none").to_owned(),
        tags: tags::of_call(call, "userTags")?,
    })
}

fn wanted_networks(
    call: &Call,
    own: &crate::powervs::power::Workspace,
) -> Result<Vec<(String, Option<Ipv4Addr>)>, Refusal> {
    let listed =
        call.list("networks").iter().map(|network| (network["networkID"].as_str(), network["ipAddress"].as_str()));
    let plain = call.list("networkIDs").iter().map(|id| (id.as_str(), None));
    let mut wanted = Vec::new();
    for (id, address) in listed.chain(plain) {
        let id = id.ok_or_else(|| Refusal::missing("networkID"))?;
        let network = own.networks.get(id);
        let network =
            network.ok_or_else(|| Refusal::new(404, "network not found", format!("network {id} not found")))?;
        let address = address.filter(|address| !address.is_empty()).map(str::parse::<Ipv4Addr>).transpose();
        let address = address.map_err(|_| Refusal::invalid("ipAddress is no IPv4 address"))?;
        if address.is_some_and(|address| !network.cidr.contains(&address)) {
            return Err(Refusal::invalid(format!("ipAddress is not in network {id}")));
        }
        wanted.push((id.to_owned(), address));
    }
    if wanted.is_empty() {
        return Err(Refusal::invalid("at least one network is required"));
    }
    Ok(wanted)
}

fn make(cloud: &mut Cloud, ws: &str, wanted: &Wanted, name: String) -> Result<String, Refusal> {
    let id = cloud.id();
    let mut interfaces = Vec::new();
    for (number, (network, asked)) in wanted.networks.iter().enumerate() {
        let own = workspace(cloud, ws)?;
        let found = own.networks.get(network).ok_or_else(|| Refusal::not_found("network", network))?;
        // A DHCP server leases addresses when the machine asks for one.
        let address = match asked {
            Some(address) => Some(*address),
            None if found.dhcp_managed => None,
            None => {
                let free = networks::free_address(own, found);
                Some(free.ok_or_else(|| Refusal::conflict(format!("network {network} is full")))?)
            }
        };
        let interface = Interface {
            id: cloud.id(),
            network: network.clone(),
            name: format!("{name}-{number}"),
            mac: networks::new_mac(cloud),
            address,
            instance: Some(id.clone()),
        };
        interfaces.push(interface.id.clone());
        workspace_mut(cloud, ws)?.interfaces.insert(interface.id.clone(), interface);
    }
    let (size, system) = workspace(cloud, ws)?
        .images
        .get(&wanted.image)
        .map_or((120.0, "rhel".to_owned()), |image| (image.size_gb, image.system.clone()));
    let marks = (cloud.hex(8), cloud.hex(8));
    let mut boot = volumes::make(cloud, &format!("{name}-{}-{}-boot-0", marks.0, marks.1), size, &wanted.tier);
    "in-use".clone_into(&mut boot.state);
    (boot.boot, boot.bootable) = (true, true);
    boot.instances = vec![id.clone()];
    let mut all = vec![boot.id.clone()];
    all.extend(wanted.volumes.iter().cloned());
    let host = u32::try_from(cloud.state.ids % 8).unwrap_or_default() + 1;
    let now = cloud.state.now;
    let instance = Instance {
        id: id.clone(),
        name,
        status: "BUILD".to_owned(),
        task: None,
        health: "WARNING".to_owned(),
        fault: None,
        image: wanted.image.clone(),
        memory_gib: wanted.memory_gib,
        processors: wanted.processors,
        processor_type: wanted.processor_type.clone(),
        system: wanted.system.clone(),
        operating_system: system,
        interfaces,
        volumes: all,
        storage_type: wanted.tier.clone(),
        pool: boot.pool.clone(),
        pin_policy: wanted.pin_policy.clone(),
        placement_group: None,
        key: wanted.key.clone(),
        user_data: wanted.user_data.clone(),
        host,
        created: now,
        updated: now,
        guest_started: false,
        guest_up: false,
    };
    let own = workspace_mut(cloud, ws)?;
    own.volumes.insert(boot.id.clone(), boot);
    for volume in &wanted.volumes {
        if let Some(volume) = own.volumes.get_mut(volume) {
            volume.instances.push(id.clone());
            "in-use".clone_into(&mut volume.state);
        }
    }
    own.instances.insert(id.clone(), instance);
    if let Some(group) = &wanted.placement_group {
        placement::join(cloud, ws, group, &id)?;
    }
    let crn = crn(cloud, workspace(cloud, ws)?, "pvm-instance", &id);
    tags::attach(cloud, &crn, &wanted.tags);
    cloud.later(Kind::Instance, &id, Event::Done);
    log(cloud, ws, "info", "pvm-instance", "create", &format!("Virtual server {id} is being made"));
    Ok(id)
}
