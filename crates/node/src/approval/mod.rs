//! Approving the certificate requests of the cluster's own machines.
//!
//! A kubelet asks for a client certificate when it joins, and for a serving certificate of its own. kubeadm lets the
//! controller manager approve the former for whoever has a token; where there is a machine controller that is taken back ([`withdraw`]). While the cluster is brought up, the bootstrap machine
//! approves what goes with the cluster's names and nodes. From then on it is the machine controller's matter, which knows the machines; masters
//! act only in a cluster that has none.

mod judge;
mod rounds;
mod withdrawal;

pub use rounds::{keep_approving, keep_approving_alone};
pub use withdrawal::{keep_withdrawn, withdraw};
