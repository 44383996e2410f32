//! The same proofs on PowerVS. They have a program of their own, because an API server has one definition of machines, with the
//! provider spec of one platform.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::unwrap_used,
    clippy::default_trait_access,
    clippy::similar_names,
    clippy::too_many_lines,
    clippy::duration_suboptimal_units,
    reason = "tests"
)]

#[path = "../it/cluster.rs"]
#[allow(dead_code, reason = "shared with the other platform")]
mod cluster;
#[path = "../it/suite/mod.rs"]
#[allow(dead_code, reason = "shared with the other platform")]
mod suite;
#[path = "../it/worlds/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the other platform")]
mod worlds;

suite!(powervs, crate::worlds::Powervs);
