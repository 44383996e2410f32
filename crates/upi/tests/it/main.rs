//! The kit: what is in it, who understands it, and what the checks find.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod consumers;
mod kit;
mod scene;
