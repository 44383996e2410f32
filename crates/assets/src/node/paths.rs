//! Where things are on a machine.
//!
//! Fedora CoreOS and Flatcar have a read-only `/usr`. `/opt` is writable on both (`/usr/local` only on the former), and
//! `SELinux` takes what is in a `bin` directory below it for programs.

/// What the machine knows about its cluster.
pub const NODE_FACTS: &str = "/etc/landfall/node.json";
/// The kubeadm configuration of the machine.
pub const KUBEADM_CONFIG: &str = "/etc/landfall/kubeadm.yaml";
/// Manifests that the bootstrap machine applies.
pub const MANIFESTS: &str = "/etc/landfall/manifests";
/// The cluster's authorities, for a master that joins when there is no bootstrap machine any more.
pub const AUTHORITIES: &str = "/etc/landfall/authorities";
/// What the config server serves, and its certificate.
pub const CONFIG_SERVER: &str = "/etc/landfall/config-server";
/// keepalived's configuration.
pub const KEEPALIVED_CONFIG: &str = "/etc/landfall/keepalived.conf";
/// haproxy's configuration.
pub const HAPROXY_CONFIG: &str = "/etc/landfall/haproxy.cfg";
/// Kubernetes' authorities and keys, where kubeadm looks for them.
pub const KUBERNETES_PKI: &str = "/etc/kubernetes/pki";
/// Environment of the kubelet that `landfall-node` writes once it knows the machine's addresses.
pub const KUBELET_ENVIRONMENT: &str = "/var/lib/landfall/kubelet.env";
/// Where a worker's config came from, so that it can be fetched again until the machine has joined.
pub const CONFIG_SOURCE: &str = "/etc/landfall/config-source.json";
/// With what a worker asks for it again. It comes with the machine's user data.
pub const CREDENTIAL: &str = landfall_machine_api::CREDENTIAL_FILE;
/// Left by `landfall-node join` before kubeadm starts: what is on the disk from then on may be a member of etcd.
pub const JOIN_BEGUN: &str = "/var/lib/landfall/join.begun";
/// Left by `landfall-node join` when the machine has joined, so that a reboot does not begin again.
pub const JOIN_DONE: &str = "/var/lib/landfall/join.done";
/// Left by `landfall-node bootstrap` when the control plane has moved to the masters.
pub const BOOTSTRAP_DONE: &str = "/var/lib/landfall/bootstrap.done";
/// Directory of CNI configurations.
pub const CNI_CONFIG: &str = "/etc/cni/net.d";
/// Programs that are downloaded.
pub const PROGRAMS: &str = "/opt/bin";
/// CNI plug-ins.
pub const CNI_PROGRAMS: &str = "/opt/cni/bin";
/// Landfall's own scripts.
pub const SCRIPTS: &str = "/opt/landfall/bin";
/// Downloads before they are unpacked.
pub const DOWNLOADS: &str = "/opt/landfall/downloads";
/// Where the kubelet looks for volume plug-ins of the old kind, instead of below `/usr`.
pub const VOLUME_PLUGINS: &str = "/opt/libexec/kubernetes/kubelet-plugins/volume/exec";
