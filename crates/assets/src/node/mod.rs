//! What is on a machine after its first boot: files and systemd units, whatever carries them there.

mod artifacts;
mod cni;
mod containerd;
mod facts;
mod kubernetes;
pub mod paths;
mod proxy;
mod system;
mod trust;
mod units;

use ipnet::IpNet;

pub use artifacts::known_kubernetes_versions;
pub(crate) use artifacts::node_agent;
pub use cni::routed_cni_config;
pub(crate) use facts::served_roles;
pub use facts::{
    ApiFacts, BootstrapFacts, ClusterFacts, ConfigServerFacts, NetworkFacts, NodeFacts, ServedRole, VipFacts,
};
pub(crate) use kubernetes::{bootstrap_machine, pool_machine};
pub(crate) use proxy::no_proxy;
pub(crate) use units::agent_unit;

use crate::Cluster;

/// Where the kubelet looks for volume plug-ins of the old kind, instead of below the read-only `/usr`.
pub(crate) const VOLUME_PLUGINS: &str = "/opt/libexec/kubernetes/kubelet-plugins/volume/exec";

/// The image of the container that holds a pod together. kubeadm 1.36 expects this one; any newer one does as well.
pub(crate) const PAUSE_IMAGE: &str = "registry.k8s.io/pause:3.10.2";

/// Where the `landfall-node` program is: where it is downloaded to, or where the operating system image has it.
pub(crate) fn agent_path(cluster: &Cluster<'_>) -> &'static str {
    if cluster.config.node_agent.is_some() { "/opt/bin/landfall-node" } else { "/usr/bin/landfall-node" }
}

/// Prefix length of a node's part of a pod network, where none is given.
pub(crate) fn default_host_prefix(network: IpNet) -> u8 {
    if network.addr().is_ipv4() { 23 } else { 64 }
}

/// A file on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFile {
    /// Absolute path.
    pub path: String,
    /// Permission bits, for example `0o644`.
    pub mode: u32,
    /// Where the contents come from.
    pub contents: NodeContents,
}

/// Where the contents of a file come from.
#[derive(Clone, PartialEq, Eq)]
pub enum NodeContents {
    /// They are given here.
    Inline(Vec<u8>),
    /// They are given here and added to what the operating system has in the file.
    Append(Vec<u8>),
    /// The machine downloads them and refuses what has another digest.
    Download {
        /// Where from.
        url: String,
        /// `sha512-…` or `sha256-…` in hexadecimal.
        digest: String,
    },
}

/// A systemd unit on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeUnit {
    /// Name with its suffix, for example `kubelet.service`.
    pub name: String,
    /// The unit file; none for a unit that the operating system brings.
    pub contents: Option<String>,
    /// Whether it is started at boot; none leaves that to the operating system.
    pub enabled: Option<bool>,
    /// Drop-ins by their file name.
    pub dropins: Vec<(String, String)>,
}

/// Everything that a role puts on its machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeConfig {
    /// Files.
    pub files: Vec<NodeFile>,
    /// Units.
    pub units: Vec<NodeUnit>,
}

impl NodeConfig {
    /// Takes in all files and units of another one.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.units.extend(other.units);
    }
}

impl NodeFile {
    /// A file that everybody may read.
    pub fn public(path: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, contents: NodeContents::Inline(contents.into()) }
    }

    /// A file that only root may read, because it holds a secret.
    pub fn private(path: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o600, ..Self::public(path, contents) }
    }

    /// Lines that are added to a file of the operating system.
    pub fn append(path: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, contents: NodeContents::Append(contents.into()) }
    }

    /// A program or script.
    pub fn executable(path: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::public(path, contents) }
    }
}

impl NodeUnit {
    /// A unit that is started at boot.
    pub fn enabled(name: impl Into<String>, contents: impl Into<String>) -> Self {
        Self { name: name.into(), contents: Some(contents.into()), enabled: Some(true), dropins: Vec::new() }
    }

    /// Drop-ins for a unit of the operating system.
    pub fn dropin(name: impl Into<String>, file: impl Into<String>, contents: impl Into<String>) -> Self {
        Self { name: name.into(), dropins: vec![(file.into(), contents.into())], ..Self::default() }
    }
}

/// Contents may be secret, so only their length is shown.
impl std::fmt::Debug for NodeContents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inline(bytes) => write!(f, "Inline({} bytes)", bytes.len()),
            Self::Append(bytes) => write!(f, "Append({} bytes)", bytes.len()),
            Self::Download { url, digest } => {
                f.debug_struct("Download").field("url", url).field("digest", digest).finish()
            }
        }
    }
}
