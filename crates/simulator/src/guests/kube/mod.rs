//! A small Kubernetes API, which stands in for the control plane that real masters run.
//!
//! It stores objects of all kinds that a cluster is set up with, authenticates clients by certificate or bootstrap token,
//! and answers in the form that `kubectl` and controllers read. Nothing acts on the objects: there is no scheduler and no
//! controller manager.

mod api;
mod auth;
mod discovery;
mod kinds;
mod patch;
mod path;
mod query;
mod scale;
mod serve;
mod status;
mod store;
mod table;
mod watch;

pub(super) use auth::ADMIN_BINDING;
pub(super) use serve::ApiServer;
pub(super) use store::{Key, Refusal, SavedStore, Store, now};
