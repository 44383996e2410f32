//! An oVirt engine, version 4 of its REST API.
//!
//! ```text
//!  request ─► engine ─► sso, services
//!                └────► api (route ─► one file per resource) ─► state ◄─ lifecycle ◄─ agenda (what is due when)
//!                         │  ▲                                    ▲
//!             representation  search                        inventory, genesis
//! ```
//!
//! [`Engine`] is a pure [`Simulation`](crate::core::Simulation); [`start`] puts it on the shell that all simulators share,
//! with the endpoint for images ([`imageio`]) beside it.

mod admin;
mod agenda;
mod api;
mod configdrive;
mod defaults;
mod delays;
mod engine;
mod fault;
mod genesis;
mod http;
pub mod imageio;
mod inventory;
mod lifecycle;
mod messages;
mod model;
mod operating_systems;
mod options;
mod quota;
mod representation;
mod roles;
mod run;
mod scheduler;
mod search;
mod services;
mod settings;
mod sso;
mod state;
mod storage;
mod table;
#[cfg(test)]
mod tests;

pub use engine::{Certificates, Engine, RestoreError};
pub use inventory::{DEFAULT_INVENTORY, Inventory, InventoryError};
pub use options::Options;
pub use run::{Error, start};
pub use settings::{AffinityGroupAdd, Settings};
