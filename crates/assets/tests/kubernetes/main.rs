//! What is rendered for distribution `kubernetes`, judged by the programs that will read it.

mod access;
mod configs;
mod ignition;
mod kubeadm;
mod manifests;
mod onprem;
mod pki;
mod snapshots;
mod tool;
mod view;
