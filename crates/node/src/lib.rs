//! What runs on the machines of a cluster.
//!
//! One room for each thing that a machine does; the program `landfall-node` has a command for each room.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

pub mod approval;
pub mod boot_script;
pub mod bootstrap;
pub mod config_server;
pub mod daemon;
pub mod dns;
pub mod doctor;
mod error;
pub mod etcd;
pub mod join;
pub mod kube;
pub mod kubeadm;
pub mod listener;
pub mod load_balancer;
pub mod machine;
pub mod network;
pub mod probe;
pub mod program;
pub mod renewal;
pub mod stored;
#[cfg(test)]
mod testing;
pub mod vip;

pub use error::Error;
