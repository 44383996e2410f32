//! Distribution `openshift`, with the stand-in for the release's own installer that the tests of the assets use.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::context::{Run, TestContext};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
const KEYS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/openshift-keys");

struct Site {
    context: TestContext,
    program: PathBuf,
}

/// Makes the stand-in for the release's installer in a directory.
pub(crate) fn installer(directory: &Path) -> PathBuf {
    let program = directory.join("openshift-install");
    fs::create_dir_all(KEYS).unwrap();
    let script = format!("#!/bin/sh\nFAKE_KEYS={KEYS} exec python3 {FIXTURES}/openshift-install \"$@\"\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

impl Site {
    fn new() -> Self {
        let context = TestContext::empty();
        context.write("install-config.yaml", fs::read(format!("{FIXTURES}/install-config.yaml")).unwrap());
        let program = installer(&context.home());
        Self { context, program }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let program = format!("--openshift-install={}", self.program.display());
        self.context.run(&[arguments, &[&program]].concat())
    }

    fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run
    }
}

#[test]
fn the_installer_is_shown_and_its_infra_id_taken_over() {
    let site = Site::new();
    let run = site.ok(&["create", "manifests"]);
    assert!(run.stderr.contains("openshift-install 4.22.0 at "), "{}", run.stderr);
    assert!(run.stderr.contains("release image "), "{}", run.stderr);
    let id = site.context.infra_id();
    assert!(site.context.read("manifests/cluster-infrastructure-02-config.yml").contains(&id));
    site.ok(&["create", "ignition-configs"]);
    assert_eq!(site.context.infra_id(), id);
    assert!(site.context.read("metadata.json").contains(&id));
    for file in ["install-config.yaml", "bootstrap.ign", "auth/kubeconfig", "auth/kubeadmin-password"] {
        assert!(site.context.path(file).exists(), "{file}");
    }
    assert!(!site.context.path(".landfall/scratch").exists());
}

#[test]
fn manifests_are_not_rendered_again_without_need() {
    let site = Site::new();
    site.ok(&["create", "manifests"]);
    let path = "manifests/cluster-scheduler-02-config.yml";
    let edited = site.context.read(path) + "# mine\n";
    site.context.write(path, &edited);
    fs::remove_file(site.context.path("manifests/cluster-proxy-01-config.yaml")).unwrap();
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n";
    site.context.write("openshift/mine.yaml", own);
    let before = site.context.visible_tree();
    let run = site.ok(&["create", "manifests"]);
    for remark in ["you edited it", "you deleted it", "openshift/mine.yaml: you added it"] {
        assert!(run.stderr.contains(remark), "{}", run.stderr);
    }
    assert_eq!(site.context.visible_tree(), before, "other authorities would have come with another rendering");
    site.ok(&["create", "ignition-configs"]);
    assert!(site.context.read("bootstrap.ign").len() > 1000);
    assert_eq!(site.context.read(path), edited);
    site.ok(&["create", "ignition-configs"]);
}

#[test]
fn a_change_is_settled_for_all_manifests_at_once() {
    let site = Site::new();
    site.ok(&["create", "ignition-configs"]);
    let id = site.context.infra_id();
    site.context.replace("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    let before = site.context.visible_tree();
    assert_eq!(site.run(&["create", "ignition-configs"]).code, 3);
    let run = site.run(&["create", "manifests", "--keep-stale=manifests/cluster-dns-02-config.yml", "--regenerate"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("cannot be mixed"), "{}", run.stderr);
    assert_eq!(site.context.visible_tree(), before);

    site.ok(&["create", "ignition-configs", "--keep-stale"]);
    site.ok(&["create", "ignition-configs"]);
    site.ok(&["create", "ignition-configs", "--regenerate"]);
    assert!(site.context.read("manifests/cluster-dns-02-config.yml").contains("example.org"));
    assert_eq!(site.context.infra_id(), id);
    site.ok(&["create", "ignition-configs"]);
}

#[test]
fn without_the_installer_the_way_to_it_is_told() {
    let site = Site::new();
    let before = site.context.tree();
    let mut command = site.context.command(&["create", "manifests"]);
    let run = Run::of(command.env("PATH", "/nonexistent").output().unwrap());
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("there is no openshift-install on PATH"), "{}", run.stderr);
    assert_eq!(site.context.tree(), before, "nothing is left, not even the lock");
}

#[test]
fn a_directory_keeps_its_distribution() {
    let site = Site::new();
    site.ok(&["create", "manifests"]);
    site.context.write("install-config.yaml", crate::context::EXAMPLE);
    let run = site.run(&["create", "manifests"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("was begun with another distribution"), "{}", run.stderr);
}
