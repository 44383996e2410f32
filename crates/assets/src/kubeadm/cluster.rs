//! What all control-plane machines have in common.

use std::fmt::Display;

use landfall_config::{InstallConfig, KeyAlgorithm};
use semver::Version;
use serde_json::{Value, json};

use super::API_VERSION;
use crate::{Cluster, node::paths};

/// Controllers of the controller manager: kubeadm's own choice, without the one that approves the certificates of kubelets for every holder of a join
/// token. kubeadm binds its permissions anew with each upgrade, so that taking them away leaves gaps; the arguments stay as they are.
const CONTROLLERS: &str = "*,bootstrapsigner,tokencleaner,-certificatesigningrequest-approving-controller";

pub(super) fn configuration(cluster: &Cluster<'_>) -> Value {
    let config = cluster.config;
    let networking = &config.networking;
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterConfiguration",
        "clusterName": config.metadata.name,
        "kubernetesVersion": format!("v{}", config.kubernetes_version()),
        "controlPlaneEndpoint": cluster.internal_endpoint(),
        "certificatesDir": paths::KUBERNETES_PKI,
        "encryptionAlgorithm": encryption_algorithm(config.pki.key_algorithm),
        "certificateValidityPeriod": hours(config.pki.certificate_validity_days),
        "caCertificateValidityPeriod": hours(config.pki.ca_validity_days),
        "networking": {
            "dnsDomain": "cluster.local",
            "podSubnet": joined(networking.cluster_network.iter().map(|network| network.cidr)),
            "serviceSubnet": joined(&networking.service_network),
        },
        "apiServer": { "certSANs": api_names(cluster) },
        "controllerManager": { "extraArgs": controller_manager_arguments(config) },
    })
}

/// Names and addresses under which clients reach API servers, besides those that kubeadm knows by itself.
fn api_names(cluster: &Cluster<'_>) -> Vec<String> {
    let mut names = vec![cluster.api_name(), cluster.api_int_name()];
    names.extend(cluster.config.api_vips().iter().map(ToString::to_string));
    // The checks and the steps of the bootstrap machine, which must not depend on anything but the machine itself.
    names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    names
}

fn controller_manager_arguments(config: &InstallConfig) -> Vec<Value> {
    let mut settings: Vec<(&'static str, String)> = config
        .networking
        .cluster_network
        .iter()
        .filter_map(|network| {
            let name =
                if network.cidr.addr().is_ipv4() { "node-cidr-mask-size-ipv4" } else { "node-cidr-mask-size-ipv6" };
            Some((name, network.host_prefix?.to_string()))
        })
        .collect();
    // kubeadm before 1.36 makes and mounts a directory below /usr, which is read-only, unless it is told another one.
    if Version::parse(config.kubernetes_version()).is_ok_and(|version| version < Version::new(1, 36, 0)) {
        settings.push(("flex-volume-plugin-dir", paths::VOLUME_PLUGINS.to_owned()));
    }
    // The machine controller knows the machines, and approves for them alone.
    if config.manages_machines() {
        settings.push(("controllers", CONTROLLERS.to_owned()));
    }
    settings.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn encryption_algorithm(algorithm: KeyAlgorithm) -> &'static str {
    match algorithm {
        KeyAlgorithm::EcdsaP256 => "ECDSA-P256",
        KeyAlgorithm::Rsa2048 => "RSA-2048",
        KeyAlgorithm::Rsa3072 => "RSA-3072",
        KeyAlgorithm::Rsa4096 => "RSA-4096",
    }
}

/// Days in Go's spelling of durations, which has no unit above the hour.
fn hours(days: u32) -> String {
    format!("{}h0m0s", u64::from(days) * 24)
}

fn joined<T: Display>(parts: impl IntoIterator<Item = T>) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(",")
}
