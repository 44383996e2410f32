//! HTTP for the platform crates: how a client is built, whom it trusts, and what its failures mean.
//!
//! This is the only crate that knows reqwest. Platform crates build a [`Request`], [`Client::send`] it, and read the
//! [`Reply`]; every failure is an [`Error`] that names the URL, what was answered, and its class.

mod client;
mod error;
mod listings;
mod reply;
mod request;
mod trust;

pub use client::{Client, ClientBuilder, Download, Identity, Limits};
pub use error::Error;
pub use listings::Listings;
pub use reply::Reply;
pub use request::{Method, Request};
pub use trust::Trust;
