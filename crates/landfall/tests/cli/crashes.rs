//! Runs that are killed while they write what another program renders anew each time.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::context::{Run, TestContext};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
const KEYS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/openshift-keys");
const RECORD: &str = ".landfall/stages.json";

/// A directory with files of distribution `openshift` whose writing was cut short: the record says so, and some are not in place.
fn cut_short() -> TestContext {
    let context = TestContext::empty();
    context.write("install-config.yaml", fs::read(format!("{FIXTURES}/install-config.yaml")).unwrap());
    let program = context.home().join("openshift-install");
    fs::create_dir_all(KEYS).unwrap();
    let script = format!("#!/bin/sh\nFAKE_KEYS={KEYS} exec python3 {FIXTURES}/openshift-install \"$@\"\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let made = create(&context);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let record = context.read(RECORD);
    assert_eq!(record.matches("\"complete\": true").count(), 2, "{record}");
    context.write(RECORD, record.replace("\"complete\": true", "\"complete\": false"));
    for file in ["bootstrap.ign", "auth/kubeconfig", "manifests/machine-config-server-tls-secret.yaml"] {
        fs::remove_file(context.path(file)).unwrap();
    }
    context
}

fn create(context: &TestContext) -> Run {
    let program = format!("--openshift-install={}", context.home().join("openshift-install").display());
    context.run(&["create", "ignition-configs", &program])
}

#[test]
fn files_of_a_killed_run_are_rendered_again_without_a_question() {
    let context = cut_short();
    let authority = "manifests/kube-system-configmap-root-ca.yaml";
    let (before, id) = (context.read(authority), context.infra_id());
    let made = create(&context);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert_ne!(context.read(authority), before, "another rendering has another authority");
    assert_eq!(context.infra_id(), id);
    assert!(context.read("bootstrap.ign").len() > 1000);
    let record = context.read(RECORD);
    assert_eq!(record.matches("\"complete\": true").count(), 2, "{record}");
    let again = create(&context);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let settled = |line: &str| line.starts_with("manifests: ") && line.ends_with(" up to date");
    assert!(again.stderr.lines().any(settled), "{}", again.stderr);
}

#[test]
fn what_the_user_edited_since_is_asked_about() {
    let context = cut_short();
    let edited = "manifests/kube-system-configmap-root-ca.yaml";
    let mine = context.read(edited) + "# mine\n";
    context.write(edited, &mine);
    let run = create(&context);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains(&format!("{edited} is out of date, and you edited it")), "{}", run.stderr);
    assert_eq!(context.read(edited), mine);
}

#[test]
fn another_install_config_is_still_a_question() {
    let context = cut_short();
    context.replace("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    let run = create(&context);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("is out of date"), "{}", run.stderr);
}
