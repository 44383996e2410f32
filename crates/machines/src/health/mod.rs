//! Health checks: which machines are unhealthy, and what is done about it.
//!
//! A check only judges and marks. The machine controller, which alone acts on the platform, fences what is marked and deletes it;
//! the set that it belonged to makes another.

mod duration;
mod judge;
mod reconcile;
mod remediate;

pub(crate) use reconcile::reconcile;
