//! All that Python can ask for: the table of contents of this crate.

use std::time::Duration;

use landfall_platform_powervm::compute::{Destination, Fabric, Growth, Mac, Nic, Power, Shape, Volume};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::calls::{console, disk, host, lifetime, migration, network, power, shape, snapshot, volume, watch};
use crate::connection::Session;
use crate::failure::Failure;
use crate::journal;
use crate::machine::Machine;
use crate::task::Reporter;

/// A call.
#[derive(Clone, Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Call {
    /// Connects to the server; tries again for so long if it does not answer.
    Connect { patience_seconds: u64 },
    /// Undoes what a process that died has begun.
    Recover,
    /// Ends the session.
    Close,
    /// What the server has. With a volume group, storage is that group's.
    Resources { volume_group: Option<String> },
    /// The partitions that are instances.
    List,
    /// One partition, or nothing.
    Partition { uuid: Uuid },
    /// The number of a shared processor pool.
    ProcessorPool { name: String },
    /// The adapter by which a partition is connected to the management partition, or nothing.
    ManagementNic { uuid: Uuid },
    /// World-wide names of the VIOSes' ports.
    Ports,
    /// The ids of the VIOSes.
    Vioses,
    /// Which VIOS has a volume group.
    FindVolumeGroup { name: String },
    /// Whether a pool has an image.
    HasImage { name: String },
    /// Makes a partition, or goes on with that. Unless the making is complete with this call, it is undone if no other follows.
    Spawn { machine: Machine, complete: bool },
    /// The same over disks that exist.
    Adopt { machine: Machine, complete: bool },
    /// Removes a partition, with its disks or without.
    Destroy { uuid: Uuid, with_disks: bool },
    /// Switches a partition on or off.
    Power { uuid: Uuid, wish: Power },
    /// Attaches a volume.
    AttachVolume { uuid: Uuid, volume: Volume },
    /// Detaches a volume.
    DetachVolume { uuid: Uuid, volume: Volume },
    /// Chooses ports and names for virtual Fibre Channel ports.
    AssignFibrePorts { fabrics: Vec<Vec<String>>, wanted: usize },
    /// Adds a network adapter.
    AttachNic { uuid: Uuid, nic: Nic },
    /// Takes a network adapter away.
    DetachNic { uuid: Uuid, mac: Mac },
    /// Gives a partition another shape, and larger disks.
    Resize { uuid: Uuid, shape: Shape, growths: Vec<Growth> },
    /// Prepares this server for a partition that comes from another one, whose SSH key is let in.
    Expect { uuid: Uuid, needs: migration::Needs },
    /// It has come.
    Arrived { uuid: Uuid },
    /// Those that are expected.
    Expected,
    /// It does not come.
    GiveUp { uuid: Uuid },
    /// Whether a partition could leave.
    CheckDeparture { uuid: Uuid },
    /// Moves a partition to another server, which expects it.
    Depart { uuid: Uuid, destination: Destination },
    /// Somebody knows that it has moved.
    Departed { uuid: Uuid },
    /// Stops that.
    AbortMigration { uuid: Uuid },
    /// Copies the first disk of a partition into a file.
    Snapshot { uuid: Uuid, devices: snapshot::Places, file: std::path::PathBuf },
    /// Lets viewers of consoles in at an address, or at a port that is for one partition alone, and opens the console of that.
    OpenConsole { uuid: Uuid, listen: std::net::SocketAddr, alone: bool, commands: Option<std::path::PathBuf> },
    /// Tells of instances that are switched on or off, by whomever, once they have been so for a while. Goes on until it is cancelled.
    WatchPower { settle_seconds: f64 },
}

/// The pauses between attempts of a call that has changed nothing: whoever asked waits meanwhile. Operations that have begun have more
/// patience, step by step.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
];

impl Call {
    /// Does what is asked for. What fails without having changed anything, because the server had a bad moment, is done again.
    pub(crate) async fn carry_out(
        self,
        session: &Session,
        reporter: &Reporter,
        cancel: &CancellationToken,
    ) -> Result<Value, Failure> {
        for pause in PAUSES {
            match self.clone().attempt(session, reporter, cancel).await {
                Err(failure) if failure.can_be_repeated() && !cancel.is_cancelled() => {
                    let seconds = pause.as_secs_f64();
                    reporter.say("warning", format!("will be tried again in {seconds} s: {}", failure.message()));
                }
                outcome => return outcome,
            }
            wait(pause, cancel).await;
        }
        self.attempt(session, reporter, cancel).await
    }

    async fn attempt(
        self,
        session: &Session,
        reporter: &Reporter,
        cancel: &CancellationToken,
    ) -> Result<Value, Failure> {
        match self {
            Self::Connect { patience_seconds } => host::connect(session, patience_seconds, reporter, cancel).await,
            Self::Recover => journal::recover(session, reporter, cancel).await,
            Self::Close => session.close().await.map(Value::from),
            Self::Resources { volume_group } => host::resources(session, volume_group.as_deref()).await,
            Self::List => host::list(session).await,
            Self::Partition { uuid } => host::partition(session, uuid).await,
            Self::ProcessorPool { name } => host::processor_pool(session, &name).await,
            Self::ManagementNic { uuid } => host::management_nic(session, uuid).await,
            Self::Ports => host::ports(session).await,
            Self::Vioses => host::vioses(session).await,
            Self::FindVolumeGroup { name } => disk::find_volume_group(session, &name).await,
            Self::HasImage { name } => disk::has_image(session, &name).await,
            Self::Spawn { machine, complete } => lifetime::spawn(session, machine, complete, reporter, cancel).await,
            Self::Adopt { machine, complete } => lifetime::adopt(session, machine, complete, reporter, cancel).await,
            Self::Destroy { uuid, with_disks } => lifetime::destroy(session, uuid, with_disks, reporter, cancel).await,
            Self::Power { uuid, wish } => power::power(session, uuid, wish).await,
            Self::AttachVolume { uuid, volume } => volume::attach(session, uuid, &volume, reporter, cancel).await,
            Self::DetachVolume { uuid, volume } => volume::detach(session, uuid, &volume, reporter, cancel).await,
            Self::AssignFibrePorts { fabrics, wanted } => {
                let fabrics: Vec<Fabric> = fabrics.into_iter().map(|ports| Fabric { ports, wanted }).collect();
                volume::assign_fibre_ports(session, &fabrics).await
            }
            Self::AttachNic { uuid, nic } => network::attach(session, uuid, &nic, reporter, cancel).await,
            Self::DetachNic { uuid, mac } => network::detach(session, uuid, &mac, reporter, cancel).await,
            Self::Resize { uuid, shape, growths } => {
                shape::resize(session, uuid, &shape, &growths, reporter, cancel).await
            }
            Self::Expect { uuid, needs } => migration::expect(session, uuid, &needs, reporter, cancel).await,
            Self::Arrived { uuid } => migration::arrived(session, uuid, reporter).await,
            Self::Expected => journal::expected(session),
            Self::GiveUp { uuid } => migration::give_up(session, uuid, reporter, cancel).await,
            Self::CheckDeparture { uuid } => migration::check(session, uuid).await,
            Self::Depart { uuid, destination } => {
                migration::depart(session, uuid, &destination, reporter, cancel).await
            }
            Self::Departed { uuid } => Ok(journal::departed(session, uuid)),
            Self::AbortMigration { uuid } => migration::abort(session, uuid).await,
            Self::Snapshot { uuid, devices, file } => {
                snapshot::snapshot(session, uuid, devices, &file, reporter, cancel).await
            }
            Self::OpenConsole { uuid, listen, alone, commands } => {
                console::open(session, uuid, listen, alone, commands).await
            }
            Self::WatchPower { settle_seconds } => watch::power(session, settle_seconds, reporter, cancel).await,
        }
    }
}

async fn wait(pause: Duration, cancel: &CancellationToken) {
    tokio::select! {
        () = cancel.cancelled() => {}
        () = tokio::time::sleep(pause) => {}
    }
}
