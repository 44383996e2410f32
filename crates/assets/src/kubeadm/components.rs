//! Kubelet and kube-proxy, which get their settings through kubeadm.

use serde_json::{Value, json};

use crate::node::VOLUME_PLUGINS;

pub(super) fn kubelet() -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cgroupDriver": "systemd",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "rotateCertificates": true,
        // Signed by the cluster CA after the request was matched with a machine, instead of by the kubelet itself.
        "serverTLSBootstrap": true,
        "seccompDefault": true,
        "serializeImagePulls": false,
        "volumePluginDir": VOLUME_PLUGINS,
    })
}

pub(super) fn kube_proxy() -> Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
    })
}
