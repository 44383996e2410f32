//! The targets on the example, from nothing.

use std::{os::unix::fs::PermissionsExt as _, process::Command};

use crate::context::TestContext;

#[test]
fn manifests_first_and_then_ignition_configs() {
    let context = TestContext::new();
    let run = context.ok(&["create", "manifests"]);
    insta::assert_snapshot!(context.stable(&run.stderr), @r"
    warning: networking.machineNetwork[0].cidr: 127.66.0.0/16 is a loopback network: only simulated machines can be reached there
    warning: [TEMP]/home/.ovirt/ovirt-config.yaml does not exist or is incomplete, so the manifests hold no credentials for the machine controller
    manifests: 13 written
    infra id: [INFRA-ID]
    edit the manifests if you like, then run 'landfall create ignition-configs --dir [TEMP]/dir'
    ");
    assert_eq!(run.stdout, "");
    assert!(!context.path("bootstrap.ign").exists());

    let id = context.infra_id();
    let run = context.ok(&["create", "ignition-configs", "--quiet"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(context.infra_id(), id);
    for file in ["bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig", "metadata.json"] {
        assert!(context.path(file).exists(), "{file}");
    }
}

#[test]
fn ignition_reads_what_was_written() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    for file in ["bootstrap.ign", "master.ign", "worker.ign"] {
        let output = Command::new("ignition-validate").arg(context.path(file)).output().expect("ignition is installed");
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn only_the_owner_can_read_what_is_secret() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    for (path, (mode, text)) in context.tree() {
        let secret =
            text.contains("PRIVATE KEY") || text.contains("kind: Secret") || path.starts_with(".landfall/secrets");
        if secret {
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
    for file in ["bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig", ".landfall/landfall.log"] {
        assert_eq!(context.path(file).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    for (directory, expected) in [(".landfall", 0o700), ("auth", 0o700), ("manifests", 0o755)] {
        assert_eq!(context.path(directory).metadata().unwrap().permissions().mode() & 0o777, expected, "{directory}");
    }
}

#[test]
fn a_second_run_renews_only_certificates() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    let before = context.visible_tree();
    let run = context.ok(&["create", "ignition-configs", "--output", "json"]);
    let after = context.visible_tree();
    let changed: Vec<_> = after.iter().filter(|(path, file)| before[*path] != **file).map(|(path, _)| path).collect();
    assert_eq!(before.len(), after.len());
    let report = run.json();
    for path in changed {
        let outcome = &report["stages"][1]["files"][path.to_str().unwrap()];
        assert_eq!(outcome, "refresh", "{} changed", path.display());
    }
    assert_eq!(report["stages"][1]["files"]["auth/kubeconfig"], "refresh");
    assert_eq!(report["stages"][0]["files"]["manifests/01-cluster-info.yaml"], "reuse");
    assert_eq!(report["infraId"], context.infra_id());
}

#[test]
fn comments_and_spelled_out_defaults_change_nothing() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    let text = context.read("install-config.yaml");
    context.write("install-config.yaml", format!("# a comment\n{text}loadBalancer: managed\n"));
    let run = context.ok(&["create", "manifests"]);
    assert!(run.stderr.contains("manifests: 13 up to date"), "{}", run.stderr);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let context = TestContext::new();
    let text = format!("\u{feff}{}", context.read("install-config.yaml").replace('\n', "\r\n"));
    context.write("install-config.yaml", text);
    context.ok(&["create", "ignition-configs"]);
}

#[test]
fn a_cluster_without_credentials_is_refused_before_anything_is_written() {
    let context = TestContext::new();
    let before = context.tree();
    let run = context.run(&["create", "cluster"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("ovirt-config.yaml") && run.stderr.contains("ovirt_url"), "{}", run.stderr);
    assert_eq!(context.tree(), before);
}

#[test]
fn credentials_reach_the_manifests_and_only_them() {
    let context = TestContext::new();
    context.ok(&["create", "ignition-configs"]);
    std::fs::create_dir(context.home().join(".ovirt")).unwrap();
    let credentials = "ovirt_url: https://engine.example.com/ovirt-engine/api\novirt_username: admin@internal\n\
        ovirt_password: hunter2-of-the-engine\n";
    std::fs::write(context.home().join(".ovirt/ovirt-config.yaml"), credentials).unwrap();
    let run = context.ok(&["create", "manifests"]);
    assert!(run.stderr.contains("chmod 600"), "others can read the file: {}", run.stderr);
    let manifest = context.read("manifests/20-credentials.yaml");
    assert!(manifest.contains("ovirt_password: aHVudGVyMi1vZi10aGUtZW5naW5l"), "{manifest}");

    // Neither credentials that come late nor another password make anything out of date: nobody is asked.
    context.ok(&["create", "ignition-configs"]);
    let bootstrap = context.read("bootstrap.ign");
    let credentials = credentials.replace("hunter2-of-the-engine", "swordfish");
    std::fs::write(context.home().join(".ovirt/ovirt-config.yaml"), credentials).unwrap();
    context.ok(&["create", "ignition-configs"]);
    let manifest = context.read("manifests/20-credentials.yaml");
    assert!(manifest.contains("ovirt_password: c3dvcmRmaXNo"), "{manifest}");
    assert_ne!(context.read("bootstrap.ign"), bootstrap);
    assert_eq!(context.ok(&["status", "--output", "json"]).json()["stages"][1]["files"]["bootstrap.ign"], "unchanged");
}
