//! From the questions to a cluster: the survey in a pseudo-terminal, against the simulated account.

use std::{fs, os::unix::fs::PermissionsExt as _};

use landfall_testkit::named::{KEY_NAME, SECRET};

use super::{Install, Scene, ZONE};
use crate::{
    context::TestContext,
    terminal::{BACKSPACE, ENTER, ESCAPE, Terminal},
};

#[test]
fn what_the_survey_writes_can_be_installed() {
    let scene = Scene::new(&["--capacity", "da/c3.small.x86=0"]);
    let mut terminal = Terminal::open();
    let authority = terminal.home().join("ca.pem");
    fs::write(&authority, scene.account.ca_pem().unwrap()).unwrap();
    terminal.answer("SSH public key", ENTER);
    terminal.answer("Platform", &format!("packet{ENTER}"));
    terminal.answer("Packet API", &BACKSPACE.repeat(40));
    terminal.press(&format!("{}{ENTER}", scene.field("url")));
    terminal.answer("File with the API's CA", &format!("{}{ENTER}", authority.display()));
    terminal.answer("API key", &format!("wrong{ENTER}"));
    terminal.see("try 1 of 3");
    terminal.answer("It is not shown", &format!("{}{ENTER}", scene.field("api_key")));
    terminal.see("as simulator@example.com");
    terminal.answer("Machines and addresses of the cluster belong to it", ENTER);
    terminal.answer("Where the machines stand", &format!("Dallas{ENTER}"));
    terminal.answer("Tried in this order when da has no servers", ESCAPE);
    terminal.answer("Where the machines stand", &format!("Dallas{ENTER}"));
    terminal.answer("Tried in this order when da has no servers", &format!("sv{ENTER}"));
    terminal.answer("billed for each of them", ENTER);
    terminal.answer("Further plans of the masters", &format!("c3.medium.x86{ENTER}"));
    terminal.answer("That of the masters does too", ENTER);
    terminal.answer("Further plans of the workers", ENTER);
    terminal.answer("It exists for less than an hour", ENTER);
    terminal.answer("Spot instances are cheap", ENTER);
    terminal.answer("How machines that are not reserved are billed", ENTER);
    terminal.answer("It must be one that reads Ignition", ENTER);
    // Short enough for a line of the terminal.
    terminal.answer("URL of the live kernel", &format!("https://m.test/live-kernel-x86_64{ENTER}"));
    terminal.answer("URL of the live initramfs (https://m.test/live-initramfs.x86_64.img)", ENTER);
    terminal.answer("URL of the live root file system", ENTER);
    terminal.answer("Disk to install to", ENTER);
    terminal.answer("which holds secrets", ENTER);
    terminal.answer("Address of this computer", &format!("127.0.0.1:0{ENTER}"));
    terminal.answer("The network is routed", ENTER);
    terminal.answer("Do machines get public IPv6 addresses?", ENTER);
    terminal.answer("beside their routed network", ENTER);
    terminal.answer("For all objects of the cluster", ENTER);
    terminal.answer("Machine network", &format!("{}{ENTER}", scene.place.cidr()));
    terminal.answer("Base domain", &format!("{ZONE}{ENTER}"));
    terminal.answer("Name of the cluster", &format!("asked{ENTER}"));
    terminal.answer("known only during the installation", &format!("RFC{ENTER}"));
    terminal.answer("Primary name server", &format!("{}{ENTER}", scene.server.address()));
    terminal.answer("Name of the TSIG key", &format!("{KEY_NAME}{ENTER}"));
    terminal.answer("File with the TSIG secret", &format!("tsig.key{ENTER}"));
    terminal.answer("Distribution", ENTER);
    terminal.answer("Version of Kubernetes", ENTER);
    terminal.see("asked.example.com");
    terminal.answer("Write this install-config?", ENTER);
    terminal.see("wrote ");
    assert_eq!(terminal.end(), 0);
    assert_eq!(scene.left(), Vec::<String>::new(), "questions make nothing");
    let credentials = terminal.credentials("packet");
    assert_eq!(fs::metadata(&credentials).unwrap().permissions().mode() & 0o777, 0o600);

    let context = TestContext::empty();
    fs::copy(terminal.install_config(), context.path("install-config.yaml")).unwrap();
    context.write("tsig.key", SECRET);
    fs::set_permissions(context.path("tsig.key"), fs::Permissions::from_mode(0o600)).unwrap();
    let written = context.read("install-config.yaml");
    assert!(!written.contains(&scene.field("api_key")), "{written}");
    let install = Install { context, variables: scene.variables(&credentials) };
    let made = install.ok(&["create", "cluster", "--asset-listen", "127.0.0.1:0"]).stdout;
    assert!(made.contains("-master-2") && made.contains("-worker-2"), "{made}");
    let plans: Vec<String> =
        scene.state()["devices"].as_array().unwrap().iter().map(|device| device["plan"].to_string()).collect();
    assert!(plans.iter().all(|plan| plan == "\"m3.small.x86\""), "what was there was offered: {plans:?}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.left(), Vec::<String>::new());
}
