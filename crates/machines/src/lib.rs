//! Keeps machines as the objects of a cluster say.
//!
//! ```text
//!              ┌─ watches ─ machines, sets, checks, nodes, certificate requests ─┐
//! API server ──┤                                                                 ├─► queues ─► reconcilers ─► API server
//!              └─────────── one listing of the fleet per interval ───────────────┘                 │
//! platform  ◄──────────────────────────── operations: create, fence, delete ◄──────────────────────┘
//! ```
//!
//! Each reconciler has a pure core (`decide`, `plan`, `judge`) that says what is to be done about an object, and a shell that does it. Whatever
//! is in the process's memory may be lost at any instant: what must survive is in the objects and on the platform.

mod approval;
mod arguments;
mod cache;
mod connect;
mod controllers;
mod directory;
mod endpoint;
mod error;
mod events;
mod follow;
mod health;
mod lease;
mod machine;
mod metrics;
mod nodes;
mod objects;
mod options;
mod panic;
mod patch;
mod platforms;
mod queue;
mod serve;
mod set;
mod world;

pub use arguments::Arguments;
pub use connect::{Access, connect};
pub use controllers::run;
pub use directory::Directory;
pub use error::{ApiFailure, Error};
pub use metrics::Metrics;
pub use objects::{Machine, MachineHealthCheck, MachineSet};
pub use options::{Controllers, LeaseOptions, Options, Pace};
