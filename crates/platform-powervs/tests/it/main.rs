//! The platform against its simulator: whole plans, faults, hard failures.

#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod failures;
mod given;
mod marks;
mod neighbours;
mod plans;
mod scene;
mod suites;
mod survey;
