//! Kubernetes objects that the bootstrap machine applies.
//!
//! One file per kind of object. The functions return [`Manifest`]s, so that each distribution can put them where its
//! bootstrap looks for them.

mod cluster_info;
mod controller;
mod crds;
mod credentials;
mod identity;
mod machines;
mod manifest;
mod namespace;
mod ovirt;
mod user_data;

use landfall_platform::FileSet;

pub(crate) use cluster_info::cluster_info;
pub(crate) use controller::machine_controller;
pub(crate) use crds::machine_crds;
pub use credentials::Credentials;
pub(crate) use credentials::credentials_secret;
pub(crate) use identity::{check_duplicates, is_manifest};
pub(crate) use machines::machine_objects;
pub(crate) use manifest::Manifest;
pub(crate) use namespace::{machine_namespace, namespace};
pub(crate) use user_data::user_data_secrets;

use crate::{Cluster, ClusterMetadata, Error, Secrets};

/// Directory of the manifests, in the install directory.
pub(crate) const DIRECTORY: &str = "manifests";

/// All manifests of a cluster of distribution `kubernetes`, below `manifests/`.
///
/// Without credentials the Secret for them is left out; the machine controller waits for it then.
pub fn manifests(
    cluster: &Cluster<'_>,
    secrets: &Secrets,
    credentials: Option<&Credentials>,
) -> Result<FileSet, Error> {
    let mut all = vec![
        namespace(machine_namespace(cluster.config.distribution)),
        cluster_info(cluster, &ClusterMetadata::new(cluster, secrets)),
    ];
    all.extend(machine_crds()?);
    all.extend(credentials.map(|credentials| credentials_secret(cluster, credentials)));
    all.extend(user_data_secrets(cluster, secrets)?);
    all.extend(machine_objects(cluster));
    all.push(machine_controller(cluster));
    all.iter().map(|manifest| manifest.to_file(DIRECTORY)).collect()
}
