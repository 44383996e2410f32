//! The closed lists of words: the enumerations of the API, each with the name that fault messages give it.

/// An enumeration: its name and its words.
type Words = (&'static str, &'static [&'static str]);

pub(crate) const ARCHITECTURE: Words =
    ("Architecture", &["undefined", "x86_64", "ppc64", "s390x", "aarch64", "loongarch64"]);
pub(crate) const AUTO_PINNING: Words = ("AutoPinningPolicy", &["disabled", "existing", "adjust"]);
pub(crate) const BIOS: Words =
    ("BiosType", &["cluster_default", "i440fx_sea_bios", "q35_sea_bios", "q35_ovmf", "q35_secure_boot"]);
pub(crate) const BOOT_PROTOCOL: Words = ("BootProtocol", &["autoconf", "dhcp", "poly_dhcp_autoconf", "static", "none"]);
pub(crate) const CLOUD_INIT_PROTOCOL: Words = ("CloudInitNetworkProtocol", &["eni", "openstack_metadata"]);
pub(crate) const CPU_MODE: Words = ("CpuMode", &["custom", "host_model", "host_passthrough"]);
pub(crate) const CPU_PINNING: Words =
    ("CpuPinningPolicy", &["none", "manual", "resize_and_pin_numa", "dedicated", "isolate_threads"]);
pub(crate) const DATA_CENTER_STATUS: Words =
    ("DataCenterStatus", &["uninitialized", "up", "maintenance", "not_operational", "problematic", "contend"]);
pub(crate) const DIRECTION: Words = ("ImageTransferDirection", &["upload", "download"]);
pub(crate) const DISK_BACKUP: Words = ("DiskBackup", &["none", "incremental"]);
pub(crate) const DISK_CONTENT: Words = (
    "DiskContentType",
    &[
        "data",
        "ovf_store",
        "memory_dump_volume",
        "memory_metadata_volume",
        "iso",
        "hosted_engine",
        "hosted_engine_sanlock",
        "hosted_engine_metadata",
        "hosted_engine_configuration",
        "backup_scratch",
    ],
);
pub(crate) const DISK_FORMAT: Words = ("DiskFormat", &["cow", "raw"]);
pub(crate) const DISK_INTERFACE: Words = ("DiskInterface", &["ide", "virtio_scsi", "virtio", "spapr_vscsi", "sata"]);
pub(crate) const DISK_STATUS: Words = ("DiskStatus", &["illegal", "locked", "ok"]);
pub(crate) const DISK_STORAGE: Words = ("DiskStorageType", &["image", "lun", "cinder", "managed_block_storage"]);
pub(crate) const DISPLAY: Words = ("DisplayType", &["vnc", "spice"]);
pub(crate) const EXTERNAL_STATUS: Words = ("ExternalStatus", &["ok", "info", "warning", "error", "failure"]);
pub(crate) const FIPS: Words = ("FipsMode", &["undefined", "disabled", "enabled"]);
pub(crate) const FIREWALL: Words = ("FirewallType", &["iptables", "firewalld"]);
pub(crate) const HOST_STATUS: Words = (
    "HostStatus",
    &[
        "down",
        "error",
        "initializing",
        "installing",
        "install_failed",
        "maintenance",
        "non_operational",
        "non_responsive",
        "preparing_for_maintenance",
        "connecting",
        "reboot",
        "unassigned",
        "up",
        "installing_os",
        "kdumping",
    ],
);
pub(crate) const HOST_TYPE: Words = ("HostType", &["rhel", "ovirt_node"]);
pub(crate) const INHERITABLE: Words = ("InheritableBoolean", &["true", "false", "inherit"]);
pub(crate) const IP_VERSION: Words = ("IpVersion", &["v4", "v6"]);
pub(crate) const JOB_STATUS: Words = ("JobStatus", &["aborted", "failed", "finished", "started", "unknown"]);
pub(crate) const LOG_THRESHOLD: Words = ("LogMaxMemoryUsedThresholdType", &["percentage", "absolute_value_in_mb"]);
pub(crate) const ON_ERROR: Words = ("MigrateOnError", &["migrate", "do_not_migrate", "migrate_highly_available"]);
pub(crate) const BANDWIDTH: Words = ("MigrationBandwidthAssignmentMethod", &["auto", "custom", "hypervisor_default"]);
pub(crate) const NETWORK_STATUS: Words = ("NetworkStatus", &["operational", "non_operational"]);
pub(crate) const NIC_INTERFACE: Words =
    ("NicInterface", &["e1000", "e1000e", "virtio", "rtl8139", "rtl8139_virtio", "spapr_vlan", "pci_passthrough"]);
pub(crate) const NIC_STATUS: Words = ("NicStatus", &["down", "up"]);
pub(crate) const NUMA_TUNE: Words = ("NumaTuneMode", &["strict", "interleave", "preferred"]);
pub(crate) const PARALLEL_MIGRATIONS: Words =
    ("ParallelMigrationsPolicy", &["inherit", "auto", "auto_parallel", "disabled", "custom"]);
pub(crate) const PASS_THROUGH: Words = ("VnicPassThroughMode", &["enabled", "disabled"]);
pub(crate) const PHASE: Words = (
    "ImageTransferPhase",
    &[
        "unknown",
        "initializing",
        "transferring",
        "resuming",
        "paused_system",
        "paused_user",
        "finalizing_success",
        "finalizing_failure",
        "finished_success",
        "finished_failure",
        "cancelled_system",
        "cancelled_user",
        "finalizing_cleanup",
        "finished_cleanup",
    ],
);
pub(crate) const PAYLOAD_DEVICE: Words = ("VmDeviceType", &["floppy", "cdrom"]);
pub(crate) const QCOW: Words = ("QcowVersion", &["qcow2_v2", "qcow2_v3"]);
pub(crate) const QUOTA_MODE: Words = ("QuotaModeType", &["enabled", "disabled", "audit"]);
pub(crate) const REPORTED_DEVICE: Words = ("ReportedDeviceType", &["network"]);
pub(crate) const RESUME: Words = ("VmStorageErrorResumeBehaviour", &["leave_paused", "auto_resume", "kill"]);
pub(crate) const RNG: Words = ("RngSource", &["random", "urandom", "hwrng"]);
pub(crate) const SCSI_GENERIC: Words = ("ScsiGenericIO", &["filtered", "unfiltered", "disabled"]);
pub(crate) const SE_LINUX: Words = ("SeLinuxMode", &["enforcing", "permissive", "disabled"]);
pub(crate) const SERIAL: Words = ("SerialNumberPolicy", &["host", "vm", "custom", "none"]);
pub(crate) const SEVERITY: Words = ("LogSeverity", &["normal", "warning", "error", "alert"]);
pub(crate) const SNAPSHOT_STATUS: Words = ("SnapshotStatus", &["ok", "locked", "in_preview"]);
pub(crate) const SNAPSHOT_TYPE: Words = ("SnapshotType", &["regular", "active", "stateless", "preview"]);
pub(crate) const SPM_STATUS: Words = ("SpmStatus", &["none", "contending", "spm"]);
pub(crate) const STATISTIC_KIND: Words = ("StatisticKind", &["counter", "gauge"]);
pub(crate) const STATISTIC_UNIT: Words = (
    "StatisticUnit",
    &["bits_per_second", "bytes", "bytes_per_second", "count_per_second", "none", "percent", "seconds"],
);
pub(crate) const STEP_TYPE: Words =
    ("StepEnum", &["validating", "executing", "finalizing", "rebalancing_volume", "removing_bricks", "unknown"]);
pub(crate) const STORAGE_DOMAIN_STATUS: Words = (
    "StorageDomainStatus",
    &[
        "active",
        "inactive",
        "locked",
        "mixed",
        "unattached",
        "maintenance",
        "preparing_for_maintenance",
        "detaching",
        "activating",
        "unknown",
    ],
);
pub(crate) const STORAGE_DOMAIN_TYPE: Words =
    ("StorageDomainType", &["data", "iso", "export", "image", "volume", "managed_block_storage"]);
pub(crate) const STORAGE_FORMAT: Words = ("StorageFormat", &["v1", "v2", "v3", "v4", "v5"]);
pub(crate) const STORAGE_TYPE: Words = (
    "StorageType",
    &["iscsi", "fcp", "nfs", "localfs", "posixfs", "glusterfs", "glance", "cinder", "managed_block_storage"],
);
pub(crate) const SWITCH: Words = ("SwitchType", &["legacy", "ovs"]);
pub(crate) const TEMPLATE_STATUS: Words = ("TemplateStatus", &["illegal", "locked", "ok"]);
pub(crate) const TIMEOUT_POLICY: Words = ("ImageTransferTimeoutPolicy", &["legacy", "pause", "cancel"]);
pub(crate) const USB: Words = ("UsbType", &["native"]);
pub(crate) const VALUE_TYPE: Words = ("ValueType", &["decimal", "integer", "string"]);
pub(crate) const VIDEO: Words = ("VideoType", &["bochs", "vga", "qxl", "cirrus"]);
pub(crate) const VM_AFFINITY: Words = ("VmAffinity", &["migratable", "user_migratable", "pinned"]);
pub(crate) const VM_STATUS: Words = (
    "VmStatus",
    &[
        "unassigned",
        "down",
        "up",
        "powering_up",
        "paused",
        "migrating",
        "unknown",
        "not_responding",
        "wait_for_launch",
        "reboot_in_progress",
        "saving_state",
        "restoring_state",
        "suspended",
        "image_locked",
        "powering_down",
    ],
);
pub(crate) const VM_TYPE: Words = ("VmType", &["desktop", "server", "high_performance"]);
pub(crate) const WATCHDOG_ACTION: Words = ("WatchdogAction", &["none", "reset", "poweroff", "pause", "dump"]);
pub(crate) const WATCHDOG_MODEL: Words = ("WatchdogModel", &["i6300esb", "diag288"]);
pub(crate) const NFS_VERSION: Words = ("NfsVersion", &["v3", "v4", "v4_0", "v4_1", "v4_2", "auto"]);
pub(crate) const POLICY_UNIT: Words = ("PolicyUnitType", &["filter", "weight", "load_balancing"]);
pub(crate) const VM_POOL_TYPE: Words = ("VmPoolType", &["automatic", "manual"]);
pub(crate) const TPM: Words = ("TpmSupport", &["unsupported", "supported", "required"]);
pub(crate) const QOS: Words = ("QosType", &["storage", "cpu", "network", "hostnetwork"]);
