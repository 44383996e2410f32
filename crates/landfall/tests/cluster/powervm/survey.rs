//! From the questions to a cluster: the survey in a pseudo-terminal, against simulated servers.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{Install, PASSWORD, Scene, variables};
use crate::{
    context::TestContext,
    terminal::{ENTER, ESCAPE, Terminal},
};

#[test]
fn what_the_survey_writes_can_be_installed() {
    let scene = Scene::new();
    let before = scene.holds();
    let mut terminal = Terminal::open();
    let authority = terminal.home().join("ca.pem");
    fs::write(&authority, scene.servers.ca_pem().unwrap()).unwrap();
    let addresses: Vec<String> = scene.hosts().into_iter().map(|(_, url)| url).collect();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", &format!("powervm{ENTER}"));
    terminal.answer("NovaLink addresses", &format!("{}{ENTER}", addresses.join(",")));
    terminal.answer("User", ENTER);
    terminal.answer("File with the CA certificate", &format!("{}{ENTER}", authority.display()));
    terminal.answer("Password", &format!("wrong{ENTER}"));
    terminal.see("refused user admin");
    terminal.answer("Password", &format!("{PASSWORD}{ENTER}"));
    terminal.see("connected to 3 servers");
    terminal.answer("a shared storage pool, or a volume group", &format!("pool1{ENTER}"));
    terminal.answer("which all servers bridge", ESCAPE);
    terminal.answer("a shared storage pool, or a volume group", &format!("pool1{ENTER}"));
    terminal.answer("which all servers bridge", &format!("100{ENTER}"));
    terminal.answer("Machine network", &format!("{}{ENTER}", scene.place.cidr()));
    let [api, ingress] = scene.place.vips(0);
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
    assert_eq!(scene.holds(), before, "questions make nothing");
    let credentials = terminal.home().join(".powervm/config.yaml");
    assert_eq!(fs::metadata(&credentials).unwrap().permissions().mode() & 0o777, 0o600);

    let context = TestContext::empty();
    fs::copy(terminal.install_config(), context.path("install-config.yaml")).unwrap();
    let written = context.read("install-config.yaml");
    assert!(!written.contains(PASSWORD), "{written}");
    let install = Install { context, variables: variables(&credentials) };
    let made = install.ok(&["create", "cluster"]).stdout;
    assert!(made.contains("-master-2") && made.contains("-worker-"), "{made}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}
