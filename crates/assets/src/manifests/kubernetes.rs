//! The manifests of a Kubernetes cluster.

use landfall_platform::FileSet;

use super::{
    Credentials, DIRECTORY, Duties, cloud_controller_manager, cluster_info, credentials_secret, machine_controller,
    machine_crds, machine_namespace, machine_objects, namespace, node_reader, user_data_secrets,
};
use crate::{Cluster, ClusterMetadata, Error, Secrets};

/// All manifests of a cluster of distribution `kubernetes`, below `manifests/`.
///
/// Without credentials the Secret for them is left out; the machine controller waits for it then. Where the user looks after the
/// machines, the cluster gets nothing with which it could.
pub fn manifests(
    cluster: &Cluster<'_>,
    secrets: &Secrets,
    credentials: Option<&Credentials>,
) -> Result<FileSet, Error> {
    let mut all = vec![
        namespace(machine_namespace(cluster.config.distribution)),
        cluster_info(cluster, &ClusterMetadata::new(cluster, secrets)),
        node_reader(),
    ];
    if cluster.config.manages_machines() {
        all.extend(machine_crds(cluster));
        all.extend(credentials.map(|credentials| credentials_secret(cluster, credentials)));
        all.extend(user_data_secrets(cluster, secrets)?);
        all.extend(machine_objects(cluster));
        all.push(machine_controller(cluster, Duties::All));
    }
    all.extend(cloud_controller_manager(cluster, credentials));
    all.iter().map(|manifest| manifest.to_file(DIRECTORY)).collect()
}
