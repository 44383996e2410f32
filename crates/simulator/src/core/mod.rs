//! What all simulators share.

mod admin;
mod agenda;
pub mod body;
pub mod clock;
mod connection;
pub mod faults;
mod flight;
mod front;
pub mod guest;
pub(crate) mod hex;
mod hook;
mod identity;
mod options;
pub(crate) mod percent;
mod private_file;
mod recent_calls;
mod request_counts;
mod request_log;
mod running;
mod server;
mod simulation;
mod stage;
mod state_file;
mod truncated;
mod world;

pub(crate) use agenda::Agenda;
pub use connection::Hangup;
pub use hook::{Call, Hook};
pub use identity::{Identity, IdentityError};
pub use options::{ClockMode, Options};
pub use running::Running;
pub use server::{Limits, Reply, Server, Service};
pub use simulation::{Injection, Instant, Request, Response, Simulation};
pub use stage::{Extra, Listener, Stage, StartError};
pub use state_file::StateError;
pub use world::{Ran, World};
