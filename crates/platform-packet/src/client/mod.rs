//! The REST API, one file per resource.

mod address;
mod api_key;
mod bgp;
mod catalogue;
mod device;
mod hardware;
mod network;
mod project;
mod session;
mod ssh_key;

pub use address::{Assignment, Block};
pub use api_key::Rights;
pub use bgp::BgpConfig;
pub use catalogue::{Capacity, OperatingSystem, Place, Plan, Stock};
pub use device::{Address, Coded, Device, DeviceState, Port};
pub use hardware::Reservation;
pub use network::VirtualNetwork;
pub use project::{Account, Organization, Project};
pub use session::{Client, Reference};
pub use ssh_key::SshKey;
