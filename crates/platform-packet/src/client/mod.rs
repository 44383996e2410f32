//! The REST API, one file per resource.

mod address;
mod bgp;
mod catalogue;
mod device;
mod hardware;
mod network;
mod project;
mod session;
mod ssh_key;

pub use address::{Assignment, Block};
pub use bgp::BgpConfig;
pub use catalogue::{Capacity, Plan};
pub use device::{Address, Coded, Device, DeviceState, Port};
pub use hardware::Reservation;
pub use network::VirtualNetwork;
pub use project::{Organization, Project};
pub use session::{Client, Reference};
pub use ssh_key::SshKey;
