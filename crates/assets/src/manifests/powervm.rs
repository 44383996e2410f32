//! The provider spec of machines on PowerVM.

use landfall_config::{
    MachinePool, Role,
    powervm::{Image, Network, Platform, Storage},
};
use serde_json::{Value, json};

use super::{credentials, user_data};
use crate::Cluster;

/// The provider spec of a pool.
pub(super) fn provider_spec(cluster: &Cluster<'_>, platform: &Platform, pool: &MachinePool, role: Role) -> Value {
    let resolved = cluster.config.powervm_pool(pool);
    let mut spec = json!({
        "apiVersion": "powervmproviderconfig.machine.openshift.io/v1beta1",
        "kind": "PowerVMMachineProviderSpec",
        "userDataSecret": { "name": user_data::secret_name(role) },
        "credentialsSecret": { "name": credentials::secret_name(cluster) },
        "hosts": resolved.hosts,
        "processors": resolved.processors,
        // A fraction can only be written as text.
        "processingUnits": format!("{:.2}", resolved.processing_units),
        "sharing": resolved.sharing,
        "memoryGiB": resolved.memory_gib,
        "compatibilityMode": resolved.compatibility_mode,
        "diskGiB": resolved.disk_gib,
    });
    match &platform.storage {
        Storage::SharedStoragePool(pool) => {
            spec["sharedStoragePool"] = json!(pool);
            spec["image"] = json!(platform.image_name(cluster.infra_id.as_str()));
        }
        Storage::VolumeGroup(group) => {
            spec["volumeGroup"] = json!(group.name);
            let (Image::Disk(source) | Image::LogicalUnit(source)) = &platform.image;
            spec["image"] = json!(source);
        }
    }
    match &platform.network {
        Network::SharedEthernet(ethernet) => spec["sharedEthernet"] = json!(ethernet),
        Network::OpenVswitch(switch) => spec["openVswitch"] = json!(switch.bridge),
    }
    spec
}
