//! The set controller: as many machines as a set says.

mod expectations;
mod plan;
mod reconcile;

pub(crate) use expectations::Expectations;
pub(crate) use reconcile::{owner_of, reconcile};
