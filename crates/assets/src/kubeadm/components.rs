//! Kubelet and kube-proxy, which get their settings through kubeadm.

use serde_json::{Value, json};

use crate::node::paths;

/// `requests_certificates`: whether somebody in the cluster knows the machines, and approves the certificates that kubelets serve
/// with. Where nobody does, kubelets sign their own, as kubeadm has it: they would serve nothing until somebody approves them.
pub(super) fn kubelet(requests_certificates: bool) -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cgroupDriver": "systemd",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "rotateCertificates": true,
        // Signed by the cluster CA after the request was matched with a machine, instead of by the kubelet itself.
        "serverTLSBootstrap": requests_certificates,
        "seccompDefault": true,
        "serializeImagePulls": false,
        "volumePluginDir": paths::VOLUME_PLUGINS,
    })
}

pub(super) fn kube_proxy() -> Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
    })
}
