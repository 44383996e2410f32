//! The engine's REST API, version 4, in JSON. One file per resource.

mod address;
mod affinity_group;
mod authority;
mod cluster;
mod data_center;
mod disk;
mod event;
mod host;
mod image_transfer;
mod instance_type;
mod network;
mod number;
mod product;
mod session;
mod storage_domain;
mod tag;
mod template;
mod vm;
mod vnic_profile;

pub use address::EngineUrl;
pub use affinity_group::AffinityGroup;
pub use authority::{Certificate, fetch as fetch_authority};
pub use cluster::Cluster;
pub use data_center::DataCenter;
pub use disk::Disk;
pub use host::Host;
pub use image_transfer::{ImageTransfer, Phase};
pub use instance_type::InstanceType;
pub use network::Network;
pub use product::Product;
pub use session::{Client, probe};
pub use storage_domain::{Storage, StorageDomain};
pub use tag::Tag;
pub(crate) use template::{BLANK, IGNITION_OS};
pub use template::{Template, TemplateDetails};
pub use vm::{Topology, Vm, VmStatus};
pub use vnic_profile::VnicProfile;

/// A reference to another object.
#[derive(Clone, Debug, serde::Deserialize)]
struct Reference {
    id: String,
}

/// The path of a search in a collection.
fn search(collection: &str, query: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("{collection}?search={query}")
}
