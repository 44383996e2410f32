//! One file per command.

pub(crate) mod boot_script;
pub(crate) mod bootstrap;
pub(crate) mod certificates;
pub(crate) mod config_server;
pub(crate) mod dns;
pub(crate) mod doctor;
pub(crate) mod etcd;
mod everywhere;
pub(crate) mod join;
pub(crate) mod load_balancer;
#[cfg(feature = "controller")]
pub(crate) mod machines;
pub(crate) mod network;
pub(crate) mod vip;
