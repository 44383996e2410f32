//! Moving a partition while it runs.
//!
//! ```text
//! Fibre Channel ports chosen ─────────────┐
//! volumes known to the target ────────────┤
//! source's SSH key known to the target ───┤
//! config drive taken out, console closed ─┴─► moved
//! ```

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::{StepId, StepSpec};
use serde::{Deserialize, Serialize};

use super::{Berth, checks, fibre};
use crate::client::{JobLimits, Parameter};
use crate::compute::{
    Backing, Error, Host, Mac, Nic, OperationError, PartitionId, Run, Volume, eject_config_drive,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Object, Trusted, close_console},
    volume::VolumeSpec,
};

/// How much longer than other jobs a migration may take: memory has to be copied, again and again while it changes.
const PATIENCE: u32 = 4;
const TIMEOUT: Duration = Duration::from_hours(3);
/// The step that makes the source's key known.
pub(super) const KEY: &str = "key";
/// What an override of a check is called.
const OVERRIDE: &str = "2";

/// How the source reaches the target's NovaLink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its address.
    pub address: String,
    /// The user whose key is authorised there.
    pub user: String,
}

/// A partition that is on another server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::compute) struct Move {
    pub(in crate::compute) partition: PartitionId,
    pub(in crate::compute) target: String,
    pub(in crate::compute) peer: Option<Peer>,
    /// The VLANs that adapters have there, if they are not those that they have here.
    #[serde(default)]
    pub(in crate::compute) vlans: Vec<(Mac, u16)>,
    /// Where virtual Fibre Channel ports go.
    #[serde(default)]
    pub(in crate::compute) fibre: Vec<Berth>,
    /// What the source still has when the partition is gone, so that whoever goes on with this finds it.
    #[serde(default)]
    pub(in crate::compute) behind: Behind,
}

/// What a partition leaves on the server that it has moved from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::compute) struct Behind {
    /// Volumes that VIOSes know.
    pub(in crate::compute) disks: Vec<Backing>,
    /// Adapters whose other ends are on the management partition.
    pub(in crate::compute) nics: Vec<Nic>,
}

/// Moves a partition to another server while it runs. If that fails, it runs on where it was.
///
/// `fabrics` are the world-wide names of the physical ports on each fabric, of both servers: virtual Fibre Channel ports go to one on
/// the same fabric.
pub async fn live_migrate(
    source: &Arc<Host>,
    target: &Arc<Host>,
    id: &PartitionId,
    volumes: &[Volume],
    fabrics: &[Vec<String>],
    peer: Option<&Peer>,
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("migration of partition {id} to {}", target.name());
    let refused = |error: Error| OperationError::Refused { what: what.clone(), source: error };
    let operation = Operation { kind: Kind::LiveMigration, what: what.clone(), partition: id, run };
    let begun = operation.begun().await?;
    let moving = begun.objects().filter(|_| !begun.finished).find_map(|desired| match desired.object {
        Object::Moved(moved) => Some(moved),
        _ => None,
    });
    // A run that goes on may find that the partition moves, or has moved, which is what was wanted.
    let has_moved = moving.is_some() || target.partition(id).await.map_err(refused)?.is_some();
    if !has_moved {
        checks::live(source, target, id).await.map_err(refused)?;
    }
    let fibre = match moving {
        Some(moving) => moving.fibre,
        None if has_moved => Vec::new(),
        None => fibre::found(source, target, id, fabrics).await.map_err(refused)?,
    };
    let key = public_key(source).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(source), Arc::clone(target)]);
    let moved = Move {
        partition: id.clone(),
        target: target.name().to_owned(),
        peer: peer.cloned(),
        vlans: Vec::new(),
        fibre,
        behind: Behind::default(),
    };
    operation.apply(steps(source, target, moved, volumes, key), &binder).await.map(drop)
}

/// The SSH key by which a server's console connects to others, if it has one.
pub async fn public_key(host: &Host) -> Result<Option<String>, Error> {
    host.client().public_key().await.map_err(|error| host.failed("reading the SSH key of the console", error))
}

fn steps(source: &Host, target: &Host, moved: Move, volumes: &[Volume], key: Option<String>) -> Vec<StepSpec> {
    let id = &moved.partition;
    let step = |host: &Host, name: &str, kind: &str, title: String, needs: Vec<StepId>, object| {
        Desired { host: host.name().to_owned(), object }.step(name, kind, title, needs, TIMEOUT)
    };
    let mut steps = Vec::new();
    let mut needs: Vec<StepId> = Vec::new();
    for volume in volumes {
        let name = format!("volume/{}", volume.id);
        needs.push(name.as_str().into());
        let object = Object::Volume(VolumeSpec { partition: id.clone(), volume: volume.clone() });
        let title = format!("volume {} on {}", volume.id, target.name());
        steps.push(step(target, &name, "volume", title, Vec::new(), object));
    }
    if let Some(key) = key {
        needs.push(KEY.into());
        let title = format!("SSH key of {} at {}", source.name(), target.name());
        steps.push(step(target, KEY, "key", title, Vec::new(), Object::Trusted(Trusted { key })));
    }
    let title = format!("partition {id} on {}", target.name());
    steps.push(step(source, "moved", "migration", title, needs, Object::Moved(moved)));
    steps
}

impl Move {
    /// Moves the partition, unless it is gone from the source: then it has moved.
    pub(in crate::compute) async fn perform(&self, source: &Host) -> Result<(), Error> {
        self.follow(source).await?;
        if source.partition(&self.partition).await?.is_none() {
            return Ok(());
        }
        eject_config_drive(source, &self.partition).await?;
        // Whether one is open cannot be asked.
        close_console(source, &self.partition).await;
        let vlans: Vec<String> = self.vlans.iter().map(|(mac, vlan)| format!("{}/{vlan}", mac.as_str())).collect();
        let vlans = vlans.join(",");
        let mut parameters = vec![
            ("TargetManagedSystemName", Parameter::Text(&self.target)),
            ("VLANBridgeOverride", Parameter::Text(OVERRIDE)),
        ];
        if !vlans.is_empty() {
            parameters.push(("VlanMappings", Parameter::Text(&vlans)));
            parameters.push(("OVSOverride", Parameter::Text(OVERRIDE)));
        }
        let ports = match self.fibre.as_slice() {
            [] => String::new(),
            berths => fibre::words(source, &self.partition, &source.read_mappings().await?, berths)?.join(","),
        };
        if !ports.is_empty() {
            parameters.push(("VirtualFCMappings", Parameter::Text(&ports)));
        }
        if let Some(peer) = &self.peer {
            parameters.push(("TargetRemoteHMCIPAddress", Parameter::Text(&peer.address)));
            parameters.push(("TargetRemoteHMCUserID", Parameter::Text(&peer.user)));
        }
        let limits = limits(source);
        let path = Host::path(&self.partition);
        let Err(error) = source.client().run_job(&path, "Migrate", &parameters, limits).await else { return Ok(()) };
        if matches!(error, crate::Error::JobTimeout { .. }) {
            // It fails if the migration has ended meanwhile, one way or the other.
            let _ended = abort_migration(source, &self.partition).await;
        }
        self.settle(source).await?;
        match source.partition(&self.partition).await? {
            Some(_) => Err(source.failed(format!("migrating partition {} to {}", self.partition, self.target), error)),
            None => Ok(()),
        }
    }

    /// Waits for a migration that a run before this one has begun. One that does not end is stopped.
    async fn follow(&self, source: &Host) -> Result<(), Error> {
        let deadline = tokio::time::Instant::now() + limits(source).timeout;
        while is_migrating(source, &self.partition).await? {
            if tokio::time::Instant::now() >= deadline {
                let _ended = abort_migration(source, &self.partition).await;
                return self.settle(source).await;
            }
            tokio::time::sleep(source.jobs().interval).await;
        }
        Ok(())
    }

    /// Undoes a move that has not ended. One that has cannot be undone: the partition runs on the target, with what it needs there.
    pub(in crate::compute) async fn undo(&self, source: &Host) -> Result<(), Error> {
        if is_migrating(source, &self.partition).await? {
            // It may be under way, with nobody who waits for it, or have failed: then this fails too.
            let _ended = abort_migration(source, &self.partition).await;
        }
        self.settle(source).await?;
        if source.partition(&self.partition).await?.is_some() {
            return Ok(());
        }
        Err(Error::Refused {
            what: format!("partition {}", self.partition),
            host: source.label(),
            done: "kept where it was",
            reason: format!("it has moved to {} meanwhile; repeat the migration to finish it", self.target),
        })
    }

    /// Brings a partition whose migration has failed back to where it runs.
    async fn settle(&self, source: &Host) -> Result<(), Error> {
        if is_migrating(source, &self.partition).await? {
            return recover_migration(source, &self.partition).await;
        }
        Ok(())
    }
}

/// How long a migration may take.
fn limits(source: &Host) -> JobLimits {
    JobLimits { timeout: source.jobs().timeout * PATIENCE, ..source.jobs() }
}

async fn is_migrating(source: &Host, id: &PartitionId) -> Result<bool, Error> {
    let state = source.client().partition_state(id.as_str()).await;
    let state = state.map_err(|error| source.failed("reading the state of a partition that was to move", error))?;
    Ok(state.is_some_and(|state| state.starts_with("migrating")))
}

/// Stops a migration that is under way; the partition runs on where it was. That none is under way is as good.
pub async fn abort_migration(host: &Host, id: &PartitionId) -> Result<(), Error> {
    match host.client().run_job(&Host::path(id), "MigrateAbort", &[], host.jobs()).await {
        Err(error) if !is_over(host, id, &error).await? => {
            Err(host.failed(format!("stopping the migration of partition {id}"), error))
        }
        _ => Ok(()),
    }
}

/// Whether a job has failed because the migration has ended, one way or the other.
async fn is_over(host: &Host, id: &PartitionId, error: &crate::Error) -> Result<bool, Error> {
    Ok(matches!(error, crate::Error::Job { .. }) && !is_migrating(host, id).await?)
}

/// Brings a partition back whose migration has failed on the way. That none has is as good.
pub async fn recover_migration(host: &Host, id: &PartitionId) -> Result<(), Error> {
    let parameters = [("Force", Parameter::Text("true"))];
    match host.client().run_job(&Host::path(id), "MigrateRecover", &parameters, host.jobs()).await {
        Err(error) if !is_over(host, id, &error).await? => {
            Err(host.failed(format!("recovering the migration of partition {id}"), error))
        }
        _ => Ok(()),
    }
}
