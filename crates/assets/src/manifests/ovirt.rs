//! The provider spec of machines on oVirt, with the field names that the existing machine provider reads.

use landfall_config::{
    MachinePool, Role, Size,
    ovirt::{AffinityGroup, Platform},
};
use serde_json::{Value, json};

use super::{credentials, user_data};
use crate::Cluster;

/// The provider spec of a pool. A field that has no value is left out, because the engine's defaults apply then.
pub(super) fn provider_spec(cluster: &Cluster<'_>, platform: &Platform, pool: &MachinePool, role: Role) -> Value {
    let resolved = cluster.config.ovirt_pool(pool, role);
    let mut spec = json!({
        "apiVersion": "ovirtproviderconfig.machine.openshift.io/v1beta1",
        "kind": "OvirtMachineProviderSpec",
        "userDataSecret": { "name": user_data::secret_name(role) },
        "credentialsSecret": { "name": credentials::secret_name(cluster) },
        "id": "",
        "name": "",
        "template_name": cluster.ovirt_template_name(platform),
        "cluster_id": platform.ovirt_cluster_id,
        "os_disk": { "size_gb": resolved.os_disk_gib },
        "type": resolved.vm_type,
        "affinity_groups_names": resolved
            .affinity_groups
            .iter()
            .map(|name| affinity_group_name(cluster, platform, name))
            .collect::<Vec<_>>(),
        "auto_pinning_policy": resolved.auto_pinning_policy,
        "clone": resolved.clone,
    });
    match resolved.size {
        Size::InstanceType(id) => spec["instance_type_id"] = json!(id),
        Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } => {
            spec["cpu"] = json!({ "sockets": sockets, "cores": cores, "threads": threads });
            spec["memory_mb"] = memory_mib.into();
            spec["guaranteed_memory_mb"] = guaranteed_memory_mib.into();
        }
    }
    if let Some(profile) = platform.vnic_profile_id {
        spec["network_interfaces"] = json!([{ "vnic_profile_id": profile }]);
    }
    if resolved.clone {
        // The engine lets a disk leave the template's storage domain only if it is a copy.
        spec["storage_domain_id"] = json!(platform.ovirt_storage_domain_id);
    }
    for (key, value) in [
        ("hugepages", json!(resolved.hugepages)),
        ("sparse", json!(resolved.sparse)),
        ("format", json!(resolved.format)),
    ] {
        if !value.is_null() {
            spec[key] = value;
        }
    }
    spec
}

/// The name of an affinity group in the engine: groups that Landfall makes carry the infra id, others are as they are.
fn affinity_group_name(cluster: &Cluster<'_>, platform: &Platform, name: &str) -> String {
    let made_here = match &platform.affinity_groups {
        Some(declared) => declared.iter().any(|group| group.name == name),
        None => [Role::Master, Role::Worker].into_iter().any(|role| AffinityGroup::built_in_name(role) == name),
    };
    if made_here { format!("{}-{name}", cluster.infra_id) } else { name.to_owned() }
}
