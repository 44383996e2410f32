//! Real hosts: a machine that is switched on becomes a Debian with systemd, in a container with a network of its own.
//!
//! ```text
//! power on ─► cable to the bridge ─► disk (overlay) ─► Ignition applies the user data ─► systemd ─► the units it names
//! ```
//!
//! The user data is the platform's, unmodified. Hosts reach each other, the simulator's process and nothing else. They need
//! root, a kernel with veth, bridge and overlayfs, and what `make tools` builds; `docs/real-hosts.md` says what is real about
//! them and what is not.
//!
//! Everything carries the mark of its simulator (the name of the bridge, which follows from the network), so that it can be
//! taken away by anybody: a guardian process does when the simulator ends, however it ends, and the next one does it again.

mod admin;
mod agent;
mod cgroup;
mod disk;
mod error;
mod host;
mod mirror;
mod operating_system;
mod options;
mod prerequisites;
mod runtime;
mod site;

pub use error::RealError;
pub use options::RealOptions;
pub use runtime::RealGuests;
