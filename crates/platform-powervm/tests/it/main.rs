//! The client against simulated hosts, and the XML tree against everything.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "a test that panics says where and why")]

mod calls;
mod compute;
mod faults;
mod jobs;
mod recorded;
mod scene;
mod tree;
mod uploads;
