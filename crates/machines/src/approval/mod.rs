//! Certificate requests of kubelets: approved only for machines that the cluster's objects know, and only for what is theirs.

mod asked;
mod judge;
mod reconcile;

pub use asked::Asked;
pub(crate) use judge::is_of_kubelets;
pub(crate) use reconcile::{is_pending, reconcile};
