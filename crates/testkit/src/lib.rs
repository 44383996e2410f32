//! What tests of several crates share. A dev-dependency only.

mod https;
pub mod ovirt_engine;
mod scripted;

pub use https::{Authority, HttpsServer};
pub use scripted::{ScriptedPrompter, Step};
