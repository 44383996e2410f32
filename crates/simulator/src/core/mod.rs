//! What all simulators share.

pub mod body;
pub mod clock;
mod connection;
pub mod faults;
pub mod guest;
mod identity;
mod server;
mod simulation;
mod world;

pub use connection::Hangup;
pub use identity::{Identity, IdentityError};
pub use server::{Limits, Reply, Server, Service};
pub use simulation::{Injection, Instant, Request, Response, Simulation};
pub use world::{Ran, World};
