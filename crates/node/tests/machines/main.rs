//! Machines in network namespaces of their own, with the real `landfall-node` and the real programs that it runs.
//!
//! Needs root. Without it the tests say so and do nothing.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that panics or prints says where and why")]

mod failover;
mod faults;
mod files;
mod join;
mod masters;
mod names;
mod network;
mod outage;
mod reference;
mod segment;
