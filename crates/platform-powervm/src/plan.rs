//! The plan of a cluster: every name, size and order, decided without asking anybody.

use landfall_config::{
    InstallConfig, MachinePool, Role,
    powervm::{self, Image as ConfigImage, Storage},
};
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::{InfraId, Stage, StepId, StepSpec, bootstrap_step, user_data_step};

use crate::{
    machines::Partition,
    mark::Mark,
    steps::{Desired, Image, UserData},
};

/// Machines that are made at once. A VIOS takes one change at a time; this bounds how many wait for their turn.
const MACHINES_AT_ONCE: usize = 16;
/// The step that uploads the cluster's own image.
pub(crate) const IMAGE_STEP: &str = "image";

/// What a plan depends on beside the install-config: nothing. Machines that the plan makes are spread over servers by their numbers, so
/// that every run comes to the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts;

/// The plan of a cluster.
pub fn plan(config: &InstallConfig, infra_id: &InfraId, _: &Facts, stage: Stage) -> Result<Plan, PlanError> {
    let platform = config.platform.powervm().expect("only clusters on PowerVM are planned here");
    let planner = Planner { config, platform, mark: Mark::new(infra_id.clone()) };
    let mut builder = PlanBuilder::default();
    builder.limit("vm", MACHINES_AT_ONCE);
    if let Some(image) = planner.image() {
        builder.step(image);
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
    platform: &'a powervm::Platform,
    mark: Mark,
}

impl Planner<'_> {
    /// The cluster's own image, where it has one.
    fn image(&self) -> Option<StepSpec> {
        let (ConfigImage::Disk(source), Storage::SharedStoragePool(pool)) =
            (&self.platform.image, &self.platform.storage)
        else {
            return None;
        };
        let name = self.platform.image_name(self.mark.infra_id().as_str());
        let title = format!("image {name}");
        let desired = Image { name, source: source.clone(), pool: pool.name.clone(), tier: pool.tier.clone() };
        let step = self.step(IMAGE_STEP, title, "image", Vec::new(), &Desired::Image(desired));
        Some(StepSpec { timeout: self.config.timeouts.image.duration(), ..step })
    }

    /// The bootstrap machine goes where the next master would.
    fn bootstrap(&self) -> StepSpec {
        let number = self.config.control_plane.replicas;
        let machine = Partition {
            name: self.mark.name("bootstrap"),
            role: "bootstrap".to_owned(),
            ignition: "bootstrap.ign".to_owned(),
            ..self.machine(number)
        };
        self.machine_step(bootstrap_step().as_str(), machine)
    }

    fn user_data(&self) -> StepSpec {
        let desired = Desired::UserData(UserData { machine: self.mark.name("bootstrap") });
        let (id, needs) = (user_data_step(), vec![bootstrap_step()]);
        self.step(
            id.as_str(),
            "the bootstrap machine's config drive is out, or goes within the hour".to_owned(),
            "user-data",
            needs,
            &desired,
        )
    }

    fn master(&self, number: u32) -> StepSpec {
        self.machine_step(&format!("vm/{}-{number}", self.config.control_plane.name), self.machine(number))
    }

    fn machine(&self, number: u32) -> Partition {
        let pool = &self.config.control_plane;
        let hosts = self.config.powervm_pool(pool).hosts;
        let host = hosts.get(number as usize % hosts.len().max(1)).cloned();
        Partition {
            name: self.mark.name(&format!("{}-{number}", pool.name)),
            hosts: host.into_iter().collect(),
            ..partition(self.config, self.platform, pool, Role::Master, self.mark.infra_id())
        }
    }

    fn machine_step(&self, id: &str, machine: Partition) -> StepSpec {
        let title = match machine.hosts.as_slice() {
            [host] => format!("partition {} on {host}", machine.name),
            _ => format!("partition {}", machine.name),
        };
        let needs = self.image().map(|image| image.id).into_iter().collect();
        self.step(id, title, "vm", needs, &Desired::Vm(Box::new(machine)))
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

/// A machine of a pool, without a name, that may be on any of the pool's servers.
pub(crate) fn partition(
    config: &InstallConfig,
    platform: &powervm::Platform,
    pool: &MachinePool,
    role: Role,
    infra_id: &InfraId,
) -> Partition {
    let resolved = config.powervm_pool(pool);
    let image = match (&platform.image, &platform.storage) {
        (ConfigImage::Disk(source), Storage::VolumeGroup(_)) => source.clone(),
        _ => platform.image_name(infra_id.as_str()),
    };
    Partition {
        id: None,
        name: String::new(),
        role: pool.name.clone(),
        hosts: resolved.hosts,
        processors: resolved.processors,
        processing_units: resolved.processing_units,
        sharing: resolved.sharing,
        memory_mib: u64::from(resolved.memory_gib) * 1024,
        compatibility_mode: Some(resolved.compatibility_mode),
        disk_gib: resolved.disk_gib,
        storage: Some(platform.storage.clone()),
        image,
        network: Some(platform.network.clone()),
        ignition: format!("{}.ign", role.name()),
    }
}
