//! What tests of several crates share. A dev-dependency only.

mod https;
mod scripted;

pub use https::{Authority, HttpsServer};
pub use scripted::{ScriptedPrompter, Step};
