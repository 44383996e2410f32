//! What all simulators share.

pub mod body;
mod connection;
pub mod guest;
mod identity;
mod server;
mod simulation;

pub use connection::Hangup;
pub use identity::{Identity, IdentityError};
pub use server::{Limits, Reply, Server, Service};
pub use simulation::{Injection, Instant, Request, Response, Simulation};
