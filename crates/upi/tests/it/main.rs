//! The kit: what is in it, who understands it, and what the checks find.

#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod consumers;
mod kit;
mod scene;
