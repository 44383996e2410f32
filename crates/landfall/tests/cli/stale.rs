//! Files that are out of date because something before them changed.

use crate::context::TestContext;

const MACHINE_SET: &str = "manifests/31-machineset-worker.yaml";

/// Two more workers than the files say.
fn outdated() -> TestContext {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    context.replace("install-config.yaml", "replicas: 2", "replicas: 4");
    context
}

#[test]
fn the_run_stops_and_shows_the_difference() {
    let context = outdated();
    let before = context.visible_tree();
    let run = context.run(&["create", "ignition-configs", "--quiet"]);
    assert_eq!(run.code, 3);
    assert_eq!(context.visible_tree(), before);
    insta::assert_snapshot!(context.stable(&run.stderr));
}

#[test]
fn regenerate_writes_anew_and_keeps_a_copy_of_edits() {
    let context = outdated();
    let edited = context.read(MACHINE_SET) + "# mine\n";
    context.write(MACHINE_SET, &edited);
    let run = context.run(&["create", "ignition-configs"]);
    assert!(
        run.stderr.contains("manifests/31-machineset-worker.yaml is out of date, and you edited it"),
        "{}",
        run.stderr
    );
    let run = context.ok(&["create", "ignition-configs", "--regenerate", "--output", "json"]);
    assert!(context.read(MACHINE_SET).contains("replicas: 4"));
    let backup = run.json()["backup"].as_str().unwrap().to_owned();
    assert_eq!(context.read(&format!("{backup}/{MACHINE_SET}")), edited);
    assert!(!context.path(&format!("{backup}/manifests/01-cluster-info.yaml")).exists(), "it was not edited");
    let run = context.ok(&["create", "ignition-configs"]);
    assert!(run.stderr.contains("manifests: 13 up to date"), "{}", run.stderr);
}

#[test]
fn an_edit_elsewhere_survives_regenerate() {
    let context = outdated();
    let path = "manifests/40-machine-controller.yaml";
    let edited = context.read(path) + "# mine\n";
    context.write(path, &edited);
    context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert_eq!(context.read(path), edited);
}

#[test]
fn keep_stale_uses_the_files_and_remembers_that() {
    let context = outdated();
    let before = context.read(MACHINE_SET);
    context.ok(&["create", "ignition-configs", "--keep-stale"]);
    assert_eq!(context.read(MACHINE_SET), before);
    let run = context.ok(&["create", "ignition-configs"]);
    assert!(run.stderr.contains("out of date; you chose to use it as it is"), "{}", run.stderr);
    let status = context.ok(&["status", "--output", "json"]).json();
    assert_eq!(status["stages"][0]["files"][MACHINE_SET], "kept-stale");

    context.replace("install-config.yaml", "replicas: 4", "replicas: 5");
    assert_eq!(context.run(&["create", "ignition-configs"]).code, 3, "another change is another question");
    context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(context.read(MACHINE_SET).contains("replicas: 5"));
    assert!(!context.path(".landfall/backup").exists(), "nothing of the user was replaced");
}

#[test]
fn what_was_kept_can_still_be_regenerated() {
    let context = outdated();
    context.ok(&["create", "ignition-configs", "--keep-stale"]);
    context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(context.read(MACHINE_SET).contains("replicas: 4"));
}

#[test]
fn choices_can_be_made_file_by_file() {
    let context = outdated();
    let anew = format!("--regenerate={MACHINE_SET}");
    let run = context.run(&["create", "manifests", &anew]);
    assert_eq!(run.code, 3, "one more is stale: {}", run.stderr);
    assert!(run.stderr.contains("1 file of manifests is out of date"), "{}", run.stderr);
    context.ok(&["create", "manifests", &anew, "--keep-stale=manifests/01-cluster-info.yaml"]);
    assert!(context.read(MACHINE_SET).contains("replicas: 4"));
    assert!(context.read("manifests/01-cluster-info.yaml").contains("replicas: 2"));
}

#[test]
fn a_file_that_is_no_longer_needed_moves_to_the_backup() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    let path = "manifests/30-machine-master-2.yaml";
    let manifest = context.read(path);
    context.replace("install-config.yaml", "replicas: 3", "replicas: 1");
    let run = context.run(&["create", "manifests"]);
    assert!(run.stderr.contains(&format!("{path} is out of date and no longer needed")), "{}", run.stderr);
    let run = context.ok(&["create", "manifests", "--regenerate", "--output", "json"]);
    assert!(!context.path(path).exists());
    let backup = run.json()["backup"].as_str().unwrap().to_owned();
    assert_eq!(context.read(&format!("{backup}/{path}")), manifest);
}

#[test]
fn ignition_configs_follow_the_manifests() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    context.write(MACHINE_SET, context.read(MACHINE_SET) + "# mine\n");
    let run = context.run(&["create", "ignition-configs"]);
    assert_eq!(run.code, 3);
    assert!(
        run.stderr.contains("1 file of ignition-configs is out of date, because of changes in manifests"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("bootstrap.ign is out of date\n~ file "), "{}", run.stderr);
    context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(context.read(MACHINE_SET).ends_with("# mine\n"), "the edit is the source, not the product");
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let context = outdated();
    for flags in [
        &["--regenerate", "--keep-stale"][..],
        &["--regenerate=manifests/x.yaml"],
        &["--regenerate=master.ign"],
        &["--regenerate=install-config.yaml", "--keep-stale"],
        &["--regenerate=manifests/01-cluster-info.yaml", "--keep-stale=manifests/01-cluster-info.yaml"],
    ] {
        let before = context.visible_tree();
        let run = context.run(&[&["create", "manifests"], flags].concat());
        let stale_first = run.code == 3 && flags.len() == 1;
        assert!(run.code == 2 || stale_first, "{flags:?}: {} {}", run.code, run.stderr);
        assert_eq!(context.visible_tree(), before);
    }
}
