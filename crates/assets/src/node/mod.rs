//! What is on a machine after its first boot: files and systemd units, whatever carries them there.

mod agent;
mod artifacts;
mod cni;
mod config_source;
mod containerd;
mod contents;
mod facts;
mod kubernetes;
pub mod paths;
mod proxy;
mod sandbox;
mod system;
mod trust;
mod units;

pub(crate) use agent::{agent_path, agent_unit};
pub use artifacts::known_kubernetes_versions;
pub(crate) use artifacts::node_agent;
pub use cni::routed_cni_config;
pub use config_source::ConfigSource;
pub(crate) use config_source::config_url;
pub(crate) use containerd::PAUSE_IMAGE;
pub use contents::{NodeConfig, NodeContents, NodeFile, NodeUnit};
pub(crate) use facts::served_roles;
pub use facts::{
    ApiFacts, BootScriptFacts, BootstrapFacts, ClusterFacts, ConfigServerFacts, NetworkFacts, NodeFacts, ServedRole,
    VipFacts,
};
pub(crate) use kubernetes::KubernetesMachines;
pub(crate) use proxy::no_proxy;
pub(crate) use system::threads;
