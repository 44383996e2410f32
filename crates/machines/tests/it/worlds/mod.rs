//! Worlds: simulated platforms, as the suite sees them.

mod ovirt;
mod packet;
mod powervm;
mod powervs;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use landfall_platform::{InfraId, MachineProvider};
use serde_json::Value;

pub(crate) use ovirt::Ovirt;
pub(crate) use packet::Packet;
pub(crate) use powervm::Powervm;
pub(crate) use powervs::Powervs;

/// A simulated platform. Several tests share one, each with a cluster of its own.
#[async_trait]
pub(crate) trait World: Send + Sync + 'static {
    /// Its name, as the install-config spells it.
    const PLATFORM: &'static str;

    /// How many calls it takes to list all machines, however many there are.
    const CALLS_PER_LISTING: u64 = 1;

    /// Starts the platform.
    async fn start() -> Self
    where
        Self: Sized;

    /// What is to be proven.
    fn provider(&self) -> Arc<dyn MachineProvider>;

    /// Contents of the Secret with the credentials.
    fn credentials(&self) -> BTreeMap<String, String>;

    /// A provider spec, which refers to the Secrets `worker-user-data` and `credentials`.
    fn provider_spec(&self) -> Value;

    /// Makes what the installer would have made before there are machines.
    async fn prepare(&self, infra_id: &InfraId);

    /// Names of all instances of a cluster, as the platform itself has them: one that is there twice is in it twice.
    async fn instances(&self, infra_id: &InfraId) -> Vec<String>;

    /// Whatever else the platform has of a cluster and that must go with its machines: disks, ports.
    async fn leftovers(&self, infra_id: &InfraId) -> Vec<String>;

    /// Attaches a volume that is not the machine's own, as a CSI driver does; returns its id.
    async fn attach_volume(&self, machine: &str) -> String;

    /// Whether a volume is there.
    async fn has_volume(&self, id: &str) -> bool;

    /// Lets things go wrong from now on.
    fn trouble(&self, trouble: Trouble);

    /// Lets nothing go wrong any more.
    fn calm(&self);

    /// Requests so far.
    fn requests(&self) -> u64;

    /// Requests so far that asked for a new instance.
    fn creations(&self) -> u64;
}

/// How late creations are, where they are late.
pub(crate) const LATE: Duration = Duration::from_millis(1500);

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// Every other reply to something that changes the platform is lost.
    LostReplies,
    /// Nothing is answered.
    Outage,
    /// There is no room for another instance.
    NoRoom,
    /// A request for an instance has its effect only after [`LATE`], whether or not whoever sent it still waits.
    LateCreations,
}
