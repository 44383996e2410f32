//! Copying a disk of a partition: it is shown to the management partition too, read there as a block device, and taken away again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Backing, Error, Host, OperationError, PartitionId, Run,
    mapping::Change,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Object},
};
use crate::client::Storage;

const TIMEOUT: Duration = Duration::from_mins(20);
/// How long the kernel may take to show the device.
const APPEARANCE: Duration = Duration::from_mins(5);
/// The end of a device id by which the kernel names the device.
const TAIL: usize = 32;

/// Where the management partition shows its block devices.
#[derive(Clone, Debug)]
pub struct Devices {
    /// Names by id: `/dev/disk/by-id`.
    pub directory: PathBuf,
    /// Files that make the kernel look for devices: `/sys/class/scsi_host/host*/scan`.
    pub scans: Vec<PathBuf>,
    /// Between two looks.
    pub interval: Duration,
}

/// A disk that the management partition is shown for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loan {
    /// The id of the management partition.
    pub(super) management: PartitionId,
    pub(super) backing: Backing,
}

impl Loan {
    pub(super) async fn give(&self, host: &Host) -> Result<(), Error> {
        let Backing { vios, storage, tag } = self.backing.clone();
        let change = Change::Map { partition: self.management.clone(), storage, tag, slot: None };
        host.change([(vios, vec![change])].into()).await.map(drop)
    }

    pub(super) async fn take_back(&self, host: &Host) -> Result<(), Error> {
        let storage = Some(self.backing.storage.clone());
        let change = Change::Unmap { partition: self.management.clone(), storage };
        host.change([(self.backing.vios.clone(), vec![change])].into()).await.map(drop)
    }
}

/// Copies the first disk of a partition, which should be off, into a file. Works on the management partition only.
pub async fn snapshot(
    host: &Arc<Host>,
    id: &PartitionId,
    devices: &Devices,
    into: &Path,
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("snapshot of partition {id}");
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    let missing = |what: &str| Error::Missing { what: what.to_owned(), host: host.label() };
    let shown = host.shown_to(id).await.map_err(refused)?;
    let first = shown.into_iter().find(|backing| matches!(backing.storage, Storage::LogicalUnit(_)));
    let backing = first.ok_or_else(|| refused(missing("disk in a shared storage pool that the partition is shown")))?;
    let Storage::LogicalUnit(device) = backing.storage.clone() else {
        return Err(refused(missing("disk")));
    };
    let path = host.management().await.map_err(refused)?;
    let management = path.to_string().rsplit('/').next().and_then(|id| id.parse().ok());
    let management = management.ok_or_else(|| refused(missing("management partition")))?;
    let object = Object::Loan(Loan { management, backing });
    let title = format!("disk of partition {id}, shown to the management partition");
    let step = Desired { host: host.name().to_owned(), object }.step("loan", "mappings", title, Vec::new(), TIMEOUT);
    let binder = Binder::new([Arc::clone(host)]);
    let work = copy(host, devices, &device, into);
    let operation = Operation { kind: Kind::Snapshot, what: what.clone(), partition: id, run };
    operation.during(vec![step], &binder, work).await?.map_err(refused)
}

/// Waits for the device and copies it.
async fn copy(host: &Host, devices: &Devices, device: &str, into: &Path) -> Result<(), Error> {
    let tail: String = device.chars().skip(device.len().saturating_sub(TAIL)).collect();
    let unreadable =
        |path: &Path, source| host.failed("copying a disk", crate::Error::File { path: path.to_owned(), source });
    let deadline = tokio::time::Instant::now() + APPEARANCE;
    let found = loop {
        for scan in &devices.scans {
            // A bus that cannot be scanned has nothing new.
            #[expect(clippy::disallowed_methods, reason = "a request to the kernel, not a file")]
            let _scanned = tokio::fs::write(scan, "- - -").await;
        }
        if let Some(found) = look(&devices.directory, &tail).await {
            break found;
        }
        if tokio::time::Instant::now() >= deadline {
            let what = format!("device whose name ends with {tail} in {}", devices.directory.display());
            return Err(Error::Missing { what, host: host.label() });
        }
        tokio::time::sleep(devices.interval).await;
    };
    let mut source = tokio::fs::File::open(&found).await.map_err(|error| unreadable(&found, error))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is stored below, and whoever asked for it knows it is whole only then"
    )]
    let mut target = tokio::fs::File::create(into).await.map_err(|error| unreadable(into, error))?;
    tokio::io::copy(&mut source, &mut target).await.map_err(|error| unreadable(into, error))?;
    target.sync_all().await.map_err(|error| unreadable(into, error))
}

async fn look(directory: &Path, tail: &str) -> Option<PathBuf> {
    let mut entries = tokio::fs::read_dir(directory).await.ok()?;
    while let Ok(Some(entry)) = entries.next_entry().await {
        if entry.file_name().to_string_lossy().ends_with(tail) {
            return Some(entry.path());
        }
    }
    None
}
