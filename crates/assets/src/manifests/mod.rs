//! Kubernetes objects that the bootstrap machine applies.
//!
//! One file per kind of object. The functions return [`Manifest`]s, so that each distribution can put them where its
//! bootstrap looks for them.

mod cloud_controller;
mod cluster_info;
mod controller;
mod crds;
mod credentials;
mod identity;
mod kubernetes;
mod machines;
mod manifest;
mod namespace;
mod node_reader;
mod ovirt;
mod packet;
mod powervm;
mod powervs;
mod user_data;

pub(crate) use cloud_controller::cloud_controller_manager;
pub(crate) use cluster_info::cluster_info;
pub(crate) use controller::{Duties, machine_controller};
pub(crate) use crds::machine_crds;
pub use credentials::Credentials;
pub(crate) use credentials::credentials_secret;
pub(crate) use identity::{check_duplicates, is_manifest};
pub use kubernetes::manifests;
pub(crate) use machines::machine_objects;
pub(crate) use manifest::Manifest;
pub(crate) use namespace::{machine_namespace, namespace};
pub(crate) use node_reader::node_reader;
pub(crate) use user_data::user_data_secrets;

/// Directory of the manifests, in the install directory.
pub(crate) const DIRECTORY: &str = "manifests";
