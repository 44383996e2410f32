//! What cannot work: the message, the exit code, and what is left.

use std::fs;

use landfall_simulator::ovirt::DEFAULT_INVENTORY;

use crate::{
    context::Run,
    engine::{Engine, PASSWORD},
    install::{Install, Wish},
    inventory::assert_same,
    place::Place,
};

/// The default world of an engine with something changed, as a file.
struct World(tempfile::NamedTempFile);

impl World {
    fn with(from: &str, to: &str) -> Self {
        assert!(DEFAULT_INVENTORY.contains(from), "{DEFAULT_INVENTORY}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), DEFAULT_INVENTORY.replacen(from, to, 1)).unwrap();
        Self(file)
    }

    fn flag(&self) -> [&str; 2] {
        ["--inventory", self.0.path().to_str().unwrap()]
    }
}

#[track_caller]
fn assert_told(run: &Run, code: i32, words: &[&str]) {
    assert_eq!(run.code, code, "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "'{word}' is not in: {}", run.stderr);
    }
}

/// An installation that fails before anything is made, and then succeeds because the cause is gone.
#[track_caller]
fn refused(engine: &Engine<'_>, install: &Install, code: i32, words: &[&str]) {
    let before = engine.inventory();
    let changes = engine.changes();
    // The credentials are in files that are made before; they may have changed since.
    let run = install.run(&["create", "cluster", "--regenerate"]);
    assert_told(&run, code, words);
    assert!(run.stderr.contains("nothing was created"), "{}", run.stderr);
    assert_eq!(engine.changes(), changes, "nothing was even tried");
    assert_same(&engine.inventory(), &before, "after an installation that was refused");
}

#[test]
fn what_is_known_before_stops_everything_before_anything_is_made() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    let credentials = engine.credentials();

    install.set_credentials(&credentials.replace(PASSWORD, "not the password"));
    refused(&engine, &install, 4, &["refused user admin@internal", "password"]);

    let stranger = Place::new();
    let other = Engine::start(&stranger);
    let ca_files = [engine.ca_file(), other.ca_file()].map(|file| file.display().to_string());
    install.set_credentials(&credentials.replace(&ca_files[0], &ca_files[1]));
    refused(&engine, &install, 4, &["is not trusted", "the engine's CA is not the one in the credentials file"]);
    drop(other);

    install.set_credentials(&credentials.replace(&place.engine(), &stranger.engine()));
    refused(&engine, &install, 4, &[&stranger.engine(), "reached"]);

    install.set_credentials(&credentials);
    install.context.replace("install-config.yaml", "fcos", "no-such-template");
    refused(&engine, &install, 3, &["no-such-template", "platform.ovirt.image.template"]);

    install.context.replace("install-config.yaml", "no-such-template", "fcos");
    install.ok(&["create", "cluster", "--regenerate"]);
}

#[test]
fn what_belongs_to_somebody_else_is_left_alone() {
    let place = Place::new();
    let install = {
        let engine = Engine::start(&place);
        let install = Install::new(&engine, Wish::default());
        install.ok(&["create", "ignition-configs"]);
        install
    };
    let id = install.infra_id();
    let taken = format!("tags:\n  - name: {id}\nvms:\n  - {{ name: {id}-master-0, cluster: Default }}\n\ntemplates:");
    let world = World::with("templates:", &taken);
    let engine = Engine::with(&place, &world.flag());
    refused(&engine, &install, 4, &[&format!("tag {id}"), &format!("machine {id}-master-0"), "do not belong"]);
    let before = engine.inventory();
    install.destroy();
    assert_same(&engine.inventory(), &before, "destroying a cluster that was never made");
}

/// An installation that fails half-way, can be destroyed, and can be taken up once the cause is gone.
#[track_caller]
fn stopped_half_way(world: &World, words: &[&str]) {
    let place = Place::new();
    let engine = Engine::with(&place, &world.flag());
    let empty = engine.inventory();
    let install = Install::new(&engine, Wish::default());
    let run = install.run(&["create", "cluster"]);
    assert_told(&run, 4, words);
    assert_told(&run, 4, &[&format!("run {} again", install.context.named("create cluster"))]);
    install.destroy();
    assert_same(&engine.inventory(), &empty, "after destroying what was made");
}

#[test]
fn a_quota_that_is_used_up_leaves_what_can_be_destroyed() {
    let enforced = "description: The default Data Center\n    quota_mode: enabled";
    let text = DEFAULT_INVENTORY.replacen("description: The default Data Center", enforced, 1);
    assert_ne!(text, DEFAULT_INVENTORY);
    let file = tempfile::NamedTempFile::new().unwrap();
    let quota = "    quotas:\n      - id: 7a5b0000-0000-4000-8000-00000000f001\n        name: Default\n";
    assert!(text.contains(quota), "{text}");
    fs::write(file.path(), text.replacen(quota, &format!("{quota}        vcpus: 5\n"), 1)).unwrap();
    stopped_half_way(&World(file), &["cannot make virtual machine", "Quota has insufficient cluster resources"]);
}

#[test]
fn storage_that_is_full_leaves_what_can_be_destroyed() {
    stopped_half_way(
        &World::with("size_gib: 10240", "size_gib: 7"),
        &["cannot make virtual machine", "Low disk space on Storage Domain data"],
    );
}

#[test]
fn hosts_without_room_leave_what_can_be_taken_up() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    engine.fault("POST /ovirt-engine/api/vms/*/start nth=2 no-capacity");
    let run = install.run(&["create", "cluster"]);
    let hint = format!("run {} again", install.context.named("create cluster"));
    assert_told(&run, 4, &["cannot make virtual machine", "no host that satisfies", &hint]);
    engine.clear_faults();
    install.create();
}

/// The machine controller asks again and again; the installation ends with its time, and says what the platform answers.
#[test]
fn workers_that_the_platform_refuses_end_the_installation_with_the_reason() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let empty = engine.inventory();
    let install = Install::new(&engine, Wish::default());
    install.context.replace("install-config.yaml", "platform:", "timeouts:\n  install: 15s\nplatform:");
    // Bootstrap machine and master start, and nothing after them.
    let refusal = engine.fault("POST /ovirt-engine/api/vms/*/start from=3 no-capacity");
    let run = install.run(&["create", "cluster"]);
    let words = ["did not become ready", "1 nodes, 1 ready of 2 expected", "-worker-", "no host that satisfies"];
    assert_told(&run, 6, &words);
    let refused = engine.fired(refusal);
    assert!((1..40).contains(&refused), "the worker was refused {refused} times");
    let status = install.ok(&["status"]).stdout;
    assert!(status.contains("1 refused (OutOfCapacity)"), "{status}");
    engine.clear_faults();
    install.destroy();
    assert_same(&engine.inventory(), &empty, "after a cluster without workers");
}

#[test]
fn a_control_plane_that_does_not_come_up_is_told_from_nodes_that_do_not() {
    for (machine, code, words) in [
        ("bootstrap", 5, ["the control plane did not come up", "the API"]),
        ("worker", 6, ["did not become ready", "1 nodes, 1 ready of 2 expected"]),
    ] {
        let place = Place::new();
        let engine = Engine::with(&place, &["--guest-fault", &format!("{machine} never-boots")]);
        let empty = engine.inventory();
        let install = Install::new(&engine, Wish::default());
        let timeouts = "timeouts:\n  api: 5s\n  install: 5s\nplatform:";
        install.context.replace("install-config.yaml", "platform:", timeouts);
        let run = install.run(&["create", "cluster"]);
        assert_told(&run, code, &words);
        install.destroy();
        assert_same(&engine.inventory(), &empty, "after a cluster that did not come up");
    }
}
