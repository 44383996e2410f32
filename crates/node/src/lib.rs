//! What runs on the machines of a cluster.

pub mod config_server;
