//! Attaching volumes to partitions that exist, and detaching them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use landfall_platform::{Discover, StepError, StepSpec};

use super::{VolumeSpec, shown_of};
use crate::compute::{
    Error, Host, OperationError, PartitionId, Run, Volume,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Object},
};

const TIMEOUT: Duration = Duration::from_mins(20);

/// Attaches a volume over every VIOS that sees it. Its device id, which finds it again whatever its disks are called.
///
/// A partition that runs must be connected (RMC): without that, only what it had when it was switched on is there.
pub async fn attach_volume(
    host: &Arc<Host>,
    partition: &PartitionId,
    volume: &Volume,
    run: &Run,
) -> Result<String, OperationError> {
    let what = format!("volume {} on partition {partition}", volume.id);
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let step = step(host, partition, volume);
    let (id, binder) = (step.id.clone(), Binder::new([Arc::clone(host)]));
    let operation = Operation { kind: Kind::Volume, what: what.clone(), partition, run };
    let outputs = operation.apply(vec![step], &binder).await?;
    Ok(outputs.get(&id).and_then(|outputs| outputs.get("device")).unwrap_or_default())
}

/// Detaches a volume, and lets VIOSes forget it. That it is not attached is as good.
pub async fn detach_volume(
    host: &Arc<Host>,
    partition: &PartitionId,
    volume: &Volume,
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("volume {} on partition {partition}", volume.id);
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(host)]);
    let attached = Attached {
        host: Arc::clone(host),
        step: step(host, partition, volume),
        spec: spec(partition, volume),
        looked: AtomicBool::new(false),
    };
    let operation = Operation { kind: Kind::Volume, what: what.clone(), partition, run };
    operation.remove(&binder, &attached).await
}

fn spec(partition: &PartitionId, volume: &Volume) -> VolumeSpec {
    VolumeSpec { partition: partition.clone(), volume: volume.clone() }
}

fn step(host: &Host, partition: &PartitionId, volume: &Volume) -> StepSpec {
    let object = Object::Attachment(spec(partition, volume));
    let title = format!("attachment of volume {}", volume.id);
    let id = format!("attachment/{}", volume.id);
    Desired { host: host.name().to_owned(), object }.step(id.as_str(), "attachment", title, Vec::new(), TIMEOUT)
}

/// The attachment, if there is one.
struct Attached {
    host: Arc<Host>,
    step: StepSpec,
    spec: VolumeSpec,
    looked: AtomicBool,
}

#[async_trait]
impl Discover for Attached {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        // At first it is read; afterwards the console has told what became of it when it was changed.
        let vioses = if self.looked.load(Ordering::Relaxed) {
            self.host.recent_scsi_mappings().await?
        } else {
            self.host.read_scsi_mappings().await?
        };
        self.looked.store(true, Ordering::Relaxed);
        let found = shown_of(&vioses, &self.spec);
        Ok(if found.is_empty() { Vec::new() } else { vec![self.step.clone()] })
    }
}
