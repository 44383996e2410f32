//! Approving the certificate requests of the cluster's own machines.
//!
//! A kubelet asks for a client certificate when it joins, and for a serving certificate of its own. kubeadm lets the
//! controller manager approve the former; nobody approves the latter, since only an installer knows which machine may claim
//! which address.

mod judge;
mod rounds;

pub use rounds::keep_approving;
