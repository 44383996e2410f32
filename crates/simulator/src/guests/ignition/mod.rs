//! What Ignition does on the first boot of a machine: read the user data, fetch what it points to, and put files and units
//! in place.
//!
//! The types are the guest's own, from the public specification of the format, so that a config is judged by a second
//! reader. Modelled is Ignition 2.14, which reads specs 3.0 to 3.3.

mod config;
mod document;
mod error;
mod fetch;
mod resource;

pub(super) use config::Unit;
pub(super) use document::{Content, Document, Library};
pub(super) use error::IgnitionError;
pub(super) use fetch::{Provisioner, client};
