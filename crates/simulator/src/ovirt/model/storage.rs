//! Storage domains, disks and image transfers.

use serde::{Deserialize, Serialize};

use super::words::{Direction, DiskFormat, DiskStatus, Phase, StorageDomainStatus, TimeoutPolicy};
use crate::core::Instant;
use crate::ovirt::agenda::Key;
use crate::ovirt::representation::Tree;
use crate::ovirt::table::{Id, entities};

entities!(StorageDomain, DiskProfile, Disk, Transfer);

/// A storage domain. Its space is used up by the disks on it.
#[allow(clippy::struct_excessive_bools, reason = "the flags are the API's")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StorageDomain {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    /// The data centre it is attached to.
    pub(crate) data_center: Option<Id>,
    pub(crate) kind: Box<str>,
    pub(crate) status: StorageDomainStatus,
    pub(crate) master: bool,
    /// The element `storage`: type, address and path.
    pub(crate) storage: Tree,
    pub(crate) total_bytes: u64,
    /// What the images on it occupy.
    pub(crate) used_bytes: u64,
    /// What the images on it could grow to.
    pub(crate) committed_bytes: u64,
    /// The free space below which nothing may be created on it, in bytes.
    pub(crate) blocker_bytes: u64,
    /// The free space below which a warning is due, in per cent.
    pub(crate) warning_percent: u32,
    pub(crate) wipe_after_delete: bool,
    pub(crate) discard_after_delete: bool,
    pub(crate) backup: bool,
}

impl StorageDomain {
    /// The space that is left.
    pub(crate) fn available_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.used_bytes)
    }

    /// Whether there is room for that much more.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.available_bytes() >= bytes.saturating_add(self.blocker_bytes)
    }

    /// Whether it stores images in volumes of a block device, not in files.
    pub(crate) fn is_block(&self) -> bool {
        matches!(self.storage.text("type"), Some("iscsi" | "fcp"))
    }
}

/// What a user may do with a storage domain's disks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DiskProfile {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) storage_domain: Id,
}

/// A disk. Its name is what the API calls its alias.
#[allow(clippy::struct_excessive_bools, reason = "the flags are the API's")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Disk {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) status: DiskStatus,
    pub(crate) image: Id,
    pub(crate) format: DiskFormat,
    pub(crate) sparse: bool,
    pub(crate) provisioned_bytes: u64,
    /// What the client said that it will write at first.
    pub(crate) initial_bytes: u64,
    pub(crate) actual_bytes: u64,
    /// What its snapshots occupy besides.
    pub(crate) snapshot_bytes: u64,
    /// Where its images are; a template's disk may be in several domains.
    pub(crate) storage_domains: Vec<Id>,
    pub(crate) profile: Option<Id>,
    pub(crate) quota: Option<Id>,
    pub(crate) content: Box<str>,
    pub(crate) backup: Box<str>,
    pub(crate) qcow_version: Box<str>,
    pub(crate) shareable: bool,
    pub(crate) wipe_after_delete: bool,
    pub(crate) propagate_errors: bool,
    pub(crate) created: Instant,
    /// The VMs that have it attached; more than one only if it is shareable.
    pub(crate) vms: Vec<Id>,
    /// The template that it belongs to.
    pub(crate) template: Option<Id>,
    /// The template's disk that holds what this one does not.
    pub(crate) backing: Option<Id>,
    /// What its content came from, as a guest may be told.
    pub(crate) origin: Option<Box<str>>,
}

/// A transfer of an image between a client and a disk.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) id: Id,
    /// Transfers have no name; the table wants one.
    pub(crate) name: Box<str>,
    pub(crate) disk: Id,
    pub(crate) direction: Direction,
    pub(crate) format: DiskFormat,
    pub(crate) shallow: bool,
    pub(crate) phase: Phase,
    /// The id in the URL: who knows it may read or write the image.
    pub(crate) ticket: Option<Id>,
    pub(crate) host: Id,
    pub(crate) transferred_bytes: u64,
    pub(crate) inactivity_secs: u64,
    pub(crate) timeout_policy: TimeoutPolicy,
    /// When bytes last moved.
    pub(crate) touched: Instant,
    /// Whether a connection is open that moves bytes.
    pub(crate) active: bool,
    /// What will happen to `phase` next, if anything is due.
    pub(crate) pending: Option<Key>,
    /// Whether the disk goes with a cancelled upload: it held nothing before.
    pub(crate) fresh: bool,
    pub(crate) job: Id,
}
