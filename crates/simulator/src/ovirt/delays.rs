//! How long things take. This is the one table; the clock scales all of it, and `slow state changes` stretches single
//! calls.
//!
//! The figures are of the order that a small engine on NFS shows: its host poll is every 3 s and its task poll every 10 s,
//! so hardly anything that involves a host or storage is seen to finish sooner than in a few seconds.

use std::time::Duration;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A VM until its process runs on the host: `wait_for_launch` → `powering_up`.
pub(crate) const VM_LAUNCH: Duration = secs(3);
/// A VM whose guest agent is silent until it counts as running: `powering_up` → `up`.
pub(crate) const VM_UP_WITHOUT_AGENT: Duration = secs(60);
/// A VM whose plug was pulled until it is off: `powering_down` → `down`.
pub(crate) const VM_STOP: Duration = secs(2);
/// A guest that was asked to shut down and does not until the engine gives up: `powering_down` → `up`.
pub(crate) const VM_SHUTDOWN_IGNORED: Duration = secs(300);
/// A guest that reboots and says nothing until it counts as running again: `reboot_in_progress` → `up`.
pub(crate) const VM_REBOOT: Duration = secs(60);
/// Writing a VM's memory to storage: `saving_state` → `suspended`.
pub(crate) const VM_SUSPEND: Duration = secs(15);
/// Reading it back: `restoring_state` → `up`.
pub(crate) const VM_RESUME: Duration = secs(10);
/// Moving a running VM to another host: `migrating` → `up`.
pub(crate) const VM_MIGRATE: Duration = secs(20);

/// Making a VM on top of a template's disks.
pub(crate) const VM_CREATE_THIN: Duration = secs(6);
/// Removing a VM with its disks.
pub(crate) const VM_REMOVE: Duration = secs(5);
/// Making a disk that allocates nothing in advance.
pub(crate) const DISK_CREATE: Duration = secs(4);
/// Removing a disk.
pub(crate) const DISK_REMOVE: Duration = secs(3);
/// Changing the size of a disk.
pub(crate) const DISK_RESIZE: Duration = secs(4);
/// Giving unused blocks back to the storage.
pub(crate) const DISK_SPARSIFY: Duration = secs(15);
/// The fixed part of any copy of an image.
pub(crate) const COPY_SETUP: Duration = secs(10);
/// The part of a copy that depends on the size: a copied GiB, at 200 MiB/s.
pub(crate) const COPY_PER_GIB: Duration = secs(5);
/// Allocating space in advance: a GiB, at 500 MiB/s.
pub(crate) const ALLOCATE_PER_GIB: Duration = secs(2);
/// Removing a template.
pub(crate) const TEMPLATE_REMOVE: Duration = secs(5);
/// Taking a snapshot without memory.
pub(crate) const SNAPSHOT_CREATE: Duration = secs(6);
/// Merging a snapshot away.
pub(crate) const SNAPSHOT_REMOVE: Duration = secs(12);
/// Going back to a snapshot.
pub(crate) const SNAPSHOT_RESTORE: Duration = secs(8);

/// A transfer that is resumed, or begun on a slow engine, until its ticket is with a host: `resuming` or `initializing` →
/// `transferring`.
pub(crate) const TRANSFER_SETUP: Duration = secs(4);
/// Verifying an image after the transfer: `finalizing_success` → `finished_success`.
pub(crate) const TRANSFER_FINALIZE: Duration = secs(5);
/// Cleaning up after a transfer that was cancelled: `cancelled_…` → `finalizing_…` → `finished_…`.
pub(crate) const TRANSFER_CLEANUP: Duration = secs(4);
/// A finished transfer stays visible.
pub(crate) const TRANSFER_KEPT: Duration = secs(15 * 60);
/// A failed or cancelled transfer stays visible.
pub(crate) const FAILED_TRANSFER_KEPT: Duration = secs(30 * 60);

/// A job ends after the entity it works on is released: clients that look only at the entity may be early.
pub(crate) const JOB_LAG: Duration = secs(1);
/// A finished job stays visible.
pub(crate) const JOB_KEPT: Duration = secs(10 * 60);
/// A failed job stays visible.
pub(crate) const FAILED_JOB_KEPT: Duration = secs(60 * 60);

/// A host until it is in maintenance after its last VM left, or up again after activation.
pub(crate) const HOST_CHANGE: Duration = secs(5);
/// Between two looks for VMs that break an affinity rule.
pub(crate) const AFFINITY_ENFORCEMENT: Duration = secs(60);

/// How long a token is good for after it was issued.
pub(crate) const TOKEN_LIFETIME: Duration = secs(360_000);
/// How long a session lives without a request.
pub(crate) const SESSION_IDLE: Duration = secs(30 * 60);

const GIB: u64 = 1 << 30;

/// The time to copy that many bytes.
pub(crate) fn copying(bytes: u64) -> Duration {
    COPY_SETUP + per_gib(COPY_PER_GIB, bytes)
}

/// The time to make a disk, of which that many bytes are allocated in advance.
pub(crate) fn allocating(bytes: u64) -> Duration {
    DISK_CREATE + per_gib(ALLOCATE_PER_GIB, bytes)
}

/// Whole GiB, rounded up; an absurd size takes an absurd time, but not an overflow.
fn per_gib(each: Duration, bytes: u64) -> Duration {
    each.saturating_mul(u32::try_from(bytes.div_ceil(GIB)).unwrap_or(u32::MAX))
}
