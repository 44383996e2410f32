//! The engine's REST API, version 4, in JSON.
//!
//! Only reading so far, and only what the survey needs; one file per resource.

mod address;
mod authority;
mod cluster;
mod data_center;
mod host;
mod network;
mod number;
mod product;
mod session;
mod storage_domain;
mod template;
mod vnic_profile;

pub use address::EngineUrl;
pub use authority::{Certificate, fetch as fetch_authority};
pub use cluster::Cluster;
pub use network::Network;
pub use session::{Client, probe};
pub use storage_domain::{Storage, StorageDomain};
pub use template::Template;
pub use vnic_profile::VnicProfile;

/// A reference to another object.
#[derive(Clone, Debug, serde::Deserialize)]
struct Reference {
    id: String,
}
