//! The platform against its simulator: whole plans, faults, hard failures.

#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod failures;
mod fields;
mod scene;
mod suites;
mod survey;
