//! Certificate requests of kubelets: approved only for machines that the cluster's objects know, and only for what is theirs.

mod judge;
mod reconcile;

pub(crate) use reconcile::{is_of_kubelets, is_pending, reconcile};
