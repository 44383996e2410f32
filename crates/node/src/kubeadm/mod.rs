//! kubeadm: its configuration completed with what only the machine knows, and its commands.

mod commands;
mod config;

pub use commands::Kubeadm;
pub use config::{Amendments, Discovery, amend, kubelet_environment};
