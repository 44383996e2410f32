//! Making a partition with all that it has.
//!
//! ```text
//! partition ─┬─► network adapters ────────────────────────┐
//!            ├─► disks ──────┐                            │
//!            ├─► volumes ────┼─► mappings ─► load source ─┴─► running
//!            └─► config drive┘   (one update per VIOS)
//! ```
//! Everything needs the partition, so that it goes last: while anything is left, its name and its id are there to find it by.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::{StepId, StepSpec};

use super::{
    Blueprint, Host, OperatingSystem, OperationError, PartitionId, Run, Start,
    config_drive::MediumSpec,
    disk::DiskSpec,
    network::NicsSpec,
    operation::{Kind, Operation},
    steps::{Binder, Desired, LoadSource, Mappings, Object, Running},
    volume::VolumeSpec,
};

/// How long a step may take, and one that uploads an image.
const TIMEOUT: Duration = Duration::from_mins(20);
const IMAGE_TIMEOUT: Duration = Duration::from_hours(2);

/// The steps that make a partition, for plans that make more than that. Their ids begin with `prefix`.
pub fn steps(host: &str, blueprint: &Blueprint, prefix: &str) -> Vec<StepSpec> {
    Planner { host, blueprint, prefix }.steps()
}

/// Makes a partition, and switches it on if that is wanted. If anything fails, everything that was begun is undone.
///
/// With a journal that an earlier call has left behind it goes on where that was cut off.
pub async fn spawn(host: &Arc<Host>, blueprint: &Blueprint, run: &Run) -> Result<(), OperationError> {
    let id = &blueprint.partition.id;
    let mut binder = Binder::new([Arc::clone(host)]);
    if let Some(drive) = &blueprint.config_drive {
        binder = binder.with_drive(id, drive);
    }
    let what = format!("partition {}", blueprint.partition.name);
    let operation = Operation { kind: Kind::Making, what, partition: id, run };
    operation.apply(steps(host.name(), blueprint, ""), &binder).await.map(drop)
}

struct Planner<'a> {
    host: &'a str,
    blueprint: &'a Blueprint,
    prefix: &'a str,
}

impl Planner<'_> {
    fn steps(&self) -> Vec<StepSpec> {
        let blueprint = self.blueprint;
        let mut steps = vec![self.partition()];
        let mut running_needs = vec![self.id("partition")];
        if !blueprint.nics.is_empty() {
            steps.push(self.nics());
            running_needs.push(self.id("network-adapters"));
        }
        let mut sources = Vec::new();
        for (number, disk) in blueprint.disks.iter().enumerate() {
            let spec = DiskSpec {
                partition: self.partition_id().clone(),
                partition_name: blueprint.partition.name.clone(),
                number,
                disk: disk.clone(),
                seen: None,
            };
            let (id, title) = (self.id(&format!("disk/{}", disk.name)), format!("disk {}", disk.name));
            let timeout = if disk.image.is_some() { IMAGE_TIMEOUT } else { TIMEOUT };
            sources.push(id.clone());
            let step = self.step(id, "disk", &title, vec![self.id("partition")], Object::Disk(spec));
            steps.push(StepSpec { timeout, ..step });
        }
        for volume in &blueprint.volumes {
            let spec = VolumeSpec { partition: self.partition_id().clone(), volume: volume.clone() };
            let (id, title) = (self.id(&format!("volume/{}", volume.id)), format!("volume {}", volume.id));
            sources.push(id.clone());
            steps.push(self.step(id, "volume", &title, vec![self.id("partition")], Object::Volume(spec)));
        }
        if blueprint.config_drive.is_some() {
            let id = self.id("config-drive");
            sources.push(id.clone());
            let object = Object::ConfigDrive(self.medium());
            steps.push(self.step(id, "config-drive", "config drive", vec![self.id("partition")], object));
        }
        steps.push(self.mappings(sources));
        running_needs.push(self.id("mappings"));
        if blueprint.partition.system == OperatingSystem::IbmI {
            let object = Object::LoadSource(LoadSource { partition: self.partition_id().clone() });
            let needs = vec![self.id("mappings")];
            let title = "load source";
            steps.push(self.step(self.id("load-source"), "load-source", title, needs, object));
            running_needs.push(self.id("load-source"));
        }
        if blueprint.power_on {
            let object =
                Object::Running(Running { partition: self.partition_id().clone(), start: self.start(), seen: false });
            steps.push(self.step(self.id("running"), "power", "power", running_needs, object));
        }
        steps
    }

    fn partition(&self) -> StepSpec {
        let object = Object::Partition(Box::new(self.blueprint.partition.clone()));
        self.step(self.id("partition"), "partition", "itself", Vec::new(), object)
    }

    fn nics(&self) -> StepSpec {
        let nics = self.blueprint.nics.clone();
        let object = Object::Nics(NicsSpec::of(self.partition_id(), nics));
        let (id, title) = (self.id("network-adapters"), "network adapters");
        self.step(id, "network-adapters", title, vec![self.id("partition")], object)
    }

    fn mappings(&self, sources: Vec<StepId>) -> StepSpec {
        let mut needs = vec![self.id("partition")];
        needs.extend(sources.iter().cloned());
        let object = Object::Mappings(Mappings {
            partition: self.partition_id().clone(),
            scrub: Some(self.id("partition")),
            sources,
            fibre_ports: self.blueprint.fibre_ports.clone(),
            disks: Vec::new(),
        });
        self.step(self.id("mappings"), "mappings", "mappings", needs, object)
    }

    fn start(&self) -> Start {
        let ibm_i = self.blueprint.partition.system == OperatingSystem::IbmI;
        Start {
            medium: self.blueprint.config_drive.is_some().then(|| self.medium().name()),
            ipl_source: ibm_i.then_some('b'),
            keylock: ibm_i.then(|| "norm".to_owned()),
        }
    }

    fn medium(&self) -> MediumSpec {
        MediumSpec::of(self.partition_id())
    }

    fn partition_id(&self) -> &PartitionId {
        &self.blueprint.partition.id
    }

    fn id(&self, name: &str) -> StepId {
        format!("{}{name}", self.prefix).into()
    }

    fn step(&self, id: StepId, kind: &str, title: &str, needs: Vec<StepId>, object: Object) -> StepSpec {
        let title = format!("{title} of partition {}", self.blueprint.partition.name);
        let title = title.replace("itself of ", "");
        Desired { host: self.host.to_owned(), object }.step(id, kind, title, needs, TIMEOUT)
    }
}
