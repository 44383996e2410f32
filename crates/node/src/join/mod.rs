//! Joining the cluster.
//!
//! kubeadm does it, again and again until it works: a master that is told "too many learners" by etcd, or a worker that comes
//! before the API, is no failure. What a broken attempt left behind is taken back before the next one, since kubeadm refuses
//! a machine that is not clean.
//!
//! Taking back deletes etcd's data. So the machine looks at its disk ([`remains`]), asks the cluster ([`word`]), and only what both say
//! decides ([`decision`]): a cluster that does not answer never lets a machine be reset that may hold a member of etcd.

pub(crate) mod authorities;
mod decision;
mod material;
mod remains;
mod run;
mod state;
mod take_back;
mod word;

pub use run::run;
pub(crate) use state::last_state;
