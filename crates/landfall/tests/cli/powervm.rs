//! `landfall powervm` at simulated servers.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::context::{BINARY, Run, TestContext};

/// Simulated servers, in a process of their own as for a user. Ended when dropped.
struct Servers {
    process: Child,
    url: String,
}

impl Servers {
    fn start(context: &TestContext) -> Self {
        let mut process = Command::new(BINARY)
            .args(["sim", "powervm", "--http", "--time-scale", "500", "--guests", "plain", "--token-dir"])
            .arg(context.path("tokens"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { process, url: ready["hosts"][0]["url"].as_str().unwrap().to_owned() }
    }

    fn command(&self, context: &TestContext, arguments: &[&str], password: Option<&str>) -> Run {
        let mut command = context.command(&[&["powervm", "--console", &self.url], arguments].concat());
        if let Some(password) = password {
            command.env("POWERVM_USER", "admin").env("POWERVM_PASSWORD", password);
        }
        Run::of(command.output().unwrap())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _gone = self.process.wait();
    }
}

#[test]
fn everything_is_listed_as_a_table_and_as_json() {
    let context = TestContext::empty();
    let servers = Servers::start(&context);
    for (what, table, path, value) in [
        ("systems", "power-a 9009-42A*78A0001 operating", "/0/name", Value::from("power-a")),
        ("lpars", "web1 AIX/Linux running active", "/1/name", "web1".into()),
        ("vios", "vios1 running active 8.0 GiB 4 0 disks, 0 media", "/0/ports/1", Value::Null),
        ("networks", "100 ETHERNET0 VLAN100-ETHERNET0", "/0/switch", "ETHERNET0".into()),
        ("storage", "shared pool pool1 2000.0 GiB", "/0/sizeGib", 2000.0.into()),
    ] {
        let run = servers.command(&context, &[what], Some("landfall"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(table), "{what}:\n{}", run.stdout);
        let json = servers.command(&context, &[what, "--output", "json"], Some("landfall")).json();
        let found = json.pointer(path).unwrap_or_else(|| panic!("{what}: no {path} in {json}"));
        assert!(value.is_null() || *found == value, "{what}: {found}");
    }
}

#[test]
fn local_users_need_no_password_and_sessions_are_ended() {
    let context = TestContext::empty();
    let servers = Servers::start(&context);
    let run = servers.command(&context, &["systems"], None);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let events = servers.command(&context, &["events", "--output", "json"], None);
    assert_eq!(events.code, 0, "{}", events.stderr);
    let first: Value = serde_json::from_str(events.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["kind"], "NEW_CLIENT");
}

#[test]
fn refusals_say_what_to_do_and_no_secret() {
    let context = TestContext::empty();
    let servers = Servers::start(&context);
    let run = servers.command(&context, &["lpars"], Some("hunter2"));
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("refused user admin") && run.stderr.contains("hint: "), "{}", run.stderr);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    let run = servers.command(&context, &["lpars", "--user", "me"], None);
    assert!(run.stderr.contains("POWERVM_PASSWORD"), "{}", run.stderr);
    let run = context.run(&["powervm", "--console", "ftp://x", "lpars"]);
    assert!(run.stderr.contains("is not the address of a NovaLink or HMC"), "{}", run.stderr);
    let run = context.run(&["powervm", "--console", "http://127.0.0.1:1", "lpars"]);
    assert!(run.stderr.contains("127.0.0.1:1"), "{}", run.stderr);
}
