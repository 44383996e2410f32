//! From the install-config to files: PKI, Ignition configs and manifests.
//!
//! Everything here is a function of its arguments: the clock and the source of randomness are passed in, nothing is read
//! or written. There are two exceptions. The crypto library takes the randomness of keys and signatures from the operating
//! system; what must outlive a run is therefore in [`Secrets`], generated once and handed in again. And [`openshift`] has
//! another program render, on a copy that it makes and removes.
//!
//! The walk: [`Secrets::generate`] → [`manifests()`] → [`Certificates::issue`] → [`ignition_configs`].

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

mod cluster;
mod error;
mod graph;
mod hex;
mod ignition;
mod kubeadm;
mod kubeconfig;
mod machine_role;
mod manifests;
mod metadata;
pub mod node;
mod onprem;
pub mod openshift;
mod pki;
mod secrets;
mod template;
mod unpack;
mod yaml;

pub use cluster::Cluster;
pub use error::Error;
pub use graph::{Asset, graph};
pub use ignition::{
    ignition_configs, pointer_config, replacement_config, served_config, with_files, with_hostname, with_text_file,
};
pub use machine_role::MachineRole;
pub use manifests::{Credentials, manifests};
pub use metadata::{ClusterMetadata, OvirtMetadata, PacketMetadata, PowervmMetadata, PowervsMetadata};
pub use node::{NodeConfig, NodeContents, NodeFacts, NodeFile, NodeUnit, VipFacts};
pub use onprem::{LocalNode, Member, boot_script, haproxy_config, keepalived_config, router_ids};
pub use pki::{
    Authority, Certificates, Expiry, IssuedCertificate, PrivateKey, Reissue, certificate_expiry, public_key_pins,
};
pub use secrets::{Secrets, Token};
