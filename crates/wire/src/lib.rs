//! HTTP for the platform crates: how a client is built, whom it trusts, and what its failures mean.
//!
//! This is the only crate that knows reqwest. Platform crates build a [`Request`], [`Client::send`] it, and read the
//! [`Reply`]; every failure is an [`Error`] that names the URL, what was answered, and its class. Credentials are kept in files
//! that other tools share ([`replace_keys`]), and images of operating systems are fetched once ([`Images`]). Before any of it
//! the network is looked at ([`Surroundings`]).

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

pub mod aws;
mod client;
mod credentials_file;
mod error;
pub mod ibm_cloud;
mod images;
mod listings;
mod reply;
mod request;
mod surroundings;
mod trust;

pub use client::{Client, ClientBuilder, Download, Identity, Limits};
pub use credentials_file::{EditError, exposure, replace_keys};
pub use error::Error;
pub use images::{ImageError, Images, Origin};
pub use listings::Listings;
pub use reply::Reply;
pub use request::{Method, Request};
pub use surroundings::{LocalNetwork, Surroundings, addresses_are_unused, names_lead_there};
pub use trust::Trust;
