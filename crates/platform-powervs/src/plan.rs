//! The plan of a cluster on PowerVS. Pure: every name, size and order is decided here.
//!
//! ```text
//! workspace ─┬─ DHCP server, image, SSH key ───────────────────────────────┬─► bootstrap, masters, workers ─► members of pools
//!            └─ connection ◄─ transit gateway ─► connection ─┐             │
//! VPC ─┬─────────────────────────────────────────────────────┘             │
//!      └─ subnets, gateways, security group ─► load balancers ─► (DNS records)
//! object storage ─► config of the bootstrap machine ───────────────────────┘ (deleted once the machine has it)
//! ```
//! What is in brackets is not of this platform, and is put between by whoever installs. The branches run side by side: an image takes a
//! quarter of an hour, and load balancers are there before it is.

use std::time::Duration;

use landfall_config::{
    EndpointHolder, InstallConfig, MachinePool, PowervsPool,
    powervs::{self, BucketAccess, Publish, vpc_region},
};
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::{InfraId, Stage, StepId, StepSpec, USER_DATA_TITLE, bootstrap_step, user_data_step};
use serde_json::json;

use crate::{
    Mark,
    client::Listener,
    machines::{Named, Vm},
    steps::{
        BootConfig, Connection, Desired, Dhcp, Image, ImageSource, LoadBalancer, Members, ObjectStorage, PublicGateway,
        SecurityGroup, SshKey, Subnet, TransitGateway, UserData, Vpc, Workspace,
    },
};

/// Machines that are asked for at once.
const MACHINES_AT_ONCE: usize = 32;
const API_PORT: u16 = 6443;
const CONFIG_PORT: u16 = 22623;
const INGRESS_PORTS: [u16; 2] = [80, 443];
/// Name of the object with the config of the bootstrap machine.
const BOOT_OBJECT: &str = "bootstrap.ign";
/// Timeouts may be of any length; the link to keys may not.
const LONGEST_LINK: Duration = Duration::from_hours(24);

pub(crate) const WORKSPACE: &str = "workspace";
/// The step that removes the tag. No plan has it: the tag is made with the first object that carries it.
pub(crate) const TAG: &str = "tag";
pub(crate) const DHCP: &str = "dhcp";
pub(crate) const IMAGE: &str = "image";
pub(crate) const SSH_KEY: &str = "ssh-key";
pub(crate) const VPC: &str = "vpc";
pub(crate) const GATEWAY: &str = "public-gateway";
pub(crate) const SECURITY_GROUP: &str = "security-group";
pub(crate) const TRANSIT_GATEWAY: &str = "transit-gateway";
pub(crate) const OBJECT_STORAGE: &str = "object-storage";
const BOOT_CONFIG: &str = "boot-config";
/// What the transit gateway joins, as names say it.
pub(crate) const CONNECTIONS: [&str; 2] = ["vpc", "pvs"];

/// What was found out before planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The type of systems that machines run on if their pool says nothing.
    pub sys_type: String,
}

/// The steps whose objects only the bootstrap machine needs, and which go with it: before it those that lead to it.
pub fn temporary_steps() -> Vec<StepId> {
    let members = [true, false].map(|is_public| bootstrap_members(is_public).into());
    members.into_iter().chain([BOOT_CONFIG.into(), OBJECT_STORAGE.into()]).collect()
}

/// The step whose output `addresses` says where the API is while an installation runs.
pub fn endpoint_source(config: &InstallConfig) -> Option<StepId> {
    let platform = config.platform.powervs()?;
    let held = config.endpoint_holder() == EndpointHolder::Platform;
    held.then(|| balancer(platform.publish == Publish::External).into())
}

/// The step that brings the bootstrap machine behind the endpoint, and that for the masters.
pub fn endpoint_members(config: &InstallConfig) -> Option<(StepId, StepId)> {
    let platform = config.platform.powervs()?;
    let held = config.endpoint_holder() == EndpointHolder::Platform;
    let is_public = platform.publish == Publish::External;
    held.then(|| (bootstrap_members(is_public).into(), members(is_public).into()))
}

/// The steps whose outputs `hostname` say where the names lead: of the API for users, of the API for machines, of applications.
pub fn record_sources(config: &InstallConfig) -> Option<[StepId; 3]> {
    let outside = endpoint_source(config)?;
    Some([outside.clone(), balancer(false).into(), outside])
}

/// The plan of a cluster.
pub fn plan(config: &InstallConfig, infra_id: &InfraId, facts: &Facts, stage: Stage) -> Result<Plan, PlanError> {
    let platform = config.platform.powervs().expect("only clusters on PowerVS are planned here");
    let planner = Planner { config, platform, mark: Mark::new(infra_id.clone()), facts };
    let mut builder = PlanBuilder::default();
    builder.limit("vm", MACHINES_AT_ONCE);
    let power = planner.power();
    let before: Vec<StepId> = power.iter().map(|step| step.id.clone()).collect();
    for step in power {
        builder.step(step);
    }
    if planner.holds_endpoint() {
        for step in planner.network() {
            builder.step(step);
        }
    }
    if stage == Stage::Bootstrapping {
        for step in planner.boot_config() {
            builder.step(step);
        }
        let before: Vec<StepId> = before.iter().cloned().chain([BOOT_CONFIG.into()]).collect();
        builder.step(planner.machine_step(&bootstrap_step(), planner.bootstrap(), &before));
        builder.step(planner.user_data());
    }
    for (pool, is_master) in planner.pools() {
        for number in 0..pool.replicas {
            let machine = planner.machine(pool, number, is_master);
            builder.step(planner.machine_step(&vm_step(&pool.name, number), machine, &before));
        }
    }
    if planner.holds_endpoint() {
        for step in planner.members(stage) {
            builder.step(step);
        }
    }
    builder.build()
}

struct Planner<'a> {
    config: &'a InstallConfig,
    platform: &'a powervs::Platform,
    mark: Mark,
    facts: &'a Facts,
}

impl Planner<'_> {
    fn holds_endpoint(&self) -> bool {
        self.config.endpoint_holder() == EndpointHolder::Platform
    }

    /// What machines need in Power Virtual Server.
    fn power(&self) -> Vec<StepSpec> {
        let Self { config, platform, mark, .. } = self;
        let given = platform.service_instance_guid.map(|guid| guid.to_string());
        let title = match &given {
            Some(guid) => format!("workspace {guid}, which exists"),
            None => format!("workspace {}, until its edge router is active", mark.workspace()),
        };
        let workspace = Workspace { name: mark.workspace(), given };
        let mut steps = vec![self.step(WORKSPACE, title, "workspace", &[], &Desired::Workspace(workspace))];
        let cidr = config.networking.machine_network.first().map(|network| network.cidr.to_string());
        let dhcp = Dhcp { name: mark.dhcp(), cidr: cidr.unwrap_or_default(), dns_server: platform.dns_server };
        let title = format!("DHCP server {} and its network", mark.dhcp());
        steps.push(self.step(DHCP, title, "dhcp", &[WORKSPACE], &Desired::Dhcp(dhcp)));
        if let Some(key) = config.powervs_ssh_key() {
            let desired = SshKey { name: mark.key(), key: key.to_owned() };
            steps.push(self.step(
                SSH_KEY,
                format!("SSH key {}", mark.key()),
                "ssh-key",
                &[WORKSPACE],
                &Desired::SshKey(desired),
            ));
        }
        let (name, source) = self.image();
        let title = match &source {
            ImageSource::Given => format!("image {name}, which exists"),
            _ => format!("image {name}, imported"),
        };
        let storage_type = config.powervs_pool(&config.control_plane).storage_type.name().to_owned();
        let image =
            self.step(IMAGE, title, "image", &[WORKSPACE], &Desired::Image(Image { name, source, storage_type }));
        steps.push(StepSpec { timeout: config.timeouts.image.duration(), ..image });
        steps
    }

    fn image(&self) -> (String, ImageSource) {
        let region = self.platform.cos_region().unwrap_or_default();
        match &self.platform.image {
            powervs::Image::Existing(name) => (name.clone(), ImageSource::Given),
            powervs::Image::Regional(object) => {
                let bucket = format!("rhcos-powervs-images-{region}");
                (self.mark.image(), ImageSource::Object { bucket, object: object.clone(), region, private: false })
            }
            powervs::Image::Object(own) => {
                let source = ImageSource::Object {
                    bucket: own.bucket.clone(),
                    object: own.object.clone(),
                    region: own.region.clone().unwrap_or(region),
                    private: own.access == BucketAccess::Private,
                };
                (self.mark.image(), source)
            }
        }
    }

    /// What brings traffic to the machines.
    fn network(&self) -> Vec<StepSpec> {
        let Self { platform, mark, .. } = self;
        let given = |given: &Option<String>, made: String| match given {
            Some(name) => format!("{name}, which exists"),
            None => made,
        };
        let title = format!("VPC {}", given(&platform.vpc_name, mark.vpc()));
        let vpc = Vpc { name: mark.vpc(), given: platform.vpc_name.clone() };
        let mut steps = vec![self.step(VPC, title, "vpc", &[], &Desired::Vpc(vpc))];
        let subnets = self.subnets(&mut steps);
        let region = platform.vpc_region().unwrap_or_default();
        let group = SecurityGroup { name: mark.name("sg"), rules: self.rules() };
        let title = format!("security group {}", group.name);
        steps.push(self.step(SECURITY_GROUP, title, "security-group", &[VPC], &Desired::SecurityGroup(group)));
        let is_external = platform.publish == Publish::External;
        for is_public in is_external.then_some(true).into_iter().chain([false]) {
            let desired = LoadBalancer {
                name: mark.load_balancer(is_public),
                is_public,
                subnets: subnets.iter().map(|id| id.as_str().into()).collect(),
                security_group: SECURITY_GROUP.into(),
                listeners: listeners(is_public, is_external),
            };
            let title = format!("load balancer {}", desired.name);
            let needs: Vec<&str> = subnets.iter().map(String::as_str).chain([SECURITY_GROUP]).collect();
            steps.push(self.step(balancer(is_public), title, "load-balancer", &needs, &Desired::LoadBalancer(desired)));
        }
        let gateway = TransitGateway {
            name: mark.transit_gateway(),
            location: region,
            global: platform.is_global(),
            given: platform.tg_name.clone(),
        };
        let title = format!("transit gateway {}", given(&platform.tg_name, mark.transit_gateway()));
        steps.push(self.step(TRANSIT_GATEWAY, title, "transit-gateway", &[], &Desired::TransitGateway(gateway)));
        for (kind, network, target) in [("vpc", "vpc", VPC), ("pvs", "power_virtual_server", WORKSPACE)] {
            let desired = Connection {
                name: mark.name(&format!("{kind}-con")),
                gateway: TRANSIT_GATEWAY.into(),
                network: network.to_owned(),
                target: target.into(),
            };
            let title = format!("connection {}", desired.name);
            let step = self.step(
                &connection(kind),
                title,
                "connection",
                &[TRANSIT_GATEWAY, target],
                &Desired::Connection(desired),
            );
            steps.push(step);
        }
        steps
    }

    /// The subnets of the load balancers: the user's, or one in each zone of the region with a way out. Returns their steps.
    fn subnets(&self, steps: &mut Vec<StepSpec>) -> Vec<String> {
        let Self { platform, mark, .. } = self;
        if !platform.vpc_subnets.is_empty() {
            let given = platform.vpc_subnets.iter().map(|name| {
                let desired = Subnet { name: name.clone(), zone: String::new(), given: Some(name.clone()) };
                let title = format!("subnet {name}, which exists");
                self.step(&subnet(name), title, "subnet", &[VPC], &Desired::Subnet(desired))
            });
            steps.extend(given);
            return platform.vpc_subnets.iter().map(|name| subnet(name)).collect();
        }
        let region = platform.vpc_region().and_then(|region| vpc_region(&region));
        let zones: Vec<String> = region.into_iter().flat_map(powervs::VpcRegion::zone_names).collect();
        for zone in &zones {
            let desired = Subnet { name: mark.name(&format!("subnet-{zone}")), zone: zone.clone(), given: None };
            let title = format!("subnet {}", desired.name);
            steps.push(self.step(&subnet(zone), title, "subnet", &[VPC], &Desired::Subnet(desired)));
            let desired = PublicGateway {
                name: mark.name(&format!("gateway-{zone}")),
                zone: zone.clone(),
                subnet: subnet(zone).into(),
            };
            let title = format!("public gateway {}", desired.name);
            let id = format!("{GATEWAY}/{zone}");
            steps.push(self.step(
                &id,
                title,
                "public-gateway",
                &[VPC, &subnet(zone)],
                &Desired::PublicGateway(desired),
            ));
        }
        zones.iter().map(|zone| subnet(zone)).collect()
    }

    /// What may get to the load balancers: API and ingress from everywhere, the config server from the machines alone.
    fn rules(&self) -> Vec<serde_json::Value> {
        let machines = self.config.networking.machine_network.iter().map(|network| network.cidr.to_string());
        let everywhere = || vec!["0.0.0.0/0".to_owned()];
        let open = [API_PORT].into_iter().chain(INGRESS_PORTS).map(|port| (port, everywhere()));
        let inside = std::iter::once((CONFIG_PORT, machines.collect::<Vec<_>>()));
        let inbound = open.chain(inside).flat_map(|(port, sources)| {
            sources.into_iter().map(move |source| {
                json!({
                    "direction": "inbound", "protocol": "tcp", "ip_version": "ipv4", "port_min": port, "port_max": port,
                    "remote": {"cidr_block": source},
                })
            })
        });
        let outbound = json!({
            "direction": "outbound", "protocol": "all", "ip_version": "ipv4", "remote": {"cidr_block": "0.0.0.0/0"},
        });
        inbound.chain([outbound]).collect()
    }

    /// Where the bootstrap machine fetches its config.
    fn boot_config(&self) -> Vec<StepSpec> {
        let (name, bucket) = (self.mark.object_storage(), self.mark.bucket());
        let title = format!("object storage {name}");
        let storage = Desired::ObjectStorage(ObjectStorage { name, bucket: bucket.clone() });
        let config = BootConfig { bucket, key: BOOT_OBJECT.to_owned(), ignition: BOOT_OBJECT.to_owned() };
        vec![
            self.step(OBJECT_STORAGE, title, "object-storage", &[], &storage),
            self.step(
                BOOT_CONFIG,
                "config of the bootstrap machine".to_owned(),
                "boot-config",
                &[OBJECT_STORAGE],
                &Desired::BootConfig(config),
            ),
        ]
    }

    fn user_data(&self) -> StepSpec {
        let desired = Desired::UserData(UserData { bucket: self.mark.bucket(), key: BOOT_OBJECT.to_owned() });
        let bootstrap = bootstrap_step();
        let needs = [BOOT_CONFIG, bootstrap.as_str()];
        self.step(user_data_step().as_str(), USER_DATA_TITLE.to_owned(), "user-data", &needs, &desired)
    }

    /// All machines that stay: pools, and whether they are masters.
    fn pools(&self) -> impl Iterator<Item = (&MachinePool, bool)> {
        std::iter::once((&self.config.control_plane, true)).chain(self.config.compute.iter().map(|pool| (pool, false)))
    }

    /// How long the bootstrap machine may take until it has fetched its config.
    fn boot_link(&self) -> Duration {
        let timeouts = &self.config.timeouts;
        (timeouts.machine.duration() + timeouts.api.duration()).min(LONGEST_LINK)
    }

    fn bootstrap(&self) -> Vm {
        let settings = self.config.powervs_pool(&self.config.control_plane);
        Vm {
            boot_object: Some((self.mark.bucket(), BOOT_OBJECT.to_owned())),
            boot_link: self.boot_link(),
            ..self.with_settings(&settings, "bootstrap", "bootstrap")
        }
    }

    fn machine(&self, pool: &MachinePool, number: u32, is_master: bool) -> Vm {
        let settings = self.config.powervs_pool(pool);
        self.with_settings(&settings, &format!("{}-{number}", pool.name), if is_master { "master" } else { "worker" })
    }

    fn with_settings(&self, settings: &PowervsPool, name: &str, role: &str) -> Vm {
        Vm {
            id: None,
            name: self.mark.name(name),
            image: Named::Name(self.image().0),
            network: Named::Name(self.mark.network()),
            key: self.config.powervs_ssh_key().map(|_| self.mark.key()),
            sys_type: Some(settings.sys_type.clone().unwrap_or_else(|| self.facts.sys_type.clone())),
            proc_type: settings.proc_type.name().to_owned(),
            processors: settings.processors,
            memory_gib: settings.memory_gib,
            storage_type: settings.storage_type.name().to_owned(),
            tags: vec![self.mark.tag()],
            ignition: format!("{role}.ign"),
            boot_object: None,
            boot_link: Duration::ZERO,
        }
    }

    fn machine_step(&self, id: &StepId, machine: Vm, before: &[StepId]) -> StepSpec {
        let title = format!("machine {}", machine.name);
        let before: Vec<&str> = before.iter().map(StepId::as_str).collect();
        self.step(id.as_str(), title, "vm", &before, &Desired::Instance(Box::new(machine)))
    }

    /// Who is behind the load balancers: the bootstrap machine as soon as it has an address, and everybody else as a whole, because
    /// every change of a pool takes a minute.
    fn members(&self, stage: Stage) -> Vec<StepSpec> {
        let is_external = self.platform.publish == Publish::External;
        let names = |pools: &[&MachinePool]| -> Vec<(String, String)> {
            let all = pools.iter().flat_map(|pool| (0..pool.replicas).map(move |number| (pool, number)));
            all.map(|(pool, number)| {
                (vm_step(&pool.name, number).to_string(), self.mark.name(&format!("{}-{number}", pool.name)))
            })
            .collect()
        };
        let masters = names(&[&self.config.control_plane]);
        let workers = names(&self.config.compute.iter().collect::<Vec<_>>());
        let serving = if workers.is_empty() { &masters } else { &workers };
        let mut steps = Vec::new();
        for is_public in is_external.then_some(true).into_iter().chain([false]) {
            let joined = [connection("vpc"), connection("pvs")];
            let mut step = |id: &str, title: String, machines: &[(String, String)], ports: &[u16], after: Vec<&str>| {
                let listeners =
                    listeners(is_public, is_external).into_iter().filter(|listener| ports.contains(&listener.port));
                let desired = Members {
                    balancer: self.mark.load_balancer(is_public),
                    machines: machines.iter().map(|(_, name)| name.clone()).collect(),
                    listeners: listeners.collect(),
                    temporary: id == bootstrap_members(is_public),
                };
                let needs: Vec<&str> = [balancer(is_public)]
                    .into_iter()
                    .chain(joined.iter().map(String::as_str))
                    .chain(machines.iter().map(|(step, _)| step.as_str()))
                    .chain(after)
                    .collect();
                steps.push(self.step(id, title, "members", &needs, &Desired::Members(desired)));
            };
            let whose = if is_public { "public" } else { "internal" };
            // The config server first: machines wait for it.
            let control = [CONFIG_PORT, API_PORT];
            let first = bootstrap_members(is_public);
            if stage == Stage::Bootstrapping {
                let bootstrap = [(bootstrap_step().to_string(), self.mark.name("bootstrap"))];
                let title = format!("bootstrap machine behind the {whose} load balancer");
                step(first, title, &bootstrap, &control, Vec::new());
            }
            let after = if stage == Stage::Bootstrapping { vec![first] } else { Vec::new() };
            step(members(is_public), format!("masters behind the {whose} load balancer"), &masters, &control, after);
            if is_public == is_external && stage == Stage::Pivoted {
                let title = format!("ingress behind the {whose} load balancer");
                step("members/ingress", title, serving, &INGRESS_PORTS, vec![members(is_public)]);
            }
        }
        steps
    }

    fn step(&self, id: &str, title: String, kind: &str, needs: &[&str], desired: &Desired) -> StepSpec {
        StepSpec {
            id: id.into(),
            title,
            kind: kind.into(),
            needs: needs.iter().map(|id| StepId::from(*id)).collect(),
            timeout: self.config.timeouts.machine.duration(),
            desired: serde_json::to_value(desired).expect("what a step makes has string keys only"),
        }
    }
}

/// What a load balancer listens on. The config server is nobody's business outside.
fn listeners(is_public: bool, is_external: bool) -> Vec<Listener> {
    let config = (!is_public).then_some(("config", CONFIG_PORT));
    let ingress =
        (is_public == is_external).then_some([("ingress-http", INGRESS_PORTS[0]), ("ingress-https", INGRESS_PORTS[1])]);
    let all = config.into_iter().chain([("api", API_PORT)]).chain(ingress.into_iter().flatten());
    all.map(|(pool, port)| Listener { pool: pool.to_owned(), port }).collect()
}

/// What leads to masters.
pub(crate) fn control_listeners(is_public: bool) -> Vec<Listener> {
    listeners(is_public, true).into_iter().filter(|listener| [CONFIG_PORT, API_PORT].contains(&listener.port)).collect()
}

/// What leads to applications.
pub(crate) fn ingress_listeners() -> Vec<Listener> {
    listeners(true, true).into_iter().filter(|listener| INGRESS_PORTS.contains(&listener.port)).collect()
}

pub(crate) fn subnet(zone: &str) -> String {
    format!("subnet/{zone}")
}

pub(crate) fn connection(kind: &str) -> String {
    format!("connection/{kind}")
}

pub(crate) fn balancer(is_public: bool) -> &'static str {
    if is_public { "load-balancer/public" } else { "load-balancer/internal" }
}

fn members(is_public: bool) -> &'static str {
    if is_public { "members/public" } else { "members/internal" }
}

fn bootstrap_members(is_public: bool) -> &'static str {
    if is_public { "members/bootstrap-public" } else { "members/bootstrap-internal" }
}

fn vm_step(pool: &str, number: u32) -> StepId {
    format!("vm/{pool}-{number}").into()
}
