//! Networks, and where things are plugged into them.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::{Interface, Network, Workspace, crn, log, workspace, workspace_mut};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};
use crate::powervs::tags;

fn network<'a>(own: &'a Workspace, id: &str) -> Result<&'a Network, Refusal> {
    own.networks.get(id).ok_or_else(|| Refusal::new(404, "network not found", format!("network {id} not found")))
}

fn row(cloud: &Cloud, own: &Workspace, network: &Network) -> Value {
    json!({
        "networkID": network.id,
        "name": network.name,
        "type": network.kind,
        "vlanID": network.vlan,
        "mtu": network.mtu,
        "jumbo": network.mtu > 1500,
        "dhcpManaged": network.dhcp_managed,
        "accessConfig": "internal-only",
        "href": format!("/pcloud/v1/cloud-instances/{}/networks/{}", own.cloud_id, network.id),
        "crn": crn(cloud, own, "network", &network.id),
    })
}

fn show(cloud: &Cloud, own: &Workspace, network: &Network) -> Value {
    let total = u32::from(network.last).saturating_sub(u32::from(network.first)) + 1;
    let used = u32::try_from(own.interfaces_of(&network.id).count()).unwrap_or(total);
    let range = json!([{ "startingIPAddress": network.first, "endingIPAddress": network.last }]);
    let mut shown = row(cloud, own, network);
    let more = json!({
        "userTags": tags::of(cloud, &crn(cloud, own, "network", &network.id)),
        "cidr": network.cidr,
        "gateway": network.gateway,
        "dnsServers": network.dns,
        "ipAddressRanges": range,
        "ipAddressMetrics": {
            "available": total.saturating_sub(used),
            "total": total,
            "used": used,
            "utilization": f64::from(used) / f64::from(total) * 100.0,
        },
    });
    if let (Value::Object(shown), Value::Object(more)) = (&mut shown, more) {
        shown.shift_remove("href");
        shown.extend(more);
        if network.kind == "pub-vlan" {
            shown.insert("publicIPAddressRanges".to_owned(), range);
        }
    }
    shown
}

pub(super) fn list(cloud: &Cloud, call: &Call, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let wanted =
        call.query("filter").and_then(|filter| filter.strip_prefix("type==")).map(|kind| kind.trim_matches('"'));
    let networks = own.networks.values().filter(|network| wanted.is_none_or(|kind| network.kind == kind));
    let shown: Vec<Value> = networks.map(|network| row(cloud, own, network)).collect();
    Ok(json_reply(200, &json!({ "networks": shown })))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    Ok(json_reply(200, &show(cloud, own, network(own, id)?)))
}

/// The lowest address of a network plus a number.
pub(super) fn host(cidr: Ipv4Net, number: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(cidr.network()).saturating_add(number))
}

/// A network that the platform lays out: the first address is the gateway's.
pub(super) fn lay_out(id: String, name: String, kind: &str, vlan: u32, cidr: Ipv4Net) -> Network {
    Network {
        id,
        name,
        kind: kind.to_owned(),
        vlan,
        cidr,
        gateway: host(cidr, 1),
        dns: vec!["9.9.9.9".to_owned()],
        first: host(cidr, 2),
        last: Ipv4Addr::from(u32::from(cidr.broadcast()).saturating_sub(1)),
        mtu: 1450,
        dhcp_managed: false,
    }
}

pub(super) fn next_vlan(own: &Workspace) -> u32 {
    (2..4094).find(|vlan| own.networks.values().all(|network| network.vlan != *vlan)).unwrap_or(4094)
}

pub(super) fn create(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let kind = call.need("type")?;
    if !matches!(kind, "vlan" | "pub-vlan" | "dhcp-vlan") {
        return Err(Refusal::invalid(format!("type {kind} is none of vlan, pub-vlan, dhcp-vlan")));
    }
    let own = workspace(cloud, ws)?;
    if own.router == "configuring" || own.router == "error" {
        let message = format!("failed to perform network operation: the power edge router is {}", own.router);
        return Err(Refusal::new(500, "internal_server_error", message));
    }
    let name = call.text("name").unwrap_or_default().to_owned();
    let valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.len() > 128 || !name.chars().all(valid) {
        return Err(Refusal::invalid("name must be at most 128 letters, digits, - and _"));
    }
    let number = u32::try_from(own.networks.len()).unwrap_or_default();
    let cidr = if kind == "pub-vlan" {
        // Whatever was asked for.
        Ipv4Net::new(Ipv4Addr::from(0xA93F_0000 + number * 8), 29)
    } else {
        let text = call.need("cidr")?;
        let cidr = text.parse::<Ipv4Net>().map_err(|_| Refusal::invalid(format!("cidr {text} is no IPv4 network")))?;
        Ok(cidr.trunc())
    }
    .map_err(|_| Refusal::invalid("cidr is no IPv4 network"))?;
    if cidr.prefix_len() > 30 {
        return Err(Refusal::invalid(format!("cidr {cidr} has no room")));
    }
    if own.networks.values().any(|other| other.name == name && !name.is_empty()) {
        return Err(Refusal::conflict(format!("network {name} already exists")));
    }
    let vlan = next_vlan(own);
    let id = cloud.id();
    let name = if name.is_empty() { format!("network-{}", &id[..8]) } else { name };
    let mut network = lay_out(id.clone(), name, kind, vlan, cidr);
    if let Some(mtu) = call.value("mtu").and_then(Value::as_u64) {
        network.mtu = u32::try_from(mtu)
            .ok()
            .filter(|mtu| (1450..=9000).contains(mtu))
            .ok_or_else(|| Refusal::invalid("mtu must be from 1450 to 9000"))?;
    }
    let address = |value: &Value| value.as_str().and_then(|text| text.parse::<Ipv4Addr>().ok());
    let within = |address: Ipv4Addr| cidr.contains(&address);
    if let Some(gateway) = call.value("gateway") {
        let given = address(gateway).filter(|given| within(*given));
        network.gateway = given.ok_or_else(|| Refusal::invalid("gateway is no address in the network"))?;
    }
    let dns: Vec<String> = call.list("dnsServers").iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect();
    if dns.len() > 1 {
        return Err(Refusal::invalid("a workspace with a power edge router allows one DNS server"));
    }
    if !dns.is_empty() {
        network.dns = dns;
    }
    if let Some(range) = call.list("ipAddressRanges").first() {
        let ends = [&range["startingIPAddress"], &range["endingIPAddress"]].map(address);
        let [Some(first), Some(last)] = ends else { return Err(Refusal::invalid("ipAddressRanges are no addresses")) };
        if !within(first) || !within(last) || first > last {
            return Err(Refusal::invalid("ipAddressRanges are not in the network"));
        }
        (network.first, network.last) = (first, last);
    }
    let tags = tags::of_call(call, "userTags")?;
    workspace_mut(cloud, ws)?.networks.insert(id.clone(), network);
    let crn = crn(cloud, workspace(cloud, ws)?, "network", &id);
    tags::attach(cloud, &crn, &tags);
    log(cloud, ws, "info", "network", "create", &format!("Network {id} created"));
    let own = workspace(cloud, ws)?;
    Ok(json_reply(201, &show(cloud, own, network_of(own, &id)?)))
}

fn network_of<'a>(own: &'a Workspace, id: &str) -> Result<&'a Network, Refusal> {
    network(own, id)
}

pub(super) fn update(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Answer {
    network(workspace(cloud, ws)?, id)?;
    if let Some(own) = workspace_mut(cloud, ws)?.networks.get_mut(id) {
        if let Some(name) = call.text("name") {
            name.clone_into(&mut own.name);
        }
        let dns: Vec<String> =
            call.list("dnsServers").iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect();
        if !dns.is_empty() {
            own.dns = dns;
        }
    }
    get(cloud, ws, id)
}

pub(super) fn delete(cloud: &mut Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let found = network(own, id)?;
    if found.dhcp_managed && own.dhcp_servers.values().any(|server| server.network == id) {
        return Err(Refusal::conflict(format!("network {id} is managed by a dhcp server")));
    }
    if own.interfaces_of(id).any(|interface| interface.instance.is_some()) {
        return Err(Refusal::conflict(format!("network {id} still attached to pvm-instances")));
    }
    if own.interfaces_of(id).next().is_some() {
        let message = format!("network {id} cannot be deleted: one or more network interfaces have an IP allocation");
        return Err(Refusal::conflict(message));
    }
    workspace_mut(cloud, ws)?.networks.shift_remove(id);
    log(cloud, ws, "info", "network", "delete", &format!("Network {id} deleted"));
    Ok(json_reply(200, &json!({})))
}

/// An address of a network that nothing has yet.
pub(super) fn free_address(own: &Workspace, network: &Network) -> Option<Ipv4Addr> {
    (u32::from(network.first)..=u32::from(network.last))
        .map(Ipv4Addr::from)
        .find(|address| own.interfaces_of(&network.id).all(|interface| interface.address != Some(*address)))
}

fn make_interface(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Result<Interface, Refusal> {
    let own = workspace(cloud, ws)?;
    let found = network(own, id)?;
    let asked = call.text("ipAddress").map(str::parse::<Ipv4Addr>).transpose();
    let asked = asked.map_err(|_| Refusal::invalid("ipAddress is no IPv4 address"))?;
    let address = match asked {
        Some(address) if own.interfaces_of(id).any(|other| other.address == Some(address)) => {
            return Err(Refusal::conflict(format!("{address} is taken")));
        }
        Some(address) if !found.cidr.contains(&address) => {
            return Err(Refusal::invalid(format!("{address} is not in the network")));
        }
        Some(address) => address,
        None => free_address(own, found).ok_or_else(|| Refusal::conflict(format!("network {id} is full")))?,
    };
    let name = call.text("name").or_else(|| call.text("description")).unwrap_or_default().to_owned();
    let interface = Interface {
        id: cloud.id(),
        network: id.to_owned(),
        name,
        mac: new_mac(cloud),
        address: Some(address),
        instance: None,
    };
    workspace_mut(cloud, ws)?.interfaces.insert(interface.id.clone(), interface.clone());
    Ok(interface)
}

/// A hardware address as the platform hands them out.
pub(super) fn new_mac(cloud: &mut Cloud) -> String {
    let digits = cloud.hex(6);
    format!("fa:16:3e:{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..])
}

fn show_port(own: &Workspace, interface: &Interface) -> Value {
    let mut shown = json!({
        "portID": interface.id,
        "description": interface.name,
        "ipAddress": interface.address.map(|address| address.to_string()).unwrap_or_default(),
        "macAddress": interface.mac,
        "status": if interface.instance.is_some() { "ACTIVE" } else { "DOWN" },
        "href": own.href(&format!("networks/{}/ports/{}", interface.network, interface.id)),
    });
    if let Some(instance) = &interface.instance {
        shown["pvmInstance"] =
            json!({ "pvmInstanceID": instance, "href": own.href(&format!("pvm-instances/{instance}")) });
    }
    shown
}

fn show_interface(cloud: &Cloud, own: &Workspace, interface: &Interface) -> Value {
    let mut shown = json!({
        "id": interface.id,
        "crn": crn(cloud, own, "network-interface", &interface.id),
        "name": interface.name,
        "ipAddress": interface.address.map(|address| address.to_string()).unwrap_or_default(),
        "macAddress": interface.mac,
        "networkSecurityGroupIDs": [],
        "status": if interface.instance.is_some() { "active" } else { "down" },
    });
    if let Some(instance) = &interface.instance {
        shown["instance"] = json!({ "instanceID": instance, "href": own.href(&format!("pvm-instances/{instance}")) });
    }
    shown
}

pub(super) fn ports(cloud: &mut Cloud, call: &Call, ws: &str, id: &str, method: &str, rest: &[&str]) -> Answer {
    plugged(cloud, call, ws, id, method, rest, "ports", |_, own, interface| show_port(own, interface))
}

pub(super) fn interfaces(cloud: &mut Cloud, call: &Call, ws: &str, id: &str, method: &str, rest: &[&str]) -> Answer {
    plugged(cloud, call, ws, id, method, rest, "interfaces", show_interface)
}

/// Ports and interfaces are the same things, shown in two ways.
#[allow(clippy::too_many_arguments, reason = "two sets of calls, one answer")]
fn plugged(
    cloud: &mut Cloud,
    call: &Call,
    ws: &str,
    id: &str,
    method: &str,
    rest: &[&str],
    plural: &str,
    show: impl Fn(&Cloud, &Workspace, &Interface) -> Value,
) -> Answer {
    network(workspace(cloud, ws)?, id)?;
    if (method, rest) == ("POST", &[]) {
        let made = make_interface(cloud, call, ws, id)?;
        return Ok(json_reply(201, &show(cloud, workspace(cloud, ws)?, &made)));
    }
    let own = workspace(cloud, ws)?;
    let find = |wanted: &str| {
        let found = own.interfaces_of(id).find(|interface| interface.id == wanted);
        found.ok_or_else(|| Refusal::not_found("network interface", wanted))
    };
    match (method, rest) {
        ("GET", []) => {
            let shown: Vec<Value> = own.interfaces_of(id).map(|interface| show(cloud, own, interface)).collect();
            Ok(json_reply(200, &json!({ plural: shown })))
        }
        ("GET", [wanted]) => Ok(json_reply(200, &show(cloud, own, find(wanted)?))),
        ("PUT", [wanted]) => {
            let found = find(wanted)?.id.clone();
            let name = call.text("name").or_else(|| call.text("description")).map(str::to_owned);
            if let (Some(name), Some(interface)) = (name, workspace_mut(cloud, ws)?.interfaces.get_mut(&found)) {
                interface.name = name;
            }
            let own = workspace(cloud, ws)?;
            Ok(json_reply(200, &show(cloud, own, &own.interfaces[&found])))
        }
        ("DELETE", [wanted]) => {
            let found = find(wanted)?;
            if let Some(instance) = &found.instance {
                return Err(Refusal::conflict(format!("the network interface belongs to pvm-instance {instance}")));
            }
            let found = found.id.clone();
            workspace_mut(cloud, ws)?.interfaces.shift_remove(&found);
            Ok(json_reply(200, &json!({})))
        }
        _ => Err(Refusal::no_route()),
    }
}
