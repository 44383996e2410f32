//! What is rendered for distribution `kubernetes`, judged by the programs that will read it.

#![allow(clippy::unwrap_used, reason = "all of this is test code, functions without `#[test]` included")]

mod access;
mod configs;
mod ignition;
mod kubeadm;
mod manifests;
mod onprem;
mod pki;
mod scripts;
mod snapshots;
mod tool;
mod view;
