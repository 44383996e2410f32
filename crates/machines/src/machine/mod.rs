//! The machine controller: one machine, from its creation to its removal.

mod decide;
mod drain;
mod link;
mod operations;
mod reconcile;
mod refusals;
mod status;

pub(crate) use operations::Operations;
pub(crate) use reconcile::reconcile;
pub(crate) use refusals::{Gate, Refusals};

/// Condition of machines: the node has no pods any more that could go elsewhere.
pub(crate) const DRAINED: &str = "Drained";
/// Condition of machines: the instance was switched off because the machine is unhealthy.
pub(crate) const FENCED: &str = "Fenced";
/// Condition of machines: the platform makes the instance. False, with the reason, while it refuses to.
pub(crate) const CREATED: &str = "InstanceCreated";
/// Condition of machines: the instance exists on the platform.
pub(crate) const INSTANCE_EXISTS: &str = "InstanceExists";
