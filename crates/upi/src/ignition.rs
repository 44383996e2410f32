//! What each machine boots with: its own file, and in it no more secrets than it needs.

use std::net::IpAddr;

use landfall_assets::{NodeFile, Secrets, served_config, with_files};
use landfall_config::Role;
use landfall_platform::{File, FileSet};
use serde::{Deserialize, Serialize};

use crate::{Error, Inventory, Machine, MachineKind, Made, kit::IGNITION_DIRECTORY, text::Text};

/// How much of its config a master or worker is handed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IgnitionKind {
    /// A pointer to the config server, with the credential of the machine.
    #[default]
    Pointer,
    /// All of it, so that no config server has to be reached.
    Full,
}

/// The files, relative to the kit. `configs` are those of the install directory.
pub(crate) fn files(
    inventory: &Inventory,
    made: &Made,
    configs: &FileSet,
    secrets: Option<&Secrets>,
) -> Result<FileSet, Error> {
    let kind = inventory.ignition;
    if inventory.network.is_static && kind == IgnitionKind::Pointer {
        return Err(Error::StaticPointer);
    }
    let mut files = FileSet::default();
    for machine in &inventory.machines {
        let path = source(machine.role, kind);
        let config = configs.get(&path).ok_or_else(|| Error::NoConfig(path.clone()))?;
        let failed = |source| Error::Ignition { machine: machine.name.clone(), source };
        let mut config = with_files(&path, &config.contents, own_files(inventory, made, machine)).map_err(failed)?;
        if let (Some(secrets), Some(role)) = (secrets, pool_role(machine.role)) {
            config = secrets.with_credential(role, &machine.name, None, &path, &config).map_err(failed)?;
        }
        files.insert(format!("{IGNITION_DIRECTORY}/{}.ign", machine.name), File::private(config));
    }
    Ok(files)
}

/// The config of the install directory that a machine's own is made of.
fn source(role: MachineKind, kind: IgnitionKind) -> String {
    let of_pool = |role: Role| match kind {
        IgnitionKind::Pointer => format!("{}.ign", role.name()),
        IgnitionKind::Full => served_config(role),
    };
    pool_role(role).map_or_else(|| "bootstrap.ign".to_owned(), of_pool)
}

/// Returns the role under which a machine joins; none for the bootstrap machine.
fn pool_role(role: MachineKind) -> Option<Role> {
    match role {
        MachineKind::Bootstrap => None,
        MachineKind::Master => Some(Role::Master),
        MachineKind::Worker => Some(Role::Worker),
    }
}

/// What only this machine has: its name, and its address if no DHCP server gives it one.
fn own_files(inventory: &Inventory, made: &Made, machine: &Machine) -> Vec<NodeFile> {
    let mut files = vec![NodeFile::public("/etc/hostname", format!("{}\n", machine.name))];
    if inventory.network.is_static {
        let path = "/etc/NetworkManager/system-connections/landfall.nmconnection";
        // NetworkManager ignores connections that others can read.
        files.push(NodeFile::private(path, connection(inventory, made, machine)));
    } else if machine.addresses.iter().any(IpAddr::is_ipv6) {
        // A DHCPv6 server finds a reservation by the hardware address in the identifier that a machine sends. That of
        // NetworkManager is made from the machine id, unless it is told otherwise.
        let path = "/etc/NetworkManager/conf.d/90-landfall-duid.conf";
        files.push(NodeFile::public(path, "[connection]\nipv6.dhcp-duid=ll\n"));
    }
    files
}

/// A connection for `NetworkManager`. It is for the interface with the machine's hardware address if that is known, else for
/// the only one there is.
fn connection(inventory: &Inventory, made: &Made, machine: &Machine) -> String {
    let mut text = Text::default();
    text.line("[connection]\nid=landfall\ntype=ethernet\nautoconnect-priority=1");
    if let Some(mac) = inventory.mac(machine, made) {
        text.line(format_args!("\n[ethernet]\nmac-address={}", mac.to_uppercase()));
    }
    for (section, v4) in [("ipv4", true), ("ipv6", false)] {
        let like = |address: &&IpAddr| address.is_ipv4() == v4;
        text.line(format_args!("\n[{section}]"));
        let Some(address) = machine.addresses.iter().find(like) else {
            text.line(if v4 { "method=disabled" } else { "method=link-local" });
            continue;
        };
        text.line("method=manual");
        if let Some(subnet) = inventory.network.subnets.iter().find(|subnet| subnet.cidr.contains(address)) {
            text.line(format_args!("address1={address}/{},{}", subnet.cidr.prefix_len(), subnet.gateway));
        }
        let servers: Vec<String> =
            inventory.network.name_servers.iter().filter(like).map(|server| format!("{server};")).collect();
        if !servers.is_empty() {
            text.line(format_args!("dns={}", servers.concat()));
        }
        text.line(format_args!("dns-search={};", inventory.cluster_domain));
    }
    text.finish()
}
