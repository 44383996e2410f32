//! What users do between targets.

use crate::context::TestContext;

const OWN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n";

/// The contents of all files on the bootstrap machine, as far as they are text.
fn bootstrap_files(context: &TestContext) -> String {
    files_in(&context.read("bootstrap.ign"))
}

/// The contents of all files of an Ignition config, as far as they are text.
fn files_in(config: &str) -> String {
    let config: serde_json::Value = serde_json::from_str(config).unwrap();
    let files = config["storage"]["files"].as_array().unwrap();
    let decode = |file: &serde_json::Value| {
        let url = file["contents"]["source"].as_str()?;
        let bytes = data_url::DataUrl::process(url).ok()?.decode_to_vec().ok()?.0;
        let mut text = String::new();
        match file["contents"]["compression"].as_str() {
            Some("gzip") => {
                std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text)
            }
            _ => std::io::Read::read_to_string(&mut bytes.as_slice(), &mut text),
        }
        .ok()?;
        Some(text)
    };
    files.iter().filter_map(decode).collect()
}

#[test]
fn an_edit_of_what_is_served_reaches_all_who_serve_it() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    let pristine = context.read("config-server/worker.ign");
    let edited = pristine.replacen('{', "{ ", 1);
    assert_ne!(edited, pristine);
    context.write("config-server/worker.ign", &edited);
    let run = context.ok(&["create", "ignition-configs"]);
    assert!(run.stderr.contains("config-server/worker.ign: you edited it; it is used as it is"), "{}", run.stderr);
    assert_eq!(context.read("config-server/worker.ign"), edited);
    let master = context.read("config-server/master.ign");
    assert!(files_in(&master).contains(&edited), "masters serve workers");
    assert!(bootstrap_files(&context).contains(&edited) && bootstrap_files(&context).contains(&master));

    context.ok(&["create", "ignition-configs", "--regenerate=config-server/worker.ign"]);
    assert!(!bootstrap_files(&context).contains(&edited), "what was undone is served no more");
    assert!(bootstrap_files(&context).contains(&context.read("config-server/worker.ign")));
}

#[test]
fn an_edit_is_kept_and_used() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    let edited = context.read("manifests/31-machineset-worker.yaml") + "# edited by hand 4711\n";
    context.write("manifests/31-machineset-worker.yaml", &edited);
    let run = context.ok(&["create", "ignition-configs"]);
    assert!(run.stderr.contains("manifests/31-machineset-worker.yaml: you edited it"), "{}", run.stderr);
    assert_eq!(context.read("manifests/31-machineset-worker.yaml"), edited);
    assert!(bootstrap_files(&context).contains("edited by hand 4711"));
    context.ok(&["create", "manifests"]);
    assert_eq!(context.read("manifests/31-machineset-worker.yaml"), edited);
}

#[test]
fn a_manifest_of_the_user_is_adopted() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    context.write("manifests/mine.yml", OWN);
    context.write("manifests/notes.txt", "not a manifest");
    std::fs::create_dir(context.path("openshift")).unwrap();
    context.write("openshift/other.yaml", "not part of a Kubernetes cluster");
    let run = context.ok(&["create", "ignition-configs"]);
    assert!(run.stderr.contains("manifests/mine.yml: you added it; it is used"), "{}", run.stderr);
    assert!(!run.stderr.contains("notes.txt") && !run.stderr.contains("other.yaml"), "{}", run.stderr);
    assert!(bootstrap_files(&context).contains("name: mine"));
    assert_eq!(context.read("manifests/mine.yml"), OWN);
}

#[test]
fn manifests_can_be_there_before_the_first_run() {
    let context = TestContext::new();
    std::fs::create_dir(context.path("manifests")).unwrap();
    context.write("manifests/mine.yaml", OWN);
    context.ok(&["create", "ignition-configs"]);
    assert_eq!(context.read("manifests/mine.yaml"), OWN);
    assert!(bootstrap_files(&context).contains("name: mine"));
}

#[test]
fn a_deleted_manifest_stays_deleted_until_it_is_asked_for() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    let path = "manifests/30-machine-master-2.yaml";
    assert!(bootstrap_files(&context).contains("-master-2"));
    std::fs::remove_file(context.path(path)).unwrap();
    context.ok(&["create", "manifests"]);
    let run = context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(run.stderr.contains("you deleted it; --regenerate=manifests/30-machine-master-2.yaml"), "{}", run.stderr);
    assert!(!context.path(path).exists());

    context.ok(&["create", "manifests", &format!("--regenerate={path}")]);
    assert!(context.path(path).exists());
    let run = context.ok(&["create", "manifests"]);
    assert!(run.stderr.contains("manifests: 13 up to date"), "{}", run.stderr);
}

#[test]
fn all_manifests_deleted_means_from_scratch() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    let before = context.visible_tree();
    std::fs::remove_dir_all(context.path("manifests")).unwrap();
    context.ok(&["create", "manifests"]);
    assert_eq!(context.visible_tree(), before);
}

#[test]
fn a_file_that_machines_boot_with_is_written_again() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    std::fs::remove_file(context.path("master.ign")).unwrap();
    context.ok(&["create", "ignition-configs"]);
    assert!(context.path("master.ign").exists());
}

#[test]
fn two_manifests_about_one_object_are_refused() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    context.write("manifests/one.yaml", OWN);
    context.write("manifests/two.yaml", OWN);
    let before = context.visible_tree();
    let run = context.run(&["create", "ignition-configs"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("manifests/one.yaml") && run.stderr.contains("manifests/two.yaml"), "{}", run.stderr);
    assert_eq!(context.visible_tree(), before);
}

#[test]
fn the_infra_id_outlives_a_new_name() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    let id = context.infra_id();
    context.replace("install-config.yaml", "name: demo", "name: renamed");
    let run = context.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(run.stderr.contains(&format!("now called 'renamed', but its infra id stays {id}")), "{}", run.stderr);
    assert_eq!(context.infra_id(), id);
    assert!(context.read("metadata.json").contains(&id));
}

#[test]
fn an_identity_that_is_gone_is_not_made_up() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    std::fs::remove_file(context.path(".landfall/cluster.json")).unwrap();
    let before = context.visible_tree();
    let run = context.run(&["create", "manifests"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("cluster.json, which names it, is gone"), "{}", run.stderr);
    assert_eq!(context.visible_tree(), before);
}

#[test]
fn a_secret_that_is_gone_is_not_made_up() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    std::fs::remove_file(context.path(".landfall/secrets/etcd-ca.key")).unwrap();
    let run = context.run(&["create", "ignition-configs"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains(".landfall/secrets/etcd-ca.key is missing"), "{}", run.stderr);
}

#[test]
fn a_damaged_record_is_noticed_and_nothing_is_written() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    let record = context.read(".landfall/stages.json");
    context.write(".landfall/stages.json", &record[..record.len() / 2]);
    let before = context.visible_tree();
    for command in [&["create", "ignition-configs"][..], &["status"]] {
        let run = context.run(command);
        assert_eq!(run.code, 3);
        assert!(run.stderr.contains(".landfall/stages.json is damaged"), "{}", run.stderr);
        assert!(run.stderr.contains("hint: put back a copy of it"), "{}", run.stderr);
    }
    assert_eq!(context.visible_tree(), before);
}
