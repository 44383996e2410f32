//! Moving a partition that is off: it is made anew on the other server, over the same disks.
//!
//! ```text
//! off ─► released by the source's VIOSes ─► partition, adapters, mappings on the target ─► running there
//! ```
//! The partition on the source stays, without anything, until somebody confirms that the new one is good; or it is given back all
//! that it had.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::{StepId, StepSpec};

use super::checks;
use crate::client::LogicalPartition;
use crate::compute::{
    Backing, Blueprint, Error, Host, OperationError, PartitionId, Run, Start,
    destroy::belongings,
    network::NicsSpec,
    operation::{Begun, Kind, Operation},
    steps::{Binder, Desired, Kept, Mappings, Object, Off, Released, Running},
    volume::VolumeSpec,
};

const TIMEOUT: Duration = Duration::from_mins(40);

/// Moves a partition to another server that sees the same pool and the same volumes. It is shut down, and started there if it ran.
///
/// `blueprint` says what it has there. Its disks must be in a shared storage pool; those in a volume group cannot move.
/// The journal has to be kept for [`revert_migration`].
pub async fn migrate(
    source: &Arc<Host>,
    target: &Arc<Host>,
    blueprint: &Blueprint,
    run: &Run,
) -> Result<(), OperationError> {
    let id = &blueprint.partition.id;
    let what = format!("migration of partition {} to {}", blueprint.partition.name, target.name());
    let refused = |error: Error| OperationError::Refused { what: what.clone(), source: error };
    let operation = Operation { kind: Kind::Migration, what: what.clone(), partition: id, run };
    let begun = operation.begun().await?;
    // Once more the same: it is there, and the journal still knows the way back.
    if begun.finished && target.partition(id).await.map_err(refused)?.is_some() {
        return Ok(());
    }
    let known = Before::read(&begun);
    let elsewhere = known.target.as_deref().filter(|known| *known != target.name());
    if let Some(elsewhere) = elsewhere {
        let (what, whom) = (format!("partition {id}"), format!("a migration to {elsewhere} that is not finished"));
        return Err(refused(Error::Busy { what, host: source.label(), whom }));
    }
    let begins = known.ran.is_none();
    let ran = if let Some(ran) = known.ran {
        ran
    } else {
        let entry = checks::common(source, target, id).await.map_err(refused)?;
        LogicalPartition::read(&entry).state != "not activated"
    };
    let shown = match known.shown {
        Some(shown) => shown,
        None => source.shown_to(id).await.map_err(refused)?,
    };
    if let Some(local) = shown.iter().find(|backing| begins && is_local(backing)) {
        let reason = format!("{:?} is on one VIOS only", local.storage);
        let what_moves = format!("partition {id}");
        return Err(refused(Error::Refused { what: what_moves, host: source.label(), done: "migrated", reason }));
    }
    let binder = Binder::new([Arc::clone(source), Arc::clone(target)]);
    operation.apply(steps(source, target, blueprint, shown, ran), &binder).await.map(drop)
}

/// What was before a migration that has begun, as far as its steps have changed it.
#[derive(Default)]
struct Before {
    ran: Option<bool>,
    shown: Option<Vec<Backing>>,
    target: Option<String>,
}

impl Before {
    fn read(begun: &Begun) -> Self {
        let mut before = Self::default();
        for desired in begun.objects().filter(|_| !begun.finished) {
            match desired.object {
                Object::Off(off) => before.ran = Some(off.ran),
                Object::Released(released) => before.shown = Some(released.backings),
                Object::Partition(_) => before.target = Some(desired.host),
                _ => {}
            }
        }
        before
    }
}

/// The new partition is good: the old one goes, without its disks.
pub async fn confirm_migration(source: &Arc<Host>, id: &PartitionId, run: &Run) -> Result<(), OperationError> {
    let binder = Binder::new([Arc::clone(source)]);
    let husk = Husk { host: Arc::clone(source), partition: id.clone() };
    let what = format!("partition {id} on {}", source.name());
    let operation = Operation { kind: Kind::Migration, what, partition: id, run };
    operation.conclude(&binder, &husk).await
}

/// The new partition is not good: it goes, and the old one gets back what it had. Needs the journal of the migration.
pub async fn revert_migration(
    source: &Arc<Host>,
    target: &Arc<Host>,
    id: &PartitionId,
    run: &Run,
) -> Result<(), OperationError> {
    let binder = Binder::new([Arc::clone(source), Arc::clone(target)]);
    let what = format!("migration of partition {id} to {}", target.name());
    Operation { kind: Kind::Migration, what, partition: id, run }.undo(&binder).await
}

/// Media and disks of volume groups are on one VIOS. A config drive stays behind: it was for the first start.
fn is_local(backing: &Backing) -> bool {
    matches!(backing.storage, crate::client::Storage::VirtualDisk(_))
}

fn steps(source: &Host, target: &Host, blueprint: &Blueprint, shown: Vec<Backing>, ran: bool) -> Vec<StepSpec> {
    let (id, name) = (&blueprint.partition.id, &blueprint.partition.name);
    let step = |host: &Host, step: &str, kind: &str, title: &str, needs: &[StepId], object| {
        let title = format!("{title} of partition {name} on {}", host.name());
        Desired { host: host.name().to_owned(), object }.step(step, kind, title, needs.to_vec(), TIMEOUT)
    };
    let off = Object::Off(Off { partition: id.clone(), ran });
    let units: Vec<String> = shown.iter().filter_map(unit).collect();
    let released = Object::Released(Released { partition: id.clone(), backings: shown });
    let mut steps = vec![
        step(source, "off", "power", "shutdown", &[], off),
        step(source, "released", "mappings", "release", &["off".into()], released),
        step(
            target,
            "partition",
            "partition",
            "making",
            &["released".into()],
            Object::Partition(Box::new(blueprint.partition.clone())),
        ),
    ];
    let mut needs: Vec<StepId> = vec!["partition".into()];
    if !blueprint.nics.is_empty() {
        let nics = Object::Nics(NicsSpec::of(id, blueprint.nics.clone()));
        steps.push(step(
            target,
            "network-adapters",
            "network-adapters",
            "network adapters",
            &["partition".into()],
            nics,
        ));
        needs.push("network-adapters".into());
    }
    let mut sources: Vec<StepId> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for device in units {
        if seen.contains(&device) {
            continue;
        }
        let own = format!("unit/{}", seen.len());
        let kept = Object::Kept(Kept { device: device.clone(), disk: None });
        steps.push(step(target, &own, "disk", &format!("logical unit {device}"), &["partition".into()], kept));
        sources.push(own.as_str().into());
        seen.push(device);
    }
    for volume in &blueprint.volumes {
        let own = format!("volume/{}", volume.id);
        let object = Object::Volume(VolumeSpec { partition: id.clone(), volume: volume.clone() });
        let title = format!("volume {}", volume.id);
        steps.push(step(target, &own, "volume", &title, &["partition".into()], object));
        sources.push(own.as_str().into());
    }
    let mut mapping_needs: Vec<StepId> = vec!["partition".into()];
    mapping_needs.extend(sources.iter().cloned());
    let mappings = Object::Mappings(Mappings {
        partition: id.clone(),
        scrub: Some("partition".into()),
        sources,
        fibre_ports: blueprint.fibre_ports.clone(),
        disks: Vec::new(),
    });
    steps.push(step(target, "mappings", "mappings", "mappings", &mapping_needs, mappings));
    needs.push("mappings".into());
    if ran {
        let running = Object::Running(Running { partition: id.clone(), start: Start::default(), seen: false });
        steps.push(step(target, "running", "power", "power", &needs, running));
    }
    steps
}

fn unit(backing: &Backing) -> Option<String> {
    match &backing.storage {
        crate::client::Storage::LogicalUnit(device) => Some(device.clone()),
        _ => None,
    }
}

/// What is left of a partition that has moved: everything but its disks.
struct Husk {
    host: Arc<Host>,
    partition: PartitionId,
}

#[async_trait::async_trait]
impl landfall_platform::Discover for Husk {
    async fn discover(&self) -> Result<Vec<StepSpec>, landfall_platform::StepError> {
        let mut steps = belongings(&self.host, &self.partition, "").await?;
        let disks: Vec<StepId> =
            steps.iter().filter(|step| step.kind.as_str() == "disk").map(|step| step.id.clone()).collect();
        steps.retain(|step| !disks.contains(&step.id));
        for step in &mut steps {
            step.needs.retain(|needed| !disks.contains(needed));
        }
        Ok(steps)
    }
}
