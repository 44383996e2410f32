//! What runs on the machines of a cluster.

pub mod config_server;
pub mod tls_listener;
