//! The install directory: what lies in it, who wrote it, and how it changes.
//!
//! A run opens the directory ([`WorkDir`]), takes its lock ([`Locked`]), compares what a stage renders with what is
//! recorded and what lies on disk ([`Evaluation`]), settles what is stale ([`Plan`]), and commits everything in one
//! [`Transaction`] that a crash at any instant leaves either undone or ready to be finished by the next run.
//!
//! Two promises hold throughout: nothing that a user wrote is ever lost, and nothing is written while a question is open.
//!
//! Once machines are made, what they were given is [`Frozen`]: every later run uses the same bytes.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

mod commit;
mod diff;
mod digest;
mod disk;
mod error;
mod evaluate;
mod frozen;
mod identity;
mod inputs;
mod judge;
mod lock;
mod names;
mod past;
mod plan;
mod read;
mod record;
mod rendering;
mod stage;
mod standing;
#[cfg(test)]
mod tests;
mod transaction;
mod workdir;

pub use diff::{Difference, difference};
pub use digest::Digest;
pub use error::{Error, Result};
pub use evaluate::{Evaluation, StaleFile, Unsettled};
pub use frozen::{Deviation, Frozen};
pub use identity::Identity;
pub use inputs::Inputs;
pub use judge::Outcome;
pub use lock::{Holder, Locked};
pub use names::{FROZEN, FROZEN_FILES, IDENTITY, INSTALL_CONFIG, LOG, STATE_DIRECTORY};
pub use plan::{Choice, Choices, Plan};
pub use record::{FileRecord, Record, StageRecord};
pub use rendering::Rendering;
pub use stage::{Membership, Stage};
pub use standing::{Condition, Standing};
pub use transaction::{Committed, Transaction};
pub use workdir::WorkDir;
