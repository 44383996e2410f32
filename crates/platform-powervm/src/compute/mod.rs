//! Partitions, and all that one can do with them: the part that the installer and Nova share.
//!
//! A partition is described by a [`Blueprint`], made by [`spawn`], and removed by [`destroy`]. Each operation is a plan of steps: if
//! one fails, what was begun is undone; if the program dies, the journal says how to go on.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Host`] | a server, and what operations on it share |
//! | `mapping` | what VIOSes show to partitions: one update of each VIOS for all that changes |
//! | `disk`, `config_drive`, `network`, `volume` | what is made for a partition, or attached to it |
//! | `steps` | the same, as steps that can be made and removed |
//! | `spawn`, `destroy`, `power` | the operations |

mod adopt;
mod blueprint;
mod config_drive;
mod console;
mod destroy;
mod disk;
mod document;
mod error;
mod former;
mod fresh;
mod groups;
mod host;
mod id;
mod inventory;
mod mac;
mod mapping;
mod media_repository;
mod migration;
mod network;
mod operation;
mod power;
mod rebuild;
mod recent;
mod resize;
mod scrub;
mod shared;
mod snapshot;
mod spawn;
mod steps;
mod unwind;
mod vencrypt;
mod volume;
mod watch;

pub use adopt::adopt;
pub use blueprint::{
    Blueprint, ConfigDrive, DedicatedSharing, Disk, DiskPlace, FibrePort, Image, Memory, Network, Nic, OperatingSystem,
    PartitionSpec, Processors, Range, Shape, Volume,
};
pub(crate) use config_drive::retire_config_drive;
pub use config_drive::{eject_config_drive, image as config_drive_image};
pub use console::{Consoles, Relay};
pub use destroy::{belongings, destroy};
pub use disk::Patience;
pub use error::Error;
pub use host::{Host, Vios};
pub use id::{PartitionId, PartitionIdError};
pub use inventory::{Resources, list, resources};
pub use mac::{Mac, MacError};
pub use mapping::Backing;
pub use migration::{
    Berth, ComingPort, Departure, Destination, Peer, Prepared, abort_migration, await_arrival, check_departure,
    confirm_migration, depart, end_departure, live_migrate, migrate, public_key, recover_migration, revert_migration,
    settle_arrival,
};
pub use network::{attach_nic, detach_nic};
pub use operation::{OperationError, Run};
pub use power::{Power, Start, power};
pub use rebuild::rebuild;
pub use resize::{Growth, resize};
pub use scrub::scrub;
pub use snapshot::{Devices, snapshot};
pub use spawn::{spawn, steps};
pub use steps::Binder;
pub use unwind::unwind;
pub use vencrypt::{Encryption, EncryptionError};
pub use volume::{Fabric, assign_fibre_ports, attach_fibre_ports, attach_volume, detach_fibre_ports, detach_volume};
pub use watch::{PowerNews, watch_power};
