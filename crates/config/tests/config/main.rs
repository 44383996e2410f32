//! The install-config as its users meet it: files, assignments and what is answered.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing where it looks has failed")]

mod bad_input;
mod documentation;
mod generated;
mod old_spellings;
mod pools;
mod properties;
mod reports;
mod rules;
mod support;
