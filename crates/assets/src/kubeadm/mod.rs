//! kubeadm's configuration: one file per machine role.
//!
//! Token and certificate key are fixed beforehand, so that the files for joining can be made before there is a cluster to
//! join.

mod cluster;
mod components;
mod init;
mod join;
mod machine;
mod registration;

pub(crate) use machine::config;

/// The version of kubeadm's own documents.
const API_VERSION: &str = "kubeadm.k8s.io/v1beta4";
