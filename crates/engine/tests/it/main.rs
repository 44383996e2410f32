//! The engine on a toy platform.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod behaviour;
mod growth;
mod journal;
mod notes;
mod suites;
mod toy;
mod unfound;
