//! `Machine` and `MachineSet` objects.

use landfall_config::{MachinePool, Platform, Role};
use landfall_machine_api::{CLUSTER_LABEL, ETCD_HOOK, ETCD_HOOK_OWNER, ROLE_LABEL, SET_LABEL};
use serde_json::{Map, Value, json};

use super::{Manifest, machine_namespace, ovirt, packet, powervm, powervs};
use crate::Cluster;

const API_VERSION: &str = "machine.openshift.io/v1beta1";

/// One `Machine` for each master, which the installer makes, and one `MachineSet` for each compute pool, which makes the workers. Where
/// the installer makes the first of those too, there is one `Machine` for each: the set adopts it, and finds its instance by its name.
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
    let made_here = matches!(cluster.config.platform, Platform::Packet(_) | Platform::Powervs(_));
    let workers = cluster.config.compute.iter().filter(|pool| made_here && pool.replicas > 0).map(|pool| {
        let machines = (0..pool.replicas).map(|index| worker(cluster, pool, index));
        Manifest::public(format!("32-machines-{}.yaml", pool.name), machines.collect())
    });
    masters.chain(sets).chain(workers).collect()
}

fn master(cluster: &Cluster<'_>, pool: &MachinePool, index: u32) -> Value {
    let mut spec = json!({ "providerSpec": { "value": provider_spec(cluster, pool, Role::Master) } });
    if !cluster.config.distribution.is_openshift() {
        // OpenShift has an operator that sees to it.
        spec["lifecycleHooks"] = json!({ "preTerminate": [{ "name": ETCD_HOOK, "owner": ETCD_HOOK_OWNER }] });
    }
    json!({
        "apiVersion": API_VERSION,
        "kind": "Machine",
        "metadata": {
            "name": cluster.master_name(index),
            "namespace": machine_namespace(cluster.config.distribution),
            "labels": labels(cluster, Role::Master),
        },
        "spec": spec,
    })
}

fn worker(cluster: &Cluster<'_>, pool: &MachinePool, index: u32) -> Value {
    let set = set_name(cluster, pool);
    let mut labels = labels(cluster, Role::Worker);
    labels.insert(SET_LABEL.to_owned(), set.clone().into());
    json!({
        "apiVersion": API_VERSION,
        "kind": "Machine",
        "metadata": {
            "name": format!("{set}-{index}"),
            "namespace": machine_namespace(cluster.config.distribution),
            "labels": labels,
        },
        "spec": { "providerSpec": { "value": provider_spec(cluster, pool, Role::Worker) } },
    })
}

fn set_name(cluster: &Cluster<'_>, pool: &MachinePool) -> String {
    format!("{}-{}", cluster.infra_id, pool.name)
}

fn machine_set(cluster: &Cluster<'_>, pool: &MachinePool) -> Value {
    let name = set_name(cluster, pool);
    let selector = json!({
        CLUSTER_LABEL: cluster.infra_id,
        SET_LABEL: name,
    });
    let mut template_labels = labels(cluster, Role::Worker);
    template_labels.insert(SET_LABEL.to_owned(), name.clone().into());
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
        (CLUSTER_LABEL, cluster.infra_id.as_str()),
        (ROLE_LABEL, role.name()),
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
        Platform::Powervm(platform) => powervm::provider_spec(cluster, platform, pool, role),
        Platform::Powervs(platform) => powervs::provider_spec(cluster, platform, pool, role),
    }
}
