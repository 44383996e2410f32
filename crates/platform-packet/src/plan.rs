//! The plan of a cluster on Packet. Pure: every name, size and order is decided here.
//!
//! ```text
//! project ─┬─ SSH key, virtual networks, address blocks, BGP ─┬─► bootstrap ─► its address ──► (the API answers)
//!          └─ elastic addresses ─► (DNS records) ─────────────┴─► masters, workers ─► the masters' address ─► (pivot)
//! ```
//! What is in brackets is not of this platform, and is put between by whoever installs.

use std::net::IpAddr;

use landfall_config::{
    EndpointHolder, InstallConfig, MachinePool, PacketPool,
    packet::{self, AddressKind, Endpoint, Location, Os},
};
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::{InfraId, Stage, StepId, StepSpec, bootstrap_step};

use crate::{
    Mark,
    machines::{Candidate, Device, Price},
    steps::{Addresses, Desired, Led, Network, ProjectStep, SshKeyStep, Target},
};

/// The step that makes the cluster's own project.
pub(crate) const PROJECT: &str = "project";

/// Machines that are made at once. Each costs one request and then minutes of waiting, which all share one listing for: fewer at
/// once would make a large cluster wait for several rounds of provisioning.
const MACHINES_AT_ONCE: usize = 256;

/// What was found out before planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The place that has servers for the control plane.
    pub location: Location,
}

/// The step whose output `addresses` says where the API is while an installation runs; none if that is known beforehand.
pub fn endpoint_source(config: &InstallConfig, stage: Stage) -> Option<StepId> {
    let platform = config.platform.packet()?;
    match (config.endpoint_holder(), platform.endpoint, stage) {
        (EndpointHolder::Platform, Endpoint::Eip | Endpoint::Bgp, _) => Some(elastic("api")),
        (EndpointHolder::Platform, Endpoint::DnsRoundRobin, Stage::Bootstrapping) => Some(bootstrap_step()),
        (EndpointHolder::Platform, Endpoint::DnsRoundRobin, Stage::Pivoted) => {
            Some(vm_step(&config.control_plane.name, 0))
        }
        (EndpointHolder::User | EndpointHolder::Machines, ..) => None,
    }
}

/// The steps whose outputs `addresses` say where the names of API and ingress lead; none if that is known beforehand.
pub fn record_sources(config: &InstallConfig, stage: Stage) -> Option<(Vec<StepId>, Vec<StepId>)> {
    let platform = config.platform.packet()?;
    if config.endpoint_holder() != EndpointHolder::Platform {
        return None;
    }
    let pool = |pool: &MachinePool| (0..pool.replicas).map(|number| vm_step(&pool.name, number)).collect::<Vec<_>>();
    match platform.endpoint {
        Endpoint::Eip | Endpoint::Bgp => {
            let known = platform.api_address.is_some() && platform.ingress_address.is_some();
            (!known).then(|| (vec![elastic("api")], vec![elastic("ingress")]))
        }
        Endpoint::DnsRoundRobin => {
            let masters = pool(&config.control_plane);
            let workers: Vec<StepId> = config.compute.iter().flat_map(pool).collect();
            let bootstrap = (stage == Stage::Bootstrapping).then(bootstrap_step);
            let ingress = if workers.is_empty() { masters.clone() } else { workers };
            Some((bootstrap.into_iter().chain(masters).collect(), ingress))
        }
    }
}

/// The plan of a cluster.
pub fn plan(config: &InstallConfig, infra_id: &InfraId, facts: &Facts, stage: Stage) -> Result<Plan, PlanError> {
    let platform = config.platform.packet().expect("only clusters on Packet are planned here");
    let planner = Planner { config, platform, mark: Mark::new(infra_id.clone()), facts };
    let mut builder = PlanBuilder::default();
    builder.limit("vm", MACHINES_AT_ONCE);
    let base = planner.base();
    let before: Vec<StepId> = base.iter().map(|step| step.id.clone()).collect();
    for step in base {
        builder.step(step);
    }
    if stage == Stage::Bootstrapping {
        builder.step(planner.machine_step(&bootstrap_step(), planner.bootstrap(), &before));
    }
    for (pool, is_master) in planner.pools() {
        for number in 0..pool.replicas {
            let device = planner.device(pool, number, is_master);
            builder.step(planner.machine_step(&vm_step(&pool.name, number), device, &before));
        }
    }
    for step in planner.led(stage) {
        builder.step(step);
    }
    builder.build()
}

struct Planner<'a> {
    config: &'a InstallConfig,
    platform: &'a packet::Platform,
    mark: Mark,
    facts: &'a Facts,
}

impl Planner<'_> {
    /// What machines need.
    fn base(&self) -> Vec<StepSpec> {
        let project = self.platform.new_project.as_ref().map(|new| {
            let desired = ProjectStep {
                name: self.mark.infra_id().to_string(),
                organization: new.organization.map(|id| id.to_string()),
                tags: self.mark.tags("project", &self.platform.tags),
            };
            self.step(PROJECT, format!("project {}", desired.name), "project", Vec::new(), &Desired::Project(desired))
        });
        let needs: Vec<StepId> = project.iter().map(|step| step.id.clone()).collect();
        let mut steps: Vec<StepSpec> = project.into_iter().collect();
        for (label, key) in self.own_ssh_keys() {
            let (id, title) = (format!("ssh-key/{label}"), format!("SSH key {label}"));
            steps.push(self.step(
                &id,
                title,
                "ssh-key",
                needs.clone(),
                &Desired::SshKey(SshKeyStep { label, key, id: None }),
            ));
        }
        for network in self.platform.virtual_networks.iter().filter(|network| network.id.is_none()) {
            let desired = Network {
                name: network.name.clone(),
                location: self.facts.location.clone(),
                vxlan: network.vxlan,
                tags: self.mark.tags(&network.name, &self.platform.tags),
            };
            let (id, title) =
                (format!("virtual-network/{}", network.name), format!("virtual network {}", network.name));
            steps.push(self.step(&id, title, "virtual-network", needs.clone(), &Desired::Network(desired)));
        }
        for block in &self.platform.address_blocks {
            let kind = match block.kind {
                AddressKind::Public => "public_ipv4",
                AddressKind::Private => "private_ipv4",
            };
            let id = format!("address-block/{}", block.name);
            steps.push(self.addresses(&id, &block.name, kind, block.quantity, None, needs.clone()));
        }
        if self.config.endpoint_holder() == EndpointHolder::Platform
            && self.platform.endpoint != Endpoint::DnsRoundRobin
        {
            for (name, given) in [("api", self.platform.api_address), ("ingress", self.platform.ingress_address)] {
                steps.push(self.addresses(elastic(name).as_str(), name, "public_ipv4", 1, given, needs.clone()));
            }
            if self.platform.endpoint == Endpoint::Bgp {
                let title = "BGP in the project".to_owned();
                steps.push(self.step("bgp", title, "bgp", needs, &Desired::Bgp));
            }
        }
        steps
    }

    /// Keys that are added to the project, by what they are called.
    fn own_ssh_keys(&self) -> Vec<(String, String)> {
        let keys = self.config.ssh_key.as_deref().filter(|_| self.platform.project_ssh_keys).unwrap_or_default();
        let keys = keys.lines().map(str::trim).filter(|key| !key.is_empty()).enumerate();
        keys.map(|(number, key)| (self.mark.name(&format!("key-{number}")), key.to_owned())).collect()
    }

    fn addresses(
        &self,
        id: &str,
        name: &str,
        kind: &str,
        quantity: u8,
        given: Option<IpAddr>,
        needs: Vec<StepId>,
    ) -> StepSpec {
        let desired = Addresses {
            name: name.to_owned(),
            kind: kind.to_owned(),
            quantity,
            location: self.facts.location.clone(),
            given,
            tags: self.mark.tags(name, &self.platform.tags),
        };
        let title = match given {
            Some(address) => format!("address {address} for {name}"),
            None => format!("addresses for {name}"),
        };
        self.step(id, title, "addresses", needs, &Desired::Addresses(desired))
    }

    /// All machines that stay: pools, and whether they are masters.
    fn pools(&self) -> impl Iterator<Item = (&MachinePool, bool)> {
        std::iter::once((&self.config.control_plane, true)).chain(self.config.compute.iter().map(|pool| (pool, false)))
    }

    fn bootstrap(&self) -> Device {
        let settings = self.config.packet_bootstrap();
        Device {
            name: self.mark.name("bootstrap"),
            ignition: "bootstrap.ign".to_owned(),
            ..self.with_settings(&settings, "bootstrap", true)
        }
    }

    fn device(&self, pool: &MachinePool, number: u32, is_master: bool) -> Device {
        let settings = self.config.packet_pool(pool);
        let is_first = self.config.compute.first().is_some_and(|first| first.name == pool.name) && number == 0;
        // One worker must be where the address of the ingress is.
        let is_fixed = is_master || is_first && leads_addresses(self.config, self.platform);
        let name = format!("{}-{number}", pool.name);
        Device {
            name: self.mark.name(&name),
            ignition: if is_master { "master.ign" } else { "worker.ign" }.to_owned(),
            ..self.with_settings(&settings, &name, is_fixed)
        }
    }

    fn with_settings(&self, settings: &PacketPool, name: &str, is_fixed: bool) -> Device {
        // What takes an address must be where the address is; others may go where there are servers.
        let chosen = std::iter::once(self.facts.location.clone());
        let others = self.platform.locations().into_iter().filter(|other| *other != self.facts.location);
        let locations: Vec<Location> = if is_fixed { chosen.collect() } else { chosen.chain(others).collect() };
        let candidates = locations.iter().flat_map(|location| {
            settings.plans.iter().map(|plan| Candidate { location: location.clone(), plan: plan.clone() })
        });
        let price = match (&settings.spot, settings.hardware_reservations.as_slice()) {
            (Some(spot), _) => Price::Spot(spot.max_price()),
            (None, []) => Price::OnDemand,
            (None, ids) => Price::Reserved(ids.to_vec()),
        };
        let networks = self.platform.virtual_networks.iter();
        let given = self.platform.console_ssh_keys.iter().map(ToString::to_string);
        Device {
            name: String::new(),
            id: None,
            candidates: candidates.collect(),
            price,
            os: match &self.platform.os {
                Os::Ipxe(_) => "custom_ipxe".to_owned(),
                Os::Slug(slug) => slug.clone(),
            },
            script_url: None,
            tags: self.mark.tags(name, &self.platform.tags),
            billing_cycle: self.platform.billing_cycle.name().to_owned(),
            public_ipv4: settings.public_ipv4,
            public_ipv6: self.platform.ipv6,
            ssh_keys: given.chain(self.own_ssh_keys().into_iter().map(|(label, _)| label)).collect(),
            users: self.platform.console_users.iter().map(ToString::to_string).collect(),
            virtual_networks: networks
                .map(|net| net.id.map_or_else(|| net.name.clone(), |id| id.to_string()))
                .collect(),
            bgp: self.config.endpoint_holder() == EndpointHolder::Platform && self.platform.endpoint == Endpoint::Bgp,
            ignition: String::new(),
        }
    }

    fn machine_step(&self, id: &StepId, device: Device, before: &[StepId]) -> StepSpec {
        let title = format!("machine {}", device.name);
        self.step(id.as_str(), title, "vm", before.to_vec(), &Desired::Device(Box::new(device)))
    }

    /// Where elastic addresses are led: first to the bootstrap machine, then to a master; that of the ingress to a worker.
    fn led(&self, stage: Stage) -> Vec<StepSpec> {
        if !leads_addresses(self.config, self.platform) {
            return Vec::new();
        }
        let (masters, workers): (Vec<_>, Vec<_>) = self.pools().partition(|(_, is_master)| *is_master);
        let members = |pools: &[(&MachinePool, bool)]| -> Vec<(StepId, String)> {
            let all = pools.iter().flat_map(|(pool, _)| (0..pool.replicas).map(move |number| (pool, number)));
            all.map(|(pool, number)| (vm_step(&pool.name, number), self.mark.name(&format!("{}-{number}", pool.name))))
                .collect()
        };
        let (masters, workers) = (members(&masters), members(&workers));
        let led = |id: &str, name: &str, members: &[(StepId, String)], target, before: Option<StepId>| {
            let desired = Led {
                address: elastic(name),
                machines: members.iter().map(|(_, name)| name.clone()).collect(),
                target,
            };
            let needs =
                std::iter::once(elastic(name)).chain(members.iter().map(|(step, _)| step.clone())).chain(before);
            let title =
                format!("address for {name} led to {}", desired.machines.first().map_or("nobody", String::as_str));
            let step = self.step(id, title, "led", needs.collect(), &Desired::Led(desired));
            StepSpec { timeout: self.config.timeouts.bootstrap.duration(), ..step }
        };
        let bootstrap = [(bootstrap_step(), self.mark.name("bootstrap"))];
        let mut steps = Vec::new();
        match stage {
            Stage::Bootstrapping => {
                steps.push(led("led/bootstrap", "api", &bootstrap, Target::First, None));
                steps.push(led("led/api", "api", &masters, Target::AllReady, Some("led/bootstrap".into())));
            }
            Stage::Pivoted => {
                steps.push(led("led/api", "api", &masters, Target::AnyReady, None));
                let serving = if workers.is_empty() { &masters } else { &workers };
                if !serving.is_empty() {
                    steps.push(led("led/ingress", "ingress", serving, Target::First, None));
                }
            }
        }
        steps
    }

    fn step(&self, id: &str, title: String, kind: &str, needs: Vec<StepId>, desired: &Desired) -> StepSpec {
        StepSpec {
            id: id.into(),
            title,
            kind: kind.into(),
            needs,
            timeout: self.config.timeouts.machine.duration(),
            desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
        }
    }
}

/// Whether the platform leads an address to one machine at a time.
pub(crate) fn leads_addresses(config: &InstallConfig, platform: &packet::Platform) -> bool {
    config.endpoint_holder() == EndpointHolder::Platform && platform.endpoint == Endpoint::Eip
}

/// The step that reserves an elastic address.
pub(crate) fn elastic(name: &str) -> StepId {
    format!("elastic-ip/{name}").into()
}

fn vm_step(pool: &str, number: u32) -> StepId {
    format!("vm/{pool}-{number}").into()
}
