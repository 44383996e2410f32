//! The inventory that an install-config suggests.

use std::{collections::BTreeMap, net::IpAddr};

use landfall_assets::Cluster;
use landfall_config::{InstallConfig, LoadBalancer, MachinePool, Platform, Role, ovirt};

use super::{Group, Image, Inventory, Machine, MachineKind, Network, Profile, Subnet};
use crate::{Error, IgnitionKind, addresses};

const BOOTSTRAP: &str = "bootstrap";

impl Inventory {
    /// Whether a kit can be made from an install-config at all.
    pub fn require(config: &InstallConfig) -> Result<(), Error> {
        require(config)
    }

    /// The inventory that an install-config suggests. What it cannot know (routers, name servers) is what is customary.
    pub fn propose(cluster: &Cluster<'_>) -> Result<Self, Error> {
        let config = cluster.config;
        Self::require(config)?;
        let Platform::Ovirt(platform) = &config.platform else { return Err(Error::Platform(config.platform.name())) };
        let names = machines(cluster);
        let subnets: Vec<Subnet> = config
            .networking
            .machine_network
            .iter()
            .map(|network| Subnet { cidr: network.cidr.trunc(), gateway: addresses::host(network.cidr, 1) })
            .collect();
        let taken: Vec<IpAddr> = config.api_vips().iter().chain(config.ingress_vips()).copied().collect();
        let columns = subnets
            .iter()
            .map(|subnet| addresses::assign(subnet.cidr, names.len(), &taken))
            .collect::<Result<Vec<_>, _>>()?;
        let machines = names
            .into_iter()
            .enumerate()
            .map(|(row, (name, role, profile))| Machine {
                name,
                role,
                profile,
                addresses: columns.iter().map(|column| column[row]).collect(),
                mac: String::new(),
            })
            .collect();
        let mut inventory = Self {
            infra_id: cluster.infra_id.to_string(),
            cluster_domain: config.cluster_domain(),
            cluster_id: platform.ovirt_cluster_id.to_string(),
            storage_domain_id: platform.ovirt_storage_domain_id.to_string(),
            image: Image {
                template: cluster.ovirt_template_name(platform),
                source: match &platform.image {
                    Some(ovirt::Image::Disk(source)) => source.clone(),
                    Some(ovirt::Image::Template(_)) | None => String::new(),
                },
                checksum: String::new(),
            },
            ignition: IgnitionKind::Pointer,
            network: Network {
                name: platform.ovirt_network_name.clone(),
                vnic_profile_id: platform.vnic_profile_id.map(|id| id.to_string()).unwrap_or_default(),
                name_servers: subnets.iter().map(|subnet| subnet.gateway).collect(),
                dhcp_interface: dhcp_interface(&subnets).to_owned(),
                subnets,
                is_static: false,
            },
            profiles: profiles(config),
            affinity_groups: Vec::new(),
            machines,
            load_balancers: Vec::new(),
        };
        inventory.affinity_groups = groups(config, platform, &inventory);
        inventory.validate()?;
        Ok(inventory)
    }
}

/// What most servers call their only interface.
fn dhcp_interface(subnets: &[Subnet]) -> &'static str {
    if subnets.iter().any(|subnet| subnet.cidr.addr().is_ipv6()) { "eth0" } else { "" }
}

fn require(config: &InstallConfig) -> Result<(), Error> {
    let Platform::Ovirt(_) = &config.platform else { return Err(Error::Platform(config.platform.name())) };
    if config.load_balancer == LoadBalancer::Managed {
        return Err(Error::ManagedLoadBalancer);
    }
    if config.api_vips().is_empty() {
        return Err(Error::NoAddress { field: "platform.ovirt.api_vips" });
    }
    if config.ingress_vips().is_empty() {
        return Err(Error::NoAddress { field: "platform.ovirt.ingress_vips" });
    }
    if config.networking.machine_network.is_empty() {
        return Err(Error::NoMachineNetwork);
    }
    Ok(())
}

/// Names, roles and profiles of all machines: the names are those that Landfall gives the machines it makes itself, so that
/// every other command finds them.
fn machines(cluster: &Cluster<'_>) -> Vec<(String, MachineKind, String)> {
    let of_pool = |pool: &MachinePool, role: MachineKind| -> Vec<_> {
        let name = |number| format!("{}-{}-{number}", cluster.infra_id, pool.name);
        (0..pool.replicas).map(|number| (name(number), role, pool.name.clone())).collect()
    };
    let mut all = vec![(cluster.bootstrap_name(), MachineKind::Bootstrap, BOOTSTRAP.to_owned())];
    all.extend(of_pool(&cluster.config.control_plane, MachineKind::Master));
    all.extend(cluster.config.compute.iter().flat_map(|pool| of_pool(pool, MachineKind::Worker)));
    all
}

fn profiles(config: &InstallConfig) -> BTreeMap<String, Profile> {
    let masters = Profile::of(&config.ovirt_pool(&config.control_plane, Role::Master), true);
    let mut profiles = BTreeMap::from([(BOOTSTRAP.to_owned(), Profile::bootstrap(&masters))]);
    profiles.insert(config.control_plane.name.clone(), masters);
    for pool in &config.compute {
        profiles.insert(pool.name.clone(), Profile::of(&config.ovirt_pool(pool, Role::Worker), false));
    }
    profiles
}

/// The groups with their members: those of the cluster's own, and those of the engine that a pool names. Without a word of the
/// user's, none is enforced: nobody has counted hosts.
fn groups(config: &InstallConfig, platform: &ovirt::Platform, inventory: &Inventory) -> Vec<Group> {
    let own = |group: &ovirt::AffinityGroup| Group {
        name: format!("{}-{}", inventory.infra_id, group.name),
        existing: false,
        enforcing: group.enforcing == Some(true),
        priority: Some(group.priority),
        description: group.description.clone().unwrap_or_else(|| format!("keeps {} machines apart", group.name)),
        machines: members(config, inventory, &group.name),
    };
    let declared = platform.affinity_groups.clone().unwrap_or_else(ovirt::AffinityGroup::built_in);
    let is_declared = |name: &str| declared.iter().any(|group| group.name == name);
    let mut named: Vec<String> =
        pools(config).flat_map(|(pool, role)| config.ovirt_pool(pool, role).affinity_groups).collect();
    named.retain(|name| !is_declared(name));
    named.sort_unstable();
    named.dedup();
    let existing = named.iter().map(|name| Group {
        name: name.clone(),
        existing: true,
        enforcing: false,
        priority: None,
        description: String::new(),
        machines: members(config, inventory, name),
    });
    declared.iter().map(own).chain(existing).filter(|group| !group.machines.is_empty()).collect()
}

fn pools(config: &InstallConfig) -> impl Iterator<Item = (&MachinePool, Role)> {
    let masters = std::iter::once((&config.control_plane, Role::Master));
    masters.chain(config.compute.iter().map(|pool| (pool, Role::Worker)))
}

/// The machines of the pools that name a group.
fn members(config: &InstallConfig, inventory: &Inventory, group: &str) -> Vec<String> {
    let joins = |profile: &str| {
        pools(config).any(|(pool, role)| {
            pool.name == profile && config.ovirt_pool(pool, role).affinity_groups.iter().any(|name| name == group)
        })
    };
    let machines = inventory.machines.iter().filter(|machine| joins(&machine.profile));
    machines.map(|machine| machine.name.clone()).collect()
}
