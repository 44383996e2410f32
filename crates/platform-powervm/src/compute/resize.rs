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
    Error, Host, OperationError, PartitionId, Run, Shape, Start, document,
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

/// A disk in a volume group that becomes larger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// The name of the VIOS.
    pub vios: String,
    /// The name of the volume group.
    pub group: String,
    /// The name of the virtual disk.
    pub disk: String,
    /// Its size then.
    pub gib: f64,
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
    operation.apply(steps(host, id, reshape, growths, ran), &binder).await.map(drop)
}

fn steps(
    host: &Host,
    id: &PartitionId,
    reshape: Reshape,
    growths: &[Growth],
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
    for growth in growths {
        let id = format!("disk/{}", growth.disk);
        needs.push(id.as_str().into());
        let title = format!("larger disk {} of partition {name}", growth.disk);
        steps.push(step(&id, "disk", title, vec!["shape".into()], Object::Growth(growth.clone())));
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
    pub(super) async fn grow(&self, host: &Host) -> Result<(), Error> {
        let vios = host.vioses().await?.into_iter().find(|vios| vios.name == self.vios);
        let missing = |what: String| Error::Missing { what, host: host.label() };
        let vios = vios.ok_or_else(|| missing(format!("VIOS {} that runs", self.vios)))?;
        let group = host.volume_groups(&vios.id).await?.into_iter().find(|group| group.name == self.group);
        let group = group.ok_or_else(|| missing(format!("volume group {} on {}", self.group, self.vios)))?;
        let grown = host.client().grow_disk(&vios.id, &group.id, &self.disk, self.gib).await;
        grown.map(drop).map_err(|error| host.failed(format!("making virtual disk {} larger", self.disk), error))
    }
}
