//! kubeadm: its configuration completed with what only the machine knows, and its commands.

mod commands;
mod config;
mod join;
mod storage;
mod token;

pub use commands::Kubeadm;
pub use config::{Amendments, Discovery, amend, kubelet_environment};
pub(crate) use storage::{remove_empty, store};
pub(crate) use token::BootstrapToken;
