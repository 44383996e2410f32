//! What is rendered for distribution `kubernetes`, judged by the programs that will read it.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "all of this is test code, functions without `#[test]` included"
)]

mod access;
mod cloud_controller;
mod configs;
mod endpoint_scripts;
mod ignition;
mod kubeadm;
mod manifests;
mod onprem;
mod pki;
mod power;
mod scripts;
mod snapshots;
mod tool;
mod units;
mod view;
