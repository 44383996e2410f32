//! Giving a partition another shape.
//!
//! ```text
//! off ─► shape ─► larger disks ─► running, if it was
//! ```
//! Each step knows what was before, so that undoing it brings that back. Only a disk that has grown stays as large as it is.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::StepId;
use serde::{Deserialize, Serialize};

use super::{
    Disk, DiskPlace, Error, Host, OperationError, PartitionId, Run, Shape, Start,
    disk::{self, DiskSpec},
    document,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Object, Off, Running},
};
use crate::client::{Edit, LogicalPartition};

const TIMEOUT: Duration = Duration::from_mins(40);

/// A partition of another shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reshape {
    pub(super) partition: PartitionId,
    pub(super) name: String,
    pub(super) before: Shape,
    pub(super) after: Shape,
}

/// A disk that becomes larger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Its place in the list of the partition's disks.
    pub number: usize,
    /// Its name in that list.
    pub name: String,
    /// Where it is.
    pub place: DiskPlace,
    /// Its size then.
    pub gib: f64,
    /// Whether a disk that is larger already is as good. Otherwise it is refused, since no disk becomes smaller.
    pub or_larger: bool,
}

/// Gives a partition another shape, and larger disks. It is shut down for that, and started again if it ran.
pub async fn resize(
    host: &Arc<Host>,
    id: &PartitionId,
    shape: &Shape,
    growths: &[Growth],
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("another shape of partition {id}");
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    let missing = || Error::Missing { what: format!("partition {id}"), host: host.label() };
    let entry = host.partition(id).await.and_then(|entry| entry.ok_or_else(missing)).map_err(refused)?;
    let partition = LogicalPartition::read(&entry);
    let mut disks = Vec::new();
    for growth in growths {
        let disk = growth.disk(id, &partition.name);
        Box::pin(growth.check(host, &disk)).await.map_err(refused)?;
        disks.push(disk);
    }
    let operation = Operation { kind: Kind::Shape, what: what.clone(), partition: id, run };
    let begun = operation.begun().await?;
    let (mut before, mut ran) = (document::shape(&entry.object), partition.state != "not activated");
    // What was before is only known before: a run that goes on knows it from the one that was cut off.
    if !begun.finished {
        for desired in begun.objects() {
            match desired.object {
                Object::Off(off) => ran = off.ran,
                Object::Reshape(reshape) => before = reshape.before,
                _ => {}
            }
        }
    }
    let reshape = Reshape { partition: id.clone(), name: partition.name.clone(), before, after: shape.clone() };
    let binder = Binder::new([Arc::clone(host)]);
    operation.apply(steps(host, id, reshape, disks, ran), &binder).await.map(drop)
}

fn steps(
    host: &Host,
    id: &PartitionId,
    reshape: Reshape,
    disks: Vec<DiskSpec>,
    ran: bool,
) -> Vec<landfall_platform::StepSpec> {
    let step = |name: &str, kind: &str, title: String, needs: Vec<StepId>, object| {
        Desired { host: host.name().to_owned(), object }.step(name, kind, title, needs, TIMEOUT)
    };
    let name = reshape.name.clone();
    let off = Object::Off(Off { partition: id.clone(), ran });
    let mut steps = vec![
        step("off", "power", format!("shutdown of partition {name}"), Vec::new(), off),
        step(
            "shape",
            "shape",
            format!("shape of partition {name}"),
            vec!["off".into()],
            Object::Reshape(Box::new(reshape)),
        ),
    ];
    let mut needs: Vec<StepId> = vec!["shape".into()];
    for disk in disks {
        let id = format!("disk/{}", disk.disk.name);
        needs.push(id.as_str().into());
        let title = format!("larger disk {} of partition {name}", disk.disk.name);
        steps.push(step(&id, "disk", title, vec!["shape".into()], Object::Growth(disk)));
    }
    if ran {
        let running = Object::Running(Running { partition: id.clone(), start: Start::default(), seen: false });
        steps.push(step("running", "power", format!("power of partition {name}"), needs, running));
    }
    steps
}

impl Reshape {
    /// Gives the partition a shape. One that is gone has none.
    pub(super) async fn set(&self, host: &Host, shape: &Shape) -> Result<(), Error> {
        let edit = |object: &mut crate::xml::Element| {
            let before = object.to_string();
            document::reshape(object, &self.name, shape);
            Ok(if object.to_string() == before { Edit::Unchanged } else { Edit::Changed })
        };
        let edited = host.client().edit(&Host::path(&self.partition), edit).await;
        edited.map(drop).map_err(|error| host.failed(format!("changing the shape of partition {}", self.name), error))
    }
}

impl Growth {
    fn disk(&self, partition: &PartitionId, partition_name: &str) -> DiskSpec {
        let disk = Disk { name: self.name.clone(), gib: self.gib, place: self.place.clone(), image: None };
        let (partition, partition_name) = (partition.clone(), partition_name.to_owned());
        DiskSpec { partition, partition_name, number: self.number, disk, seen: None }
    }

    /// Refuses a disk that is not there, or that would become smaller.
    async fn check(&self, host: &Host, disk: &DiskSpec) -> Result<(), Error> {
        let present = disk::size(host, disk).await?;
        if self.or_larger || present <= self.gib {
            return Ok(());
        }
        Err(Error::Refused {
            what: format!("disk {} of partition {}", self.name, disk.partition_name),
            host: host.label(),
            done: "made smaller",
            reason: format!("it has {present} GiB, not {} GiB or less", self.gib),
        })
    }
}
