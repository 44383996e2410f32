//! Definitions of the machine objects, for clusters that do not bring them.

use landfall_machine_api::{Kind, definition, provider};

use super::Manifest;
use crate::Cluster;

/// The definitions of `Machine`, `MachineSet` and `MachineHealthCheck` in `machine.openshift.io/v1beta1`, made from the types that the
/// controllers read, with the rules of the cluster's platform.
pub(crate) fn machine_crds(cluster: &Cluster<'_>) -> Vec<Manifest> {
    let provider = provider::schema(cluster.config.platform.name());
    let manifest = |kind: Kind| {
        let file_name = format!("10-crd-{}.yaml", kind.name().to_lowercase());
        Manifest::public(file_name, vec![definition(kind, provider.as_ref())])
    };
    Kind::ALL.map(manifest).into()
}
