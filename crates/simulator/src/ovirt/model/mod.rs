//! The entities of an engine. They hold data; what may happen to them is in `lifecycle`, what clients see in `api`.

pub(crate) mod access;
pub(crate) mod activity;
pub(crate) mod compute;
pub(crate) mod network;
pub(crate) mod storage;
pub(crate) mod template;
pub(crate) mod vm;
pub(crate) mod words;

pub(crate) use access::{Bookmark, Group, Holder, Object, Permission, Role, Tag, User};
pub(crate) use activity::{About, Event, Events, Job, Step};
pub(crate) use compute::{
    AffinityGroup, AffinityLabel, Cluster, ClusterLimit, CpuProfile, DataCenter, Host, Quota, Rule, StorageLimit,
};
pub(crate) use network::{MacPool, Network, VnicProfile, canonical_mac, format_mac};
pub(crate) use storage::{Disk, DiskProfile, StorageDomain, Transfer};
pub(crate) use template::{InstanceType, Template, Version};
pub(crate) use vm::{
    Attachment, Cdrom, Console, Device, FilterParameter, Frozen, FrozenDisk, GuestReport, Nic, NumaNode, Placement,
    Power, ReportedInterface, Snapshot, Vm,
};
pub(crate) use words::{
    Direction, DiskFormat, DiskStatus, HostStatus, JobStatus, Phase, QuotaMode, Severity, SnapshotStatus, SnapshotType,
    StorageDomainStatus, TemplateStatus, TimeoutPolicy, VmAffinity, VmStatus,
};
