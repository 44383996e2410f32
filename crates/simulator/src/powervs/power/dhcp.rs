//! DHCP servers: each a virtual server that nobody sees, a network, and the leases in it.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::{DhcpServer, Workspace, log, networks, workspace, workspace_mut};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Limited, Outcome};
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

/// The addresses at the beginning of the network of guests that are left to load balancers and people.
const LEFT: u32 = 256;

fn find<'a>(own: &'a Workspace, id: &str) -> Result<&'a DhcpServer, Refusal> {
    let missing = || {
        let message = format!("could not retrieve dhcp server {id}: dhcp server does not exist, not found");
        Refusal::new(404, "dhcp server not found", message)
    };
    own.dhcp_servers.get(id).ok_or_else(missing)
}

fn show(own: &Workspace, server: &DhcpServer, detailed: bool) -> Value {
    // A server that failed has a network without a name.
    let name = own.networks.get(&server.network).map(|network| network.name.as_str());
    let name = name.filter(|_| server.status != "ERROR").unwrap_or_default();
    let mut shown =
        json!({ "id": server.id, "status": server.status, "network": { "id": server.network, "name": name } });
    if detailed {
        let leases = server.leases.iter().filter_map(|mac| {
            let interface = own.interfaces.values().find(|interface| interface.mac == *mac)?;
            Some(json!({ "instanceIP": interface.address?, "instanceMacAddress": mac }))
        });
        shown["leases"] = leases.collect();
    }
    shown
}

pub(super) fn list(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let shown: Vec<Value> = own.dhcp_servers.values().map(|server| show(own, server, false)).collect();
    Ok(json_reply(200, &Value::Array(shown)))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    Ok(json_reply(200, &show(own, find(own, id)?, true)))
}

pub(super) fn create(cloud: &mut Cloud, call: &Call, ws: &str) -> Answer {
    let most = cloud.options.quota(Limited::Dhcp);
    let own = workspace(cloud, ws)?;
    if own.router != "active" {
        let message = format!("failed to create dhcp server: the power edge router is {}", own.router);
        return Err(Refusal::new(500, "internal_server_error", message));
    }
    if own.dhcp_servers.len() >= most {
        let message = format!("quota exceeded: the workspace has {most} dhcp service(s) already");
        return Err(Refusal::new(400, "bad_request", message));
    }
    let cidr = call.text("cidr").unwrap_or("192.168.0.0/24");
    let cidr =
        cidr.parse::<Ipv4Net>().map_err(|_| Refusal::invalid(format!("cidr {cidr} is no IPv4 network")))?.trunc();
    if cidr.prefix_len() > 28 {
        return Err(Refusal::invalid(format!("cidr {cidr} has no room")));
    }
    let overlaps = |other: &Ipv4Net| cidr.contains(other) || other.contains(&cidr);
    if own.networks.values().any(|network| overlaps(&network.cidr)) {
        return Err(Refusal::invalid(format!("cidr {cidr} overlaps another network")));
    }
    let vlan = networks::next_vlan(own);
    let (id, network_id) = (cloud.id(), cloud.id());
    let name = call.text("name").unwrap_or(&id).to_owned();
    let private = format!("DHCPSERVER{name}_Private");
    let mut network = networks::lay_out(network_id.clone(), private, "vlan", vlan, cidr);
    network.dhcp_managed = true;
    network.first = networks::host(cidr, 3);
    if let Some(dns) = call.text("dnsServer") {
        network.dns = vec![dns.to_owned()];
    }
    let server = DhcpServer {
        id: id.clone(),
        name: name.clone(),
        status: "BUILD".to_owned(),
        network: network_id.clone(),
        created: cloud.state.now,
        leases: Vec::new(),
    };
    let own = workspace_mut(cloud, ws)?;
    own.networks.insert(network_id, network);
    own.dhcp_servers.insert(id.clone(), server);
    cloud.later(Kind::Dhcp, &id, Event::Done);
    log(cloud, ws, "info", "dhcp", "create", &format!("DHCP server {name} is being made"));
    let own = workspace(cloud, ws)?;
    Ok(json_reply(202, &show(own, find(own, &id)?, false)))
}

fn server_mut<'a>(cloud: &'a mut Cloud, id: &str) -> Option<&'a mut DhcpServer> {
    cloud.state.workspaces.values_mut().find_map(|own| own.dhcp_servers.get_mut(id))
}

/// A server is there, or is not going to be.
pub(in crate::powervs) fn done(cloud: &mut Cloud, id: &str) {
    let Some(name) = server_mut(cloud, id).map(|server| server.name.clone()) else { return };
    let status = match cloud.outcome(Kind::Dhcp, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "ERROR",
        _ => "ACTIVE",
    };
    if let Some(server) = server_mut(cloud, id).filter(|server| server.status == "BUILD") {
        status.clone_into(&mut server.status);
    }
}

pub(super) fn delete(cloud: &mut Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let server = find(own, id)?;
    let network = server.network.clone();
    match server.status.as_str() {
        // Its virtual server must be deleted as one.
        "ERROR" => {
            let message = format!("failed to delete dhcp server {id}: it is in status ERROR");
            return Err(Refusal::new(400, "bad_request", message));
        }
        "DELETING" => return Ok(json_reply(202, &json!({}))),
        _ => {}
    }
    if own.interfaces_of(&network).next().is_some() {
        let message = format!("failed to delete dhcp server {id}: network {network} still attached to pvm-instances");
        return Err(Refusal::new(400, "bad_request", message));
    }
    cloud.state.agenda.forget(id);
    begin_to_delete(cloud, id);
    Ok(json_reply(202, &json!({})))
}

fn begin_to_delete(cloud: &mut Cloud, id: &str) {
    if let Some(server) = server_mut(cloud, id) {
        "DELETING".clone_into(&mut server.status);
    }
    cloud.later(Kind::DhcpDelete, id, Event::Gone);
}

/// Deletes the virtual server of a DHCP server; the answer is nothing if there is no such.
pub(super) fn delete_as_instance(cloud: &mut Cloud, ws: &str, id: &str) -> Option<Answer> {
    let own = cloud.state.workspaces.get(ws)?;
    let server = own.dhcp_servers.get(id)?;
    if own.interfaces_of(&server.network).next().is_some() {
        let message = format!("network {} still attached to pvm-instances", server.network);
        return Some(Err(Refusal::conflict(message)));
    }
    cloud.state.agenda.forget(id);
    begin_to_delete(cloud, id);
    Some(Ok(empty(200)))
}

/// A server is gone, and its network with it.
pub(in crate::powervs) fn gone(cloud: &mut Cloud, id: &str) {
    for own in cloud.state.workspaces.values_mut() {
        if let Some(server) = own.dhcp_servers.shift_remove(id) {
            own.networks.shift_remove(&server.network);
        }
    }
}

/// Leases an address to an interface, if it is on a network with a server and has none yet. The lease is seen later.
pub(in crate::powervs) fn lease(cloud: &mut Cloud, ws: &str, interface: &str) {
    let light = cloud.state.light;
    let guests = cloud.state.network;
    let taken: Vec<Ipv4Addr> = cloud
        .state
        .workspaces
        .values()
        .flat_map(|own| own.interfaces.values())
        .filter_map(|interface| interface.address)
        .collect();
    let Some(own) = cloud.state.workspaces.get_mut(ws) else { return };
    let Some(found) = own.interfaces.get(interface) else { return };
    let Some(network) = own.networks.get(&found.network).filter(|network| network.dhcp_managed) else { return };
    if found.address.is_none() {
        let (first, last) = if light && !network.cidr.network().is_loopback() {
            (u32::from(guests.network()) + LEFT, u32::from(guests.broadcast()) - 1)
        } else {
            (u32::from(network.first), u32::from(network.last))
        };
        let address = (first..=last).map(Ipv4Addr::from).find(|address| !taken.contains(address));
        if let Some(interface) = own.interfaces.get_mut(interface) {
            interface.address = address;
        }
    }
    cloud.later(Kind::Lease, interface, Event::Done);
}

/// A server shows the lease of an interface.
pub(in crate::powervs) fn leased(cloud: &mut Cloud, interface: &str) {
    for own in cloud.state.workspaces.values_mut() {
        let Some(found) = own.interfaces.get(interface) else { continue };
        let server = own.dhcp_servers.values_mut().find(|server| server.network == found.network);
        if let Some(server) = server.filter(|server| !server.leases.contains(&found.mac)) {
            server.leases.push(found.mac.clone());
        }
    }
}
