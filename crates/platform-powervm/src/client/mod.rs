//! The REST API of NovaLink and of the HMC. One file per resource.
//!
//! Objects come as Atom entries with XML in them. Those that are only read become plain structs; those that are changed are read,
//! edited and sent back as a whole ([`Client::edit`]), and keep all that this program does not know.

mod address;
mod atom;
mod cluster;
mod edit;
mod event;
mod file;
mod job;
mod logical_partition;
mod managed_system;
mod management_console;
mod network;
mod path;
mod quick;
mod session;
mod virtual_io_server;
mod volume_group;

pub use address::ConsoleUrl;
pub use atom::Entry;
pub(crate) use atom::linked_id;
pub use cluster::{Cluster, LogicalUnit, LogicalUnitSpec, Node, SharedStoragePool, Tier};
pub use edit::Edit;
pub use event::{Event, Events};
pub use file::{Before, FileKind, Source, Upload, Uploaded};
pub use job::{JobLimits, Parameter};
pub use logical_partition::{LogicalPartition, LogicalPartitionSpec};
pub(crate) use logical_partition::{partition_id, record, settled};
pub use managed_system::ManagedSystem;
pub use network::{ClientNetworkAdapter, ClientNetworkAdapterSpec, NetworkBridge, VirtualNetwork, VirtualSwitch};
pub use path::{Group, Path};
pub use session::{Client, Dialect, Login};
pub use virtual_io_server::{ScsiMapping, Storage, VirtualIoServer};
pub use volume_group::{OpticalMedium, VirtualDisk, VolumeGroup};

/// The namespace of managed objects.
pub(crate) const UOM: &str = "http://www.ibm.com/xmlns/systems/power/firmware/uom/mc/2012_10/";
/// The namespace of what belongs to the service itself.
const WEB: &str = "http://www.ibm.com/xmlns/systems/power/firmware/web/mc/2012_10/";
