//! `Machine` and `MachineSet` objects.

use landfall_config::{MachinePool, Platform, Role};
use serde_json::{Map, Value, json};

use super::{Manifest, machine_namespace, ovirt, packet};
use crate::Cluster;

const API_VERSION: &str = "machine.openshift.io/v1beta1";

/// One `Machine` for each master, and one `MachineSet` for each compute pool.
pub(crate) fn machine_objects(cluster: &Cluster<'_>) -> Vec<Manifest> {
    let control_plane = &cluster.config.control_plane;
    // File names sort like the numbers in them.
    let width = control_plane.replicas.saturating_sub(1).to_string().len();
    let masters = (0..control_plane.replicas).map(|index| {
        Manifest::public(format!("30-machine-master-{index:0width$}.yaml"), vec![master(cluster, control_plane, index)])
    });
    let sets =
        cluster.config.compute.iter().map(|pool| {
            Manifest::public(format!("31-machineset-{}.yaml", pool.name), vec![machine_set(cluster, pool)])
        });
    masters.chain(sets).collect()
}

fn master(cluster: &Cluster<'_>, pool: &MachinePool, index: u32) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "Machine",
        "metadata": {
            "name": cluster.master_name(index),
            "namespace": machine_namespace(cluster.config.distribution),
            "labels": labels(cluster, Role::Master),
        },
        "spec": { "providerSpec": { "value": provider_spec(cluster, pool, Role::Master) } },
    })
}

fn machine_set(cluster: &Cluster<'_>, pool: &MachinePool) -> Value {
    let name = format!("{}-{}", cluster.infra_id, pool.name);
    let selector = json!({
        "machine.openshift.io/cluster-api-cluster": cluster.infra_id,
        "machine.openshift.io/cluster-api-machineset": name,
    });
    let mut template_labels = labels(cluster, Role::Worker);
    template_labels.insert("machine.openshift.io/cluster-api-machineset".to_owned(), name.clone().into());
    json!({
        "apiVersion": API_VERSION,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": machine_namespace(cluster.config.distribution),
            "labels": labels(cluster, Role::Worker),
        },
        "spec": {
            "replicas": pool.replicas,
            "selector": { "matchLabels": selector },
            "template": {
                "metadata": { "labels": template_labels },
                "spec": { "providerSpec": { "value": provider_spec(cluster, pool, Role::Worker) } },
            },
        },
    })
}

/// The user's labels and those by which the cluster's controllers find their machines; the latter cannot be overridden.
fn labels(cluster: &Cluster<'_>, role: Role) -> Map<String, Value> {
    let mut labels: Map<String, Value> =
        cluster.config.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    for (key, value) in [
        ("machine.openshift.io/cluster-api-cluster", cluster.infra_id.as_str()),
        ("machine.openshift.io/cluster-api-machine-role", role.name()),
        ("machine.openshift.io/cluster-api-machine-type", role.name()),
    ] {
        labels.insert(key.to_owned(), value.into());
    }
    labels
}

fn provider_spec(cluster: &Cluster<'_>, pool: &MachinePool, role: Role) -> Value {
    match &cluster.config.platform {
        Platform::Ovirt(platform) => ovirt::provider_spec(cluster, platform, pool, role),
        Platform::Packet(platform) => packet::provider_spec(cluster, platform, pool, role),
    }
}
