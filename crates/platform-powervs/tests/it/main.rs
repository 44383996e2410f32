//! The platform against its simulator: whole plans, faults, hard failures.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod failures;
mod given;
mod marks;
mod names;
mod neighbours;
mod plans;
mod scene;
mod strangers;
mod suites;
mod survey;
mod user_data;
