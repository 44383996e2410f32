//! The cluster's own API, as far as its installer needs it: is it up, is the bootstrap complete, are the nodes ready.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

mod api;
mod bootstrap;
mod error;
mod kubeconfig;
mod machines;
mod wait;

pub use api::{Api, Node};
pub use bootstrap::{Bootstrap, ConfigServer};
pub use error::Error;
pub use kubeconfig::Kubeconfig;
pub use machines::MachineCounts;
pub use wait::{Progress, wait_for_api, wait_for_bootstrap, wait_for_nodes};
