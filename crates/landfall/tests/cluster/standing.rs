//! Where an installation stands, at all its stages.

use serde_json::Value;

use crate::{
    engine::{CHANGES, Engine},
    install::{Install, Wish},
    place::Place,
};

fn standing(install: &Install) -> Value {
    install.ok(&["status", "--output", "json"]).json()["installation"].clone()
}

/// The state of the step with a title that ends so.
fn state<'a>(standing: &'a Value, end: &str) -> &'a Value {
    let steps = standing["steps"].as_array().unwrap();
    let found = steps.iter().find(|step| step["title"].as_str().unwrap().ends_with(end));
    &found.unwrap_or_else(|| panic!("no step '{end}': {standing}"))["state"]
}

#[test]
fn status_follows_an_installation_from_beginning_to_end() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    assert_eq!(standing(&install), Value::Null);

    let hang = engine.fault(&format!("{CHANGES} nth=5 latency=10000h"));
    let mut process = install.start(&["create", "cluster"]);
    process.until("a call that hangs", || if engine.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });
    let now = standing(&install);
    assert_eq!(now["phase"], "infrastructure");
    assert_eq!(now["running"]["pid"], process.id());
    assert!(now["steps"].to_string().contains("\"running\""), "{now}");
    let text = install.ok(&["status"]).stdout;
    assert!(text.contains("at work           'landfall create cluster'"), "{text}");

    process.kill();
    engine.clear_faults();
    let now = standing(&install);
    assert_eq!((&now["phase"], now.get("running")), (&"infrastructure".into(), None));
    assert!(now["steps"].to_string().contains("\"interrupted\""), "{now}");
    assert!(now["next"].as_str().unwrap().contains("'landfall create cluster' goes on"), "{now}");

    install.create();
    let now = standing(&install);
    assert_eq!(now["phase"], "ready");
    assert_eq!(state(&now, "-bootstrap"), "removed");
    assert_eq!(state(&now, "-master-0"), "done");
    assert_eq!(state(&now, "all nodes are ready"), "done");
    let path = now["timing"]["criticalPath"].as_array().unwrap();
    assert!(path.iter().any(|span| span["id"].as_str().unwrap().starts_with("vm/")), "{now}");
    let [elapsed, critical] = ["elapsedSeconds", "criticalSeconds"].map(|name| now["timing"][name].as_f64().unwrap());
    assert!(critical > 0.0 && critical <= elapsed, "{now}");
}

#[test]
fn a_destroyed_cluster_stays_destroyed_until_another_is_created() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    // Before anything was made there is nothing to be destroyed, and no reason to refuse anything later.
    install.ok(&["create", "ignition-configs"]);
    install.destroy();
    install.create();
    install.destroy();

    assert_eq!(standing(&install)["phase"], "destroyed");
    let text = install.ok(&["status"]).stdout;
    assert!(text.contains("'landfall create cluster' begins a new one"), "{text}");
    assert!(install.context.path("metadata.json").exists());
    let again = install.ok(&["destroy", "cluster"]);
    assert!(again.stderr.contains("nothing carried the mark"), "{}", again.stderr);
}

#[test]
fn what_failed_is_shown_with_its_error() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    engine.fault("POST /ovirt-engine/api/vms/*/start nth=1 no-capacity");
    install.fails(&["create", "cluster"], 4);
    let now = standing(&install);
    let failed = now["steps"].as_array().unwrap().iter().find(|step| step["state"] == "failed").unwrap();
    assert_eq!(failed["errorClass"], "capacity");
    let text = install.ok(&["status"]).stdout;
    assert!(text.contains(failed["error"].as_str().unwrap()), "{text}");
}
