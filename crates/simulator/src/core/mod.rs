//! What all simulators share.

mod simulation;

pub use simulation::{Injection, Instant, Request, Response, Simulation};
