//! PowerVM servers, each managed by a NovaLink partition, as its REST API shows them.
//!
//! ```text
//!  request ─► novalink ─► api (call ─► read, write, jobs, events, files) ─► state ◄─ operations ◄─ agenda
//!                             │                                              ▲
//!                         atom, schema ◄─ present                   inventory, genesis
//! ```
//!
//! Objects are kept as XML elements without adornment; `schema` knows which elements stand in which order with which
//! attributes, and `present` adds what follows from other objects. One file per kind of thing knows its laws: `partition`,
//! `network`, `bridge`, `storage`, `pool`, `scsi`, `fibre` (and `fibre_move`), `sriov`.

mod admin;
mod api;
mod atom;
mod bridge;
mod console;
mod discovery;
mod fault;
mod fibre;
mod fibre_move;
mod genesis;
mod guests;
mod ids;
mod inventory;
mod iso;
mod migration;
mod network;
mod novalink;
mod operations;
mod options;
mod partition;
mod pool;
mod present;
mod run;
mod schema;
mod scsi;
mod sriov;
mod state;
mod storage;
#[cfg(test)]
mod tests;
mod xml;

pub use inventory::{DEFAULT_INVENTORY, Inventory, InventoryError};
pub use novalink::{NovaLink, RestoreError};
pub use options::Options;
pub use run::{Error, start};
