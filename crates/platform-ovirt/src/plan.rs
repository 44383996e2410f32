//! The plan of a cluster on oVirt. Pure: every name, size and order is decided here.
//!
//! ```text
//! tag ─────────────┐
//! affinity groups ─┼─► bootstrap, masters
//! template ────────┘   └─► user data of bootstrap, emptied
//! ```
//! Workers are none of it: sets of machines in the cluster make them.
//! The template is a step only if an image is given; one that exists already is used and left alone.

use landfall_config::{
    InstallConfig, Role, Size as PoolSize,
    ovirt::{self, AutoPinningPolicy, DiskFormat, Image, VmType},
};
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::{InfraId, Stage, StepId, StepSpec, USER_DATA_TITLE, bootstrap_step, user_data_step};

use crate::{
    machines::{Size, Vm},
    mark::Mark,
    steps::{AffinityGroup, Desired, Tag, Template, UserData},
};

/// Machines that are made at once. The engine queues the copies that its storage cannot take; this bounds what is asked of it
/// at a time.
const MACHINES_AT_ONCE: usize = 64;
/// The bootstrap machine lives for minutes and holds one control plane and etcd member.
pub(crate) const BOOTSTRAP_MEMORY_MIB: u32 = 8192;
const BOOTSTRAP_SIZE: Size = Size::Custom {
    sockets: 1,
    cores: 4,
    threads: 1,
    memory_mib: BOOTSTRAP_MEMORY_MIB,
    guaranteed_memory_mib: BOOTSTRAP_MEMORY_MIB,
};

/// The id of the step that makes the cluster's own template.
pub(crate) const TEMPLATE_STEP: &str = "template";

/// What was found out about the engine before planning, because names and numbers of a plan depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Hosts of the cluster that are up.
    pub hosts_up: usize,
    /// Id of the vNIC profile to use; none keeps the template's network interfaces.
    pub vnic_profile_id: Option<String>,
}

/// The plan of a cluster.
pub fn plan(config: &InstallConfig, infra_id: &InfraId, facts: &Facts, stage: Stage) -> Result<Plan, PlanError> {
    let platform = config.platform.ovirt().expect("only clusters on oVirt are planned here");
    let declared = declared_groups(platform);
    let planner = Planner { config, platform, mark: Mark::new(infra_id.clone()), facts, declared };
    let mut builder = PlanBuilder::default();
    builder.limit("vm", MACHINES_AT_ONCE);
    builder.step(planner.tag());
    for group in planner.groups() {
        builder.step(group);
    }
    if let Some(template) = planner.template() {
        builder.step(template);
    }
    if stage == Stage::Bootstrapping {
        builder.step(planner.bootstrap());
        builder.step(planner.user_data());
    }
    for number in 0..config.control_plane.replicas {
        builder.step(planner.master(number));
    }
    builder.build()
}

struct Planner<'a> {
    config: &'a InstallConfig,
    platform: &'a ovirt::Platform,
    mark: Mark,
    facts: &'a Facts,
    /// The groups that the cluster has of its own: those that the user declares, or one for each role.
    declared: Vec<ovirt::AffinityGroup>,
}

impl Planner<'_> {
    fn tag(&self) -> StepSpec {
        let name = self.mark.infra_id().to_string();
        self.step("tag", format!("tag {name}"), "tag", Vec::new(), &Desired::Tag(Tag { name, id: None }))
    }

    fn template(&self) -> Option<StepSpec> {
        let Some(Image::Disk(source)) = &self.platform.image else { return None };
        let desired = Template {
            name: self.platform.template_name(self.mark.infra_id().as_str()),
            image_name: image_name(&self.mark),
            source: source.clone(),
            cluster_id: self.platform.ovirt_cluster_id.to_string(),
            storage_domain_id: self.platform.ovirt_storage_domain_id.to_string(),
            vnic_profile_id: self.facts.vnic_profile_id.clone(),
            id: None,
        };
        let title = format!("template {}", desired.name);
        let step = self.step(TEMPLATE_STEP, title, "template", Vec::new(), &Desired::Template(desired));
        Some(StepSpec { timeout: self.config.timeouts.image.duration(), ..step })
    }

    fn groups(&self) -> Vec<StepSpec> {
        self.declared
            .iter()
            .map(|group| {
                let enforcing = group.enforcing.unwrap_or_else(|| self.has_hosts_for(&group.name));
                let purpose = || format!("keeps {} machines apart", group.name);
                let desired = AffinityGroup {
                    name: self.mark.name(&group.name),
                    description: group.description.clone().unwrap_or_else(purpose),
                    cluster_id: self.platform.ovirt_cluster_id.to_string(),
                    priority: group.priority,
                    enforcing,
                    id: None,
                };
                let title = format!("affinity group {}", desired.name);
                let id = group_step(&group.name);
                self.step(id.as_str(), title, "affinity-group", Vec::new(), &Desired::AffinityGroup(desired))
            })
            .collect()
    }

    /// Whether there is a host for each machine of a group, and one more so that a host can be taken down for maintenance.
    fn has_hosts_for(&self, group: &str) -> bool {
        let masters = std::iter::once((&self.config.control_plane, Role::Master));
        let workers = self.config.compute.iter().map(|pool| (pool, Role::Worker));
        let members: u32 = masters
            .chain(workers)
            .filter(|(pool, role)| self.config.ovirt_pool(pool, *role).affinity_groups.iter().any(|name| name == group))
            .map(|(pool, _)| pool.replicas)
            .sum();
        self.facts.hosts_up > members as usize
    }

    fn bootstrap(&self) -> StepSpec {
        let pool = self.config.ovirt_pool(&self.config.control_plane, Role::Master);
        let vm = Vm {
            name: self.mark.name("bootstrap"),
            role: "bootstrap".to_owned(),
            size: BOOTSTRAP_SIZE,
            kind: "server".to_owned(),
            clone: pool.clone,
            hugepages: None,
            pinned: false,
            high_availability: false,
            affinity_groups: Vec::new(),
            ignition: "bootstrap.ign".to_owned(),
            ..self.vm(0)
        };
        self.vm_step(bootstrap_step().as_str(), vm)
    }

    fn user_data(&self) -> StepSpec {
        let desired = Desired::UserData(UserData { machine: self.mark.name("bootstrap") });
        let (id, needs) = (user_data_step(), vec![bootstrap_step()]);
        self.step(id.as_str(), USER_DATA_TITLE.to_owned(), "user-data", needs, &desired)
    }

    fn master(&self, number: u32) -> StepSpec {
        self.vm_step(&format!("vm/{}-{number}", self.config.control_plane.name), self.vm(number))
    }

    fn vm(&self, number: u32) -> Vm {
        let pool = &self.config.control_plane;
        let resolved = self.config.ovirt_pool(pool, Role::Master);
        // A group that the user did not declare is one that exists in the engine under the name as given.
        let engine_name = |name: &String| {
            let declared = self.declared.iter().any(|group| group.name == *name);
            if declared { self.mark.name(name) } else { name.clone() }
        };
        Vm {
            name: self.mark.name(&format!("{}-{number}", pool.name)),
            id: None,
            role: pool.name.clone(),
            cluster_id: self.platform.ovirt_cluster_id.to_string(),
            template: self.platform.template_name(self.mark.infra_id().as_str()),
            storage_domain_id: Some(self.platform.ovirt_storage_domain_id.to_string()),
            vnic_profile_id: self.facts.vnic_profile_id.clone(),
            size: match resolved.size {
                PoolSize::InstanceType(id) => Size::InstanceType(id.to_string()),
                PoolSize::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } => {
                    Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib }
                }
            },
            os_disk_gib: resolved.os_disk_gib,
            kind: match resolved.vm_type {
                VmType::Desktop => "desktop",
                VmType::Server => "server",
                VmType::HighPerformance => "high_performance",
            }
            .to_owned(),
            clone: resolved.clone,
            sparse: resolved.sparse,
            format: resolved.format.map(|format| match format {
                DiskFormat::Raw => "raw".to_owned(),
                DiskFormat::Cow => "cow".to_owned(),
            }),
            hugepages: resolved.hugepages,
            pinned: resolved.auto_pinning_policy == AutoPinningPolicy::ResizeAndPin,
            high_availability: true,
            affinity_groups: resolved.affinity_groups.iter().map(engine_name).collect(),
            tag: self.mark.infra_id().to_string(),
            ignition: format!("{}.ign", Role::Master.name()),
        }
    }

    fn vm_step(&self, id: &str, vm: Vm) -> StepSpec {
        let groups = self.declared.iter().filter(|group| vm.affinity_groups.contains(&self.mark.name(&group.name)));
        let template = matches!(self.platform.image, Some(Image::Disk(_))).then(|| TEMPLATE_STEP.into());
        let needs =
            std::iter::once("tag".into()).chain(template).chain(groups.map(|group| group_step(&group.name))).collect();
        let title = format!("virtual machine {}", vm.name);
        self.step(id, title, "vm", needs, &Desired::Vm(Box::new(vm)))
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

/// Name of the disk and the machine that a cluster's own template is made from.
pub(crate) fn image_name(mark: &Mark) -> String {
    mark.name("image")
}

/// The groups that a cluster has of its own: those that the user declares, or one for each role.
pub(crate) fn declared_groups(platform: &ovirt::Platform) -> Vec<ovirt::AffinityGroup> {
    platform.affinity_groups.clone().unwrap_or_else(ovirt::AffinityGroup::built_in)
}

fn group_step(name: &str) -> StepId {
    format!("affinity-group/{name}").into()
}
