//! The platform against the simulator of its engine: whole plans, faults, hard failures, neighbours.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod calls;
mod failures;
mod faults;
mod inventory;
mod machines;
mod neighbours;
mod plans;
mod preflight;
mod scene;
mod strangers;
mod suites;
mod upload;
mod user_data;
