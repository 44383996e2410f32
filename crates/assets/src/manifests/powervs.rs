//! The provider spec of machines on PowerVS.

use landfall_config::{
    MachinePool, Role,
    powervs::{Image, Platform, Publish},
};
use serde_json::{Value, json};

use super::{credentials, user_data};
use crate::Cluster;

/// The provider spec of a pool. The fields are those of `PowerVSMachineProviderConfig`.
pub(super) fn provider_spec(cluster: &Cluster<'_>, platform: &Platform, pool: &MachinePool, role: Role) -> Value {
    let resolved = cluster.config.powervs_pool(pool);
    let infra_id = cluster.infra_id;
    let workspace = match platform.service_instance_guid {
        Some(guid) => json!({"type": "ID", "id": guid}),
        None => json!({"type": "Name", "name": format!("{infra_id}-power-iaas")}),
    };
    let image = match &platform.image {
        Image::Existing(name) => name.clone(),
        Image::Regional(_) | Image::Object(_) => format!("{infra_id}-image"),
    };
    let mut spec = json!({
        "apiVersion": "machine.openshift.io/v1",
        "kind": "PowerVSMachineProviderConfig",
        "userDataSecret": { "name": user_data::secret_name(role) },
        "credentialsSecret": { "name": credentials::secret_name(cluster) },
        "serviceInstance": workspace,
        "image": {"type": "Name", "name": image},
        // By its whole name: an expression around the infra id fits names of other clusters, too.
        "network": {"type": "Name", "name": format!("DHCPSERVER{infra_id}-network_Private")},
        "processorType": resolved.proc_type,
        // A fraction can only be written as text.
        "processors": resolved.processors.to_string(),
        "memoryGiB": resolved.memory_gib,
        "storageType": resolved.storage_type,
    });
    if cluster.config.powervs_ssh_key().is_some() {
        spec["keyPairName"] = json!(format!("{infra_id}-key"));
    }
    if let Some(kind) = resolved.sys_type {
        spec["systemType"] = json!(kind);
    }
    if cluster.manages_endpoint() {
        let internal = format!("{infra_id}-loadbalancer-int");
        let public = (platform.publish == Publish::External).then(|| format!("{infra_id}-loadbalancer"));
        let names = public
            .into_iter()
            .chain((role == Role::Master || platform.publish == Publish::Internal).then_some(internal));
        spec["loadBalancers"] = names.map(|name| json!({"name": name, "type": "Application"})).collect();
    }
    spec
}
