//! Bringing up a cluster: the first control plane, the masters, and the pivot, after which this machine is of no more use.
//!
//! It is a plan of steps with a journal, like an installation: a machine that reboots in the middle goes on where it was.

mod access;
mod bind;
mod join_material;
mod plan;
mod progress;
mod run;
mod steps;

pub use plan::plan;
pub use progress::{PROGRESS_FILE, Progress, StepProgress};
pub use run::{BootstrapError, run};
