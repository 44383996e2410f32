//! The survey in a pseudo-terminal: the real program, driven by key strokes.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]

#[allow(dead_code, reason = "shared with the tests of whole clusters, which need more of it")]
mod terminal;

use std::{net::TcpListener, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use landfall_testkit::{
    HttpsServer,
    ovirt_engine::{self, CLUSTER, PASSWORD, PROFILE, STORAGE},
};
use tokio::runtime::Runtime;

use crate::terminal::{BACKSPACE, ENTER, ESCAPE, Terminal};

fn start_engine() -> (Runtime, HttpsServer) {
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(ovirt_engine::start(Arc::default()));
    (runtime, server)
}

#[test]
fn every_question_can_be_answered_with_mistakes_and_steps_back() {
    let (_runtime, engine) = start_engine();
    let mut terminal = Terminal::open();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", ENTER);
    terminal.answer("oVirt engine", "http://x");
    terminal.see("only https:// keeps the password secret");
    terminal.press(&BACKSPACE.repeat(8));
    terminal.press(&format!("{}{ENTER}", engine.address()));
    terminal.see("CN=engine.example.com.12345");
    terminal.see("SHA-256");
    terminal.answer("Trust this CA?", &format!("Yes{ENTER}"));
    terminal.answer("Engine user", ENTER);
    terminal.answer("Password of admin@internal", &format!("wrong{ENTER}"));
    terminal.see("try 1 of 3");
    terminal.answer("It is not shown", &format!("{PASSWORD}{ENTER}"));
    terminal.see("connected to oVirt Engine 4.5.4");
    terminal.answer("The cluster of hosts", &format!("Lab{ENTER}"));
    terminal.answer("Where the machines' disks go", ESCAPE);
    terminal.answer("The cluster of hosts", &format!("Default (data{ENTER}"));
    terminal.answer("Where the machines' disks go", ENTER);
    terminal.answer("The network that the machines are attached to", ENTER);
    terminal.answer("It must be one that reads Ignition", ENTER);
    terminal.answer("It stays when the cluster is destroyed", ENTER);
    terminal.answer("Machine network (192.0.2.0/24)", ENTER);
    terminal.answer("Address of the API", &format!("10.0.0.5{ENTER}"));
    terminal.see("must lie in the machine network (192.0.2.0/24)");
    terminal.press(&format!("{}192.0.2.5{ENTER}", BACKSPACE.repeat(8)));
    terminal.answer("Address of the ingress", &format!("192.0.2.6{ENTER}"));
    terminal.answer("Base domain", &format!("example.com{ENTER}"));
    terminal.answer("Name of the cluster", ESCAPE);
    terminal.answer("Base domain (example.com)", ENTER);
    terminal.answer("Name of the cluster", &format!("demo{ENTER}"));
    terminal.answer("Distribution", ENTER);
    terminal.answer("Version of Kubernetes", ENTER);
    terminal.see("demo.example.com");
    terminal.answer("Write this install-config?", ENTER);
    terminal.see("wrote ");
    assert_eq!(terminal.end(), 0);

    let written = std::fs::read(terminal.install_config()).expect("the install-config was written");
    let config = landfall_config::parse(&written).expect("the install-config is valid").config;
    let landfall_config::Platform::Ovirt(ovirt) = &config.platform else { unreachable!() };
    assert_eq!(ovirt.ovirt_cluster_id.to_string(), CLUSTER);
    assert_eq!(ovirt.ovirt_storage_domain_id.to_string(), STORAGE);
    assert_eq!(ovirt.vnic_profile_id.map(|id| id.to_string()).as_deref(), Some(PROFILE));
    assert_eq!(config.cluster_domain(), "demo.example.com");
    assert!(!String::from_utf8_lossy(&written).contains(PASSWORD));
    let mode =
        std::fs::metadata(terminal.credentials("ovirt")).expect("the credentials were stored").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn ctrl_c_at_a_question_leaves_nothing_behind() {
    let (_runtime, engine) = start_engine();
    let mut terminal = Terminal::open();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", ENTER);
    terminal.answer("oVirt engine", &format!("{}{ENTER}", engine.address()));
    terminal.answer("Trust this CA?", &format!("Yes{ENTER}"));
    terminal.answer("Engine user", ENTER);
    terminal.answer("Password of admin@internal", &format!("{PASSWORD}{ENTER}"));
    terminal.see("The cluster of hosts");
    terminal.press_ctrl_c();
    assert_eq!(terminal.end(), 8);
    assert_eq!(terminal.traces(), Vec::<PathBuf>::new());
}

#[test]
fn ctrl_c_while_the_engine_is_silent_leaves_nothing_behind() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("an address");
    let mut terminal = Terminal::open();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", ENTER);
    terminal.answer("oVirt engine", &format!("{address}{ENTER}"));
    let _connection = silent.accept().expect("the program connects");
    terminal.press_ctrl_c();
    assert_eq!(terminal.end(), 8);
    assert_eq!(terminal.traces(), Vec::<PathBuf>::new());
}
