//! The platform against the simulator of its engine: whole plans, faults, neighbours.

mod engine;
mod probe;
