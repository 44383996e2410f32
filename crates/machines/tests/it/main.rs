//! The controllers on a real API server and etcd, and on simulated platforms.
//!
//! The suite knows no platform: a platform joins by a world of its own in `worlds/` and one line here.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::unwrap_used,
    clippy::default_trait_access,
    clippy::similar_names,
    clippy::too_many_lines,
    clippy::duration_suboptimal_units,
    reason = "tests"
)]

mod cluster;
mod definitions;
mod suite;
#[allow(dead_code, unused_imports, reason = "each platform has a program of its own")]
mod worlds;

suite!(ovirt, crate::worlds::Ovirt);
