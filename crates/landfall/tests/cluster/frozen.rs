//! What was handed out to machines stays what it was, whatever the user does to the install directory, until the cluster is destroyed.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _};

use landfall_engine::Journal;
use serde_json::{Value, json};

use crate::{
    context::{TestContext, Tree},
    engine::{CHANGES, Engine, PASSWORD},
    install::{Install, Wish},
    packet,
    place::Place,
    process::Process,
};

const OPENSHIFT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
const KEYS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/openshift-keys");

/// An installation that was killed when it had made something.
fn begun(engine: &Engine<'_>, install: &Install) {
    let hang = engine.fault(&format!("{CHANGES} nth=5 latency=10000h"));
    let mut process = install.start(&["create", "cluster"]);
    process.until("a call that hangs", || if engine.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });
    process.kill();
    engine.clear_faults();
}

/// Returns everything in an install directory but log, lock and journal: after a kill, SQLite undoes half a transaction at the next read.
fn contents(context: &TestContext) -> Tree {
    let mut tree = context.tree();
    tree.retain(|path, _| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !(name == "landfall.log" || name == "lock" || name.starts_with("journal.sqlite"))
    });
    tree
}

/// Runs that must change nothing, neither in the directory nor on the platform.
#[track_caller]
fn refused(engine: &Engine<'_>, install: &Install, arguments: &[&str], told: &[&str]) {
    let (before, changes) = (contents(&install.context), engine.changes());
    let journal = install.journal();
    let stderr = install.fails(arguments, 3);
    for part in told {
        assert!(stderr.contains(part), "{arguments:?}: '{part}' is not in: {stderr}");
    }
    assert!(contents(&install.context) == before, "{arguments:?} changed the directory");
    assert_eq!(install.journal(), journal, "{arguments:?}");
    assert_eq!(engine.changes(), changes);
}

#[test]
fn another_install_config_is_refused_once_the_cluster_exists() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    begun(&engine, &install);
    let original = install.context.read("install-config.yaml");
    let check = |when: &str| {
        let changes = [
            ("metadata:", "version: 1.35.0\nmetadata:", "version was '1.36.4', now it is '1.35.0'"),
            (
                "baseDomain: example.com",
                "baseDomain: example.org",
                "baseDomain was 'example.com', now it is 'example.org'",
            ),
            ("replicas: 1", "replicas: 3", "controlPlane.replicas was 1, now it is 3"),
        ];
        for (from, to, told) in changes {
            install.context.replace("install-config.yaml", from, to);
            let hint = format!("{} does no upgrades", install.context.named("create cluster"));
            for command in [
                &["create", "cluster", "--regenerate"][..],
                &["create", "cluster", "--keep-stale"],
                &["create", "cluster"],
                &["create", "ignition-configs", "--regenerate"],
                &["create", "manifests"],
            ] {
                refused(&engine, &install, command, &[told, &hint, &install.infra_id(), "landfall destroy cluster"]);
            }
            install.context.write("install-config.yaml", &original);
        }
        println!("{when}: refused");
    };
    check("half made");
    install.create();
    check("ready");
    // Another Landfall may assume something else where the file says nothing.
    install.context.replace(".landfall/frozen.json", "\"version\": \"1.36.4\"", "\"version\": \"1.36.3\"");
    install.create();
    install.context.replace(".landfall/frozen.json", "\"version\": \"1.36.3\"", "\"version\": \"1.36.4\"");
    // What no machine is given may change, and so may the looks of the file.
    install.context.write("install-config.yaml", format!("# mine\n{original}timeouts:\n  install: 50m\n"));
    install.create();
    install
        .context
        .write("install-config.yaml", original.replace("baseDomain: example.com", "baseDomain: example.org"));
    install.destroy();
}

#[test]
fn a_file_that_is_not_what_was_handed_out_is_named_and_can_be_put_back() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    // An edit from before is what is handed out.
    install.ok(&["create", "manifests"]);
    let edited = "manifests/40-machine-controller.yaml";
    install.context.write(edited, install.context.read(edited) + "# mine\n");
    begun(&engine, &install);
    let hint = "there are copies in .landfall/frozen";
    for path in
        ["bootstrap.ign", "auth/kubeconfig", "config-server/worker.ign", edited, "manifests/01-cluster-info.yaml"]
    {
        let handed_out = install.context.read(path);
        let copy = format!(".landfall/frozen/{path}");
        install.context.write(path, format!("{handed_out} "));
        refused(&engine, &install, &["create", "cluster"], &[&format!("{path} was changed"), hint]);
        refused(&engine, &install, &["create", "cluster", "--regenerate"], &[&format!("{path} was changed"), hint]);
        fs::remove_file(install.context.path(path)).unwrap();
        refused(&engine, &install, &["create", "cluster"], &[&format!("{path} was deleted"), hint]);
        fs::copy(install.context.path(&copy), install.context.path(path)).unwrap();
        assert_eq!(install.context.read(path), handed_out);
    }
    install.context.write("manifests/99-mine.yaml", "kind: ConfigMap\n");
    refused(&engine, &install, &["create", "cluster"], &["manifests/99-mine.yaml was added"]);
    fs::remove_file(install.context.path("manifests/99-mine.yaml")).unwrap();
    let anew = format!("--regenerate={edited}");
    refused(&engine, &install, &["create", "cluster", &anew], &["cannot write files of manifests anew"]);

    let record = ".landfall/frozen.json";
    let frozen = install.context.read(record);
    install.context.write(record, &frozen[..frozen.len() / 2]);
    refused(&engine, &install, &["create", "cluster"], &[".landfall/frozen.json is damaged", "put back a copy of it"]);
    fs::remove_file(install.context.path(record)).unwrap();
    refused(&engine, &install, &["create", "cluster"], &["cannot tell what the machines", "put back a copy of it"]);
    install.context.write(record, frozen);
    install.create();
    assert!(install.context.read(edited).ends_with("# mine\n"));
    // Damage keeps no cluster from being removed.
    install.context.write("bootstrap.ign", "");
    install.context.write(record, "");
    install.destroy();
}

#[test]
fn before_anything_is_made_files_may_change_as_ever() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    // It dies before the journal has an intention.
    install.ok(&["create", "ignition-configs"]);
    let first = install.context.read("bootstrap.ign");
    engine.fault("GET /ovirt-engine/api/* latency=10000h");
    let mut process = install.start(&["create", "cluster"]);
    process.until("a journal, and files that were written", || {
        let has_journal = matches!(Journal::read_begun(&install.context.path(".landfall/journal.sqlite")), Ok(Some(_)));
        let is_written = install.context.read("bootstrap.ign") != first;
        if has_journal && is_written { Ok(()) } else { Err(format!("journal: {has_journal}, files: {is_written}")) }
    });
    process.kill();
    engine.clear_faults();
    // A run that died between the two leaves a record without an intention, which binds nobody.
    install.context.write(".landfall/frozen.json", "whatever it was about to hand out");
    install.context.replace("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    let told = install.fails(&["create", "cluster"], 3);
    assert!(told.contains("--regenerate writes them anew"), "{told}");
    install.ok(&["create", "cluster", "--regenerate"]);
    install.destroy();
}

#[test]
fn a_cluster_that_was_destroyed_is_followed_by_a_new_one() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    install.create();
    let (first, kubeconfig) = (install.infra_id(), install.context.read("auth/kubeconfig"));
    install.destroy();
    install.context.replace("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    let run = install.create();
    assert!(run.stderr.contains(&format!("{first} was destroyed; a new cluster begins")), "{}", run.stderr);
    let second = install.infra_id();
    assert_ne!(first, second);
    assert_ne!(install.context.read("auth/kubeconfig"), kubeconfig);
    assert!(install.context.read("manifests/01-cluster-info.yaml").contains(&second));
    let past = install.context.path(&format!(".landfall/past/{first}"));
    for file in ["journal.sqlite", "secrets", "frozen.json", "cluster.json"] {
        assert!(past.join(file).exists(), "{file} of the first is kept");
    }
    install.destroy();

    // What the user edited is asked about, as ever.
    let edited = "manifests/31-machineset-worker.yaml";
    install.context.write(edited, install.context.read(edited) + "# mine\n");
    let told = install.fails(&["create", "cluster"], 3);
    assert!(told.contains(&format!("{edited} is out of date, and you edited it")), "{told}");
    install.ok(&["create", "cluster", "--regenerate"]);
    install.destroy();
}

#[test]
fn other_credentials_are_used_and_told() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    let credentials = engine.credentials();
    install.set_credentials(&credentials.replace("admin@internal", "admin@internal-authz"));
    install.set_credentials(&credentials);
    begun(&engine, &install);
    let before = install.context.read("manifests/20-credentials.yaml");
    install.set_credentials(&format!("{credentials}ovirt_insecure: true\n"));
    let run = install.create();
    assert!(run.stderr.contains("the credentials are not those that the cluster was begun with"), "{}", run.stderr);
    assert!(!run.stderr.contains(PASSWORD));
    assert_eq!(install.context.read("manifests/20-credentials.yaml"), before);
}

#[test]
fn a_certificate_that_ends_too_soon_stops_the_run_with_a_choice() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    let timeouts = |install_time: &str| {
        let text = install.context.read("install-config.yaml");
        let text = text.split("timeouts:").next().unwrap().to_owned();
        install.context.write("install-config.yaml", format!("{text}timeouts:\n  install: {install_time}\n"));
    };
    let config = install.context.read("install-config.yaml");
    install.context.write("install-config.yaml", format!("{config}pki:\n  certificateValidityDays: 1\n"));
    timeouts("23h");
    let before = engine.changes();
    let told = install.fails(&["create", "cluster"], 3);
    assert!(told.contains("the certificate") && told.contains("ends at"), "{told}");
    assert!(told.contains("nothing was created: shorten 'timeouts' or raise"), "{told}");
    assert_eq!(engine.changes(), before);

    timeouts("1h");
    install.ok(&["create", "ignition-configs", "--regenerate"]);
    begun(&engine, &install);
    timeouts("23h");
    refused(
        &engine,
        &install,
        &["create", "cluster"],
        &["machines pin it, so it is not renewed", "landfall destroy cluster"],
    );
    timeouts("1h");
    install.create();
    // Machines that are up need none of them.
    timeouts("23h");
    install.create();
}

/// Waits until the journal knows a step that is under way, and kills the program then.
fn kill_at_step(mut process: Process, context: &TestContext, step: &str) {
    process.until(step, || {
        let journal = Journal::read(&context.path(".landfall/journal.sqlite")).map_err(|error| error.to_string())?;
        journal.entry(&step.into()).map(drop).ok_or_else(|| format!("{} steps", journal.entries.len()))
    });
    process.kill();
}

#[test]
fn machines_find_the_asset_host_where_they_were_told_to() {
    let scene = packet::Scene::new(&[]);
    let install = scene.install(&json!({"assetHost": {"landfall": {"listen": "127.0.0.1:0"}}}), 1, 0);
    kill_at_step(install.start(&["create", "cluster"]), &install.context, "vm/bootstrap");
    let frozen: Value = serde_json::from_str(&install.context.read(".landfall/frozen.json")).unwrap();
    let address = frozen["told"]["the asset host listens on"].as_str().unwrap().to_owned();
    let below = frozen["told"]["the asset host serves below"].as_str().unwrap().to_owned();
    assert!(!address.ends_with(":0") && below.contains(&address), "{address}, {below}");

    {
        let _taken = TcpListener::bind(&address).unwrap();
        let run = install.run(&["create", "cluster"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains(&format!("cannot listen on {address} again")), "{}", run.stderr);
        assert!(run.stderr.contains("if another process uses it"), "{}", run.stderr);
    }
    let run = install.run(&["create", "cluster", "--asset-listen", "127.0.0.1:1"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    let elsewhere = scene.place.installer();
    let run = install.run(&["create", "cluster", "--asset-listen", &elsewhere]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let told = format!("cannot serve https://{elsewhere} to machines that were told to fetch from https://{address}");
    assert!(run.stderr.contains(&told), "{}", run.stderr);

    let identity = install.context.read(".landfall/asset-host.json");
    fs::remove_file(install.context.path(".landfall/asset-host.json")).unwrap();
    let run = install.run(&["create", "cluster"]);
    assert!(run.code == 3 && run.stderr.contains(".landfall/asset-host.json was deleted"), "{}", run.stderr);
    assert!(!install.context.path(".landfall/asset-host.json").exists(), "no other identity is made up");
    install.context.write(".landfall/asset-host.json", identity);

    install.ok(&["create", "cluster"]);
    for device in scene.state()["devices"].as_array().unwrap() {
        let script = device["ipxe_script_url"].as_str().unwrap_or_default();
        assert!(script.contains(&format!("http://{address}/")), "{script}, and not {address}");
    }
    // A cluster that is ready needs no address any more.
    let _taken = TcpListener::bind(&address).unwrap();
    install.ok(&["create", "cluster"]);
    install.ok(&["destroy", "cluster"]);
}

/// The release's installer brings new authorities with each rendering, and the cluster that is coming up has the old ones.
#[test]
fn openshift_keeps_its_authorities() {
    let place = Place::new();
    let engine = Engine::with(&place, &["--guest-fault", "bootstrap never-boots"]);
    let install = Install::new(&engine, Wish { masters: 3, workers: 2, ..Wish::default() });
    let program = install.context.home().join("openshift-install");
    fs::create_dir_all(KEYS).unwrap();
    let script = format!("#!/bin/sh\nFAKE_KEYS={KEYS} exec python3 {OPENSHIFT}/openshift-install \"$@\"\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut config: Value = serde_saphyr::from_str(&install.context.read("install-config.yaml")).unwrap();
    config["distribution"] = json!("openshift");
    config["pullSecret"] = json!(r#"{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNzd29yZA=="}}}"#);
    config["openshiftInstall"] = json!({"path": program});
    config["timeouts"] = json!({"api": "2s"});
    config.as_object_mut().unwrap().remove("version");
    install.context.write("install-config.yaml", serde_saphyr::to_string(&config).unwrap());

    // Without anything on the platform each rendering is another one.
    install.ok(&["create", "ignition-configs"]);
    let rendered = install.context.read("bootstrap.ign");
    begun(&engine, &install);
    assert_ne!(install.context.read("bootstrap.ign"), rendered, "the stand-in renders something new each time");
    let files =
        ["bootstrap.ign", "auth/kubeconfig", "auth/kubeadmin-password", ".landfall/secrets/openshift-state.json"];
    let read = || files.map(|path| install.context.read(path));
    let before = read();
    // The program need not even be there.
    fs::remove_file(&program).unwrap();
    for command in [&["create", "cluster"][..], &["create", "cluster", "--regenerate"]] {
        let run = install.run(command);
        assert_eq!(run.code, 5, "nothing boots: {}", run.stderr);
        assert!(read() == before, "{command:?} wrote other files than those that were handed out");
    }
    install.ok(&["create", "ignition-configs"]);
    assert!(read() == before);
    install.destroy();
}
