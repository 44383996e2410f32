//! Joining the cluster.
//!
//! kubeadm does it, again and again until it works: a master that is told "too many learners" by etcd, or a worker that comes
//! before the API, is no failure. What a broken attempt left behind is taken back before the next one, since kubeadm refuses
//! a machine that is not clean.

pub(crate) mod authorities;
mod joined;
mod run;

pub use run::run;
