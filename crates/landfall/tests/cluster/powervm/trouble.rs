//! `kill -9`, Ctrl-C, a server that does not answer.

use landfall_engine::{Journal, State};
use serde_json::{Value, json};

use super::{Scene, Wish};
use crate::packet::Install;

/// All calls that change something, except those by which sessions begin.
const CHANGES: &str = "POST,PUT,DELETE /rest/api/uom/*";
/// The calls at which the program is killed: from the first partition to the last mapping and start of a cluster with one master.
const KILLED_AT: [u64; 4] = [1, 5, 11, 18];

/// Waits until a call hangs that was told to.
fn until_it_hangs(scene: &Scene, process: &mut crate::process::Process, hang: u64) {
    process.until("a call that hangs", || if scene.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });
}

#[test]
fn killed_the_same_command_goes_on_or_everything_can_be_removed() {
    std::thread::scope(|scope| {
        for (number, call) in KILLED_AT.into_iter().enumerate() {
            scope.spawn(move || {
                let scene = Scene::new();
                let before = scene.holds();
                let install = scene.install(Wish::default());
                let hang = scene.fault(&format!("{CHANGES} nth={call} latency=10000h"));
                let mut process = install.start(&["create", "cluster"]);
                until_it_hangs(&scene, &mut process, hang);
                process.kill();
                scene.clear_faults();
                // Half of them go on, half are given up.
                if number % 2 == 0 {
                    install.ok(&["create", "cluster"]);
                    assert_eq!(scene.places(&install.context.infra_id()).len(), 1, "the master, killed at {call}");
                    let hang = scene.fault(&format!("{CHANGES} nth=3 latency=10000h"));
                    let mut process = install.start(&["destroy", "cluster"]);
                    until_it_hangs(&scene, &mut process, hang);
                    process.kill();
                    scene.clear_faults();
                }
                install.ok(&["destroy", "cluster"]);
                assert_eq!(scene.holds(), before, "killed at call {call}");
            });
        }
    });
}

#[test]
fn ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let scene = Scene::new();
    let before = scene.holds();
    let install = scene.install(Wish::default());
    let interrupted = |nth: u64, command: &str| {
        let hang = scene.fault(&format!("{CHANGES} nth={nth} latency=10000h"));
        let mut process = install.start(&[command, "cluster"]);
        until_it_hangs(&scene, &mut process, hang);
        process.interrupt();
        let run = process.wait();
        assert_eq!(run.code, 8, "{}", run.stderr);
        let hint = format!("run {} again", install.context.named(&format!("{command} cluster")));
        assert!(run.stderr.contains(&hint), "{}", run.stderr);
        scene.clear_faults();
    };
    interrupted(6, "create");
    install.ok(&["create", "cluster"]);
    let journal = Journal::read(&install.context.path(".landfall/journal.sqlite")).unwrap();
    assert_eq!(journal.entry(&"vm/master-0".into()).map(|entry| entry.state), Some(State::Done));
    interrupted(2, "destroy");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}

/// Leads a server of the install-config elsewhere; returns where it was.
fn lead(install: &Install, host: &str, address: &Value) -> Value {
    let text = install.context.read("install-config.yaml");
    let mut config: Value = serde_saphyr::from_str(&text).unwrap();
    let hosts = config["platform"]["powervm"]["hosts"].as_array_mut().unwrap();
    let entry = hosts.iter_mut().find(|entry| entry["name"] == host).unwrap();
    let before = std::mem::replace(&mut entry["address"], address.clone());
    install.context.write("install-config.yaml", serde_saphyr::to_string(&config).unwrap());
    before
}

#[test]
fn a_server_that_does_not_answer_is_named_and_the_others_are_cleared() {
    let scene = Scene::new();
    let before = scene.holds();
    let wish = Wish { masters: 3, ..Wish::default() };
    let install = scene.install_with(wish, |config| config["timeouts"] = json!({"destroy": "10s"}));
    install.ok(&["create", "cluster"]);
    let id = install.context.infra_id();
    // Nobody listens there.
    let address = lead(&install, "power-b", &json!("https://127.0.0.1:9"));
    let run = install.run(&["destroy", "cluster"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("whatever is on power-b, which does not answer"), "{}", run.stderr);
    assert_eq!(scene.places(&id), ["power-b"], "the others are cleared, and what is on that one is left");
    lead(&install, "power-b", &address);
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}
