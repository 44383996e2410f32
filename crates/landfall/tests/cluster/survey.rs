//! From the questions to the configs: the survey in a pseudo-terminal, against the simulated engine.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::{
    context::TestContext,
    engine::{Engine, PASSWORD},
    place::Place,
    terminal::{ENTER, ESCAPE, Terminal},
};

#[test]
fn what_the_survey_writes_can_be_installed() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let [api, ingress] = place.vips(0);
    let mut terminal = Terminal::open();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", ENTER);
    terminal.answer("oVirt engine", &format!("{}{ENTER}", place.engine()));
    terminal.see("SHA-256");
    terminal.answer("Trust this CA?", &format!("Yes{ENTER}"));
    terminal.answer("Engine user", ENTER);
    terminal.answer("Password of admin@internal", &format!("wrong{ENTER}"));
    terminal.see("try 1 of 3");
    terminal.answer("It is not shown", &format!("{PASSWORD}{ENTER}"));
    terminal.see("connected to oVirt Engine 4.5.6");
    terminal.answer("The cluster of hosts", ENTER);
    terminal.answer("Where the machines' disks go", ENTER);
    terminal.answer("The network that the machines are attached to", ENTER);
    terminal.answer("It must be one that reads Ignition", ENTER);
    terminal.answer("It stays when the cluster is destroyed", ENTER);
    terminal.answer("Machine network", ESCAPE);
    terminal.answer("It stays when the cluster is destroyed", ENTER);
    terminal.answer("Machine network", &format!("{}{ENTER}", place.cidr()));
    terminal.answer("Address of the API", &format!("{api}{ENTER}"));
    terminal.answer("Address of the ingress", &format!("{ingress}{ENTER}"));
    terminal.answer("Base domain", &format!("example.com{ENTER}"));
    terminal.answer("Name of the cluster", &format!("asked{ENTER}"));
    terminal.answer("Distribution", ENTER);
    terminal.answer("Version of Kubernetes", ENTER);
    terminal.see("asked.example.com");
    terminal.answer("Write this install-config?", ENTER);
    terminal.see("wrote ");
    assert_eq!(terminal.end(), 0);
    assert_eq!(engine.changes(), 0, "questions change nothing");
    let mode = fs::metadata(terminal.credentials("ovirt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);

    let context = TestContext::empty();
    fs::copy(terminal.install_config(), context.path("install-config.yaml")).unwrap();
    let run = |arguments: &[&str]| {
        let output = context.command(arguments).env("OVIRT_CONFIG", terminal.credentials("ovirt")).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
    };
    run(&["create", "ignition-configs"]);
    assert!(context.read("auth/kubeconfig").contains("api.asked.example.com"));
    let written = context.read("install-config.yaml");
    assert!(!written.contains(PASSWORD), "{written}");
    run(&["create", "cluster"]);
    assert_eq!(
        engine.inventory().names("vms").len(),
        6,
        "three masters and three workers, unless somebody asks for others"
    );
}
