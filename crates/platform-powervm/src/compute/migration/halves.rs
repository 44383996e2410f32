//! A migration in two halves, for programs that reach one of the servers each.
//!
//! ```text
//! target: Fibre Channel ports chosen, volumes known, VLANs bridged, links to Open vSwitch made
//!     ─► source: moved ─► what the source still has of it goes
//! ```

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use landfall_engine::Event;
use landfall_platform::{StepId, StepSpec};
use serde::{Deserialize, Serialize};

use super::{
    Berth, ComingPort, Move, Peer, checks, fibre,
    live::{Behind, KEY},
};
use crate::compute::{
    Error, Host, Mac, Nic, OperationError, PartitionId, Run, Volume,
    network::{self, NicsSpec},
    operation::{Begun, Kind, Operation},
    steps::{Binder, Desired, Object, Trusted},
    volume::{self, VolumeSpec},
};

const TIMEOUT: Duration = Duration::from_hours(3);
const LINKS: &str = "links";
const MOVED: &str = "moved";
/// How often it is tried to remove what a partition that has moved has left.
const ATTEMPTS: u32 = 3;

/// What the source has to know about the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The name of the server.
    pub name: String,
    /// What memory comes in multiples of there.
    pub memory_region_mib: u64,
    /// Modes that partitions can run in there.
    pub processor_modes: Vec<String>,
    /// How its NovaLink is reached.
    pub peer: Option<Peer>,
    /// The VLANs that links to its Open vSwitch have there, by the adapters that they end at.
    pub vlans: Vec<(Mac, u16)>,
    /// Where the partition's virtual Fibre Channel ports go, all of them.
    #[serde(default)]
    pub fibre: Vec<Berth>,
}

/// What was prepared on a server, for the one that the partition comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prepared {
    /// The VLANs of links to Open vSwitch.
    pub vlans: Vec<(Mac, u16)>,
    /// Where virtual Fibre Channel ports go.
    pub fibre: Vec<Berth>,
}

/// Prepares a server for a partition that comes to it while it runs: there are ports for its virtual Fibre Channel ports, its VIOSes
/// find the volumes, its networks are ready, and its console lets in that of the source, whose [`public_key`](super::public_key) it
/// is. [`unwind`](crate::compute::unwind) undoes it, by the journal, if the partition does not come.
pub async fn await_arrival(
    target: &Arc<Host>,
    id: &PartitionId,
    volumes: &[Volume],
    nics: &[Nic],
    ports: &[ComingPort],
    key: Option<&str>,
    run: &Run,
) -> Result<Prepared, OperationError> {
    let what = format!("arrival of partition {id} on {}", target.name());
    let refused = |error: Error| OperationError::Refused { what: what.clone(), source: error };
    // A choice changes nothing, so there is nothing to undo.
    let fibre = fibre::berths(target, ports).await.map_err(refused)?;
    let mut steps = Vec::new();
    for volume in volumes {
        let object = Object::Volume(VolumeSpec { partition: id.clone(), volume: volume.clone() });
        let title = format!("volume {} on {}", volume.id, target.name());
        steps.push(step(target, format!("volume/{}", volume.id).as_str(), "volume", title, object));
    }
    if let Some(key) = key {
        let object = Object::Trusted(Trusted { key: key.to_owned() });
        steps.push(step(target, KEY, "key", format!("SSH key at {}", target.name()), object));
    }
    let object = Object::Links(NicsSpec::of(id, nics.to_vec()));
    steps.push(step(target, LINKS, "network-adapters", format!("networks on {}", target.name()), object));
    let binder = Binder::new([Arc::clone(target)]);
    let operation = Operation { kind: Kind::Arrival, what: what.clone(), partition: id, run };
    let outputs = operation.apply(steps, &binder).await?;
    let vlans = outputs.get(&LINKS.into()).and_then(|outputs| outputs.get("vlans")).unwrap_or_default();
    Ok(Prepared { vlans, fibre })
}

/// The partition has come: what it needs of the server's networks is still there, or is there again.
pub async fn settle_arrival(target: &Host, id: &PartitionId) -> Result<(), Error> {
    network::settle(target, id).await
}

/// Whether a partition could leave its server while it runs, or why not.
pub async fn check_departure(source: &Host, id: &PartitionId) -> Result<(), Error> {
    checks::departure(source, id).await.map(drop)
}

/// Moves a partition to another server, which is prepared for it, while it runs. If that fails, it runs on where it was. By the journal
/// of a run that was cut off this goes on with what that one has begun. Whoever keeps the journal when this is done can find out by
/// [`end_departure`] that the partition has moved.
pub async fn depart(
    source: &Arc<Host>,
    id: &PartitionId,
    destination: &Destination,
    run: &Run,
) -> Result<(), OperationError> {
    let operation = departure(id, &destination.name, run);
    let refused = |error: Error| OperationError::Refused { what: operation.what.clone(), source: error };
    let begun = operation.begun().await?;
    let moved = match moved(&begun).filter(|_| !begun.finished) {
        Some(moved) if moved.target == destination.name => moved,
        Some(moved) => {
            let whom = format!("a migration to {} that is not finished", moved.target);
            return Err(refused(Error::Busy { what: format!("partition {id}"), host: source.label(), whom }));
        }
        None => departing(source, id, destination).await.map_err(refused)?,
    };
    let steps = vec![step(source, MOVED, "migration", operation.what.clone(), Object::Moved(moved.clone()))];
    let binder = Binder::new([Arc::clone(source)]);
    if let Err(error) = operation.apply(steps, &binder).await
        && source.partition(id).await.map_err(refused)?.is_some()
    {
        return Err(error);
    }
    leave(source, &moved, run).await;
    Ok(())
}

/// What became of a migration whose program is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It is stopped, or had not begun: the partition runs where it was.
    Stays,
    /// It had come to its end. Nothing of the partition is left here.
    Gone {
        /// The name of the server that it has moved to.
        target: String,
    },
}

/// Makes an end of a migration that a program which is gone has begun, by its journal. One that is under way is stopped; one that has
/// come to its end cannot be undone, and is finished.
pub async fn end_departure(source: &Arc<Host>, id: &PartitionId, run: &Run) -> Result<Departure, OperationError> {
    let operation = departure(id, "another server", run);
    let refused = |error: Error| OperationError::Refused { what: operation.what.clone(), source: error };
    let Some(moved) = moved(&operation.begun().await?) else { return Ok(Departure::Stays) };
    let Err(error) = operation.undo(&Binder::new([Arc::clone(source)])).await else { return Ok(Departure::Stays) };
    if source.partition(id).await.map_err(refused)?.is_some() {
        return Err(error);
    }
    leave(source, &moved, run).await;
    Ok(Departure::Gone { target: moved.target })
}

fn departure<'a>(id: &'a PartitionId, target: &str, run: &'a Run) -> Operation<'a> {
    let what = format!("migration of partition {id} to {target}");
    Operation { kind: Kind::LiveMigration, what, partition: id, run }
}

/// The move that a journal knows of.
fn moved(begun: &Begun) -> Option<Move> {
    begun.objects().find_map(|desired| match desired.object {
        Object::Moved(moved) => Some(moved),
        _ => None,
    })
}

/// Removes what the source still has of a partition that runs on another server now. Whatever becomes of this, it does. Nobody looks
/// for that later, so it is tried more than once.
async fn leave(source: &Arc<Host>, moved: &Move, run: &Run) {
    let Behind { disks, nics } = &moved.behind;
    let links = NicsSpec::of(&moved.partition, nics.clone());
    for attempt in 1.. {
        let known = join_all(disks.iter().map(|disk| volume::forget(source, disk))).await;
        let ports = fibre::remove(source, &moved.partition, &moved.fibre).await;
        let left = known.into_iter().chain([network::remove(source, &links).await, ports]).find_map(Result::err);
        let Some(error) = left else { break };
        if attempt == ATTEMPTS {
            let message =
                format!("something of it remains on {}: {}", source.name(), landfall_platform::error_chain(&error));
            run.options.events.event(&Event::Progress { step: MOVED.into(), message });
            break;
        }
        tokio::time::sleep(source.jobs().interval * attempt).await;
    }
}

/// What it takes to move a partition that has not begun to.
async fn departing(source: &Arc<Host>, id: &PartitionId, destination: &Destination) -> Result<Move, Error> {
    let entry = checks::departure(source, id).await?;
    checks::fits(source, &entry, id, destination)?;
    let vioses = source.read_mappings().await?;
    fibre::words(source, id, &vioses, &destination.fibre)?;
    Ok(Move {
        partition: id.clone(),
        target: destination.name.clone(),
        peer: destination.peer.clone(),
        vlans: destination.vlans.clone(),
        fibre: destination.fibre.clone(),
        behind: Behind { disks: volume::all_shown(&vioses, id), nics: network::found(source, id).await?.nics },
    })
}

fn step(host: &Host, id: &str, kind: &str, title: String, object: Object) -> StepSpec {
    let id: StepId = id.into();
    Desired { host: host.name().to_owned(), object }.step(id, kind, title, Vec::new(), TIMEOUT)
}
