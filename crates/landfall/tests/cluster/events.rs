//! What programs read while a cluster is made and destroyed.

use serde_json::Value;

use crate::{
    context::Run,
    engine::Engine,
    install::{Install, Wish},
    place::Place,
};

/// All lines; every one is an object with a time and a kind.
fn events(run: &Run) -> Vec<Value> {
    let read = |line: &str| -> Value { serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) };
    let events: Vec<Value> = run.stdout.lines().map(read).collect();
    for event in &events {
        assert!(event["at"].is_string() && event["event"].is_string(), "{event}");
    }
    events
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn a_program_can_follow_everything_line_by_line() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());

    let made = events(&install.ok(&["create", "cluster", "--output", "json"]));
    let findings = of(&made, "preflight")[0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["check"] == "storage domain" && finding["verdict"] == "ok"));
    for step in ["vm/master-0", "wait/api", "wait/bootstrap", "wait/nodes"] {
        for kind in ["started", "finished"] {
            assert!(of(&made, kind).iter().any(|event| event["step"] == step), "{kind} {step}");
        }
    }
    assert!(of(&made, "finished").iter().all(|event| event["took"].is_f64()));
    let last = made.last().unwrap();
    assert_eq!((&last["event"], &last["outcome"]), (&"result".into(), &"ready".into()));
    assert_eq!(last["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(last["infraId"], install.infra_id());

    let waited = events(&install.ok(&["wait-for", "install-complete", "--output", "json"]));
    assert_eq!(waited.last().unwrap()["outcome"], "complete");

    let gone = events(&install.ok(&["destroy", "cluster", "--output", "json"]));
    let last = gone.last().unwrap();
    assert_eq!(last["outcome"], "destroyed");
    let removed = last["removed"].to_string();
    assert!(removed.contains("-master-0") && removed.contains("tag ") && !removed.contains("nodes"), "{removed}");
}

#[test]
fn a_failure_is_the_last_line() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    engine.fault("POST /ovirt-engine/api/vms/*/start nth=1 no-capacity");
    let run = install.run(&["create", "cluster", "--output", "json"]);
    let events = events(&run);
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["outcome"]), (&"result".into(), &"failed".into()));
    assert_eq!((run.code, &last["exitCode"]), (4, &4.into()));
    assert!(last["error"].as_str().unwrap().contains("cannot make virtual machine"), "{last}");
    assert!(last["hint"].as_str().unwrap().contains("create cluster"), "{last}");
}
