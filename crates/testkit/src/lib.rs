//! What tests of several crates share. A dev-dependency only.
//!
//! A platform crate implements [`Fixture`] over its simulator and puts its plan through the generic suites:
//! [`repeat_every_step`], [`fail_at_every_step`], [`kill_at_every_step`], [`kill_every_removal`], [`survive_strangers`].

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]

mod control_plane;
mod etcd_cluster;
mod fixture;
mod https;
mod interrupt;
pub mod named;
pub mod object_store;
pub mod ovirt_engine;
pub mod patience;
pub mod ports;
mod relay;
mod scripted;
pub mod seed;
pub mod shared_planes;
mod strangers;
mod suites;
pub mod tier;
mod web_server;

pub use control_plane::{ControlPlane, certificate_request};
pub use etcd_cluster::EtcdCluster;
pub use fixture::{Fixture, World};
pub use https::{Authority, HttpsServer};
pub use scripted::{ScriptedPrompter, ScriptedSurvey, Step, hold_survey};
pub use strangers::{BeforeCall, Deed, Haunted, Thing, survive_strangers};
pub use suites::{fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};
pub use web_server::WebServer;
