//! Enumerations with the words that the API has for them.

/// Declares an enumeration whose variants are words of the API: written, read and stored as those words.
macro_rules! words {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $word:literal ),+ $(,)? } )+) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub(crate) enum $name { $( $(#[$vmeta])* #[serde(rename = $word)] $variant ),+ }

        impl $name {
            /// All of them, in the order of their declaration.
            #[allow(dead_code, reason = "not every enumeration is walked")]
            pub(crate) const ALL: &'static [Self] = &[ $( Self::$variant ),+ ];

            /// The word of the API.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }

            /// The variant that has that word.
            #[allow(dead_code, reason = "some are only ever written")]
            pub(crate) fn parse(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$variant), )+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    )+ };
}

words! {
    /// Where a VM is in its life. See [`crate::ovirt::lifecycle::vm`] for how it moves.
    VmStatus {
        Unassigned = "unassigned",
        Down = "down",
        Up = "up",
        PoweringUp = "powering_up",
        Paused = "paused",
        Migrating = "migrating",
        Unknown = "unknown",
        NotResponding = "not_responding",
        WaitForLaunch = "wait_for_launch",
        RebootInProgress = "reboot_in_progress",
        SavingState = "saving_state",
        RestoringState = "restoring_state",
        Suspended = "suspended",
        ImageLocked = "image_locked",
        PoweringDown = "powering_down",
    }
    /// Whether a disk can be used.
    DiskStatus { Illegal = "illegal", Locked = "locked", Ok = "ok" }
    /// Whether a template can be used.
    TemplateStatus { Illegal = "illegal", Locked = "locked", Ok = "ok" }
    /// Whether a snapshot can be used.
    SnapshotStatus { Ok = "ok", Locked = "locked", InPreview = "in_preview" }
    /// What kind of point in time a snapshot is; every VM has one that is `active`.
    SnapshotType { Regular = "regular", Active = "active" }
    /// How bytes are stored.
    DiskFormat { Cow = "cow", Raw = "raw" }
    /// Where a host is in its life.
    HostStatus {
        Down = "down",
        Maintenance = "maintenance",
        NonOperational = "non_operational",
        NonResponsive = "non_responsive",
        PreparingForMaintenance = "preparing_for_maintenance",
        Unassigned = "unassigned",
        Up = "up",
    }
    /// Whether a storage domain serves its data centre.
    StorageDomainStatus {
        Active = "active",
        Inactive = "inactive",
        Maintenance = "maintenance",
        Unattached = "unattached",
    }
    /// Whether a data centre's quotas are enforced.
    QuotaMode { Enabled = "enabled", Disabled = "disabled", Audit = "audit" }
    /// How a job or a step ended, or that it has not.
    JobStatus { Started = "started", Finished = "finished", Failed = "failed" }
    /// How grave an event is.
    Severity { Normal = "normal", Warning = "warning", Error = "error", Alert = "alert" }
    /// Which way the bytes of a transfer go.
    Direction { Upload = "upload", Download = "download" }
    /// What happens to a transfer that nobody uses.
    TimeoutPolicy { Legacy = "legacy", Pause = "pause", Cancel = "cancel" }
    /// Where a transfer is in its life. See [`crate::ovirt::lifecycle::transfer`] for how it moves.
    Phase {
        Initializing = "initializing",
        Transferring = "transferring",
        Resuming = "resuming",
        PausedSystem = "paused_system",
        PausedUser = "paused_user",
        FinalizingSuccess = "finalizing_success",
        FinalizingFailure = "finalizing_failure",
        FinishedSuccess = "finished_success",
        FinishedFailure = "finished_failure",
        CancelledSystem = "cancelled_system",
        CancelledUser = "cancelled_user",
        FinalizingCleanup = "finalizing_cleanup",
        FinishedCleanup = "finished_cleanup",
    }
    /// Where a VM may run and who may move it.
    VmAffinity { Migratable = "migratable", UserMigratable = "user_migratable", Pinned = "pinned" }
}
