//! `create install-config` without a terminal.

use std::{fs, io::Write as _, process::Stdio};

use crate::context::{EXAMPLE, Run, TestContext};

const COMPLETE: &[&str] = &[
    "create",
    "install-config",
    "--name=demo",
    "--base-domain=example.com",
    "--platform=ovirt",
    "--machine-network=192.0.2.0/24",
    "--set=platform.ovirt.ovirt_cluster_id=5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01",
    "--set=platform.ovirt.ovirt_storage_domain_id=5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b02",
    "--set=platform.ovirt.api_vips=[192.0.2.5]",
    "--set=platform.ovirt.ingress_vips=[192.0.2.6]",
    "--set=platform.ovirt.image.template=fcos",
];

#[test]
fn without_a_terminal_everything_that_is_missing_is_listed() {
    let context = TestContext::empty();
    let run = context.run(&["create", "install-config", "--platform", "ovirt"]);
    assert_eq!(run.code, 3);
    for field in ["metadata", "baseDomain", "ovirt_cluster_id", "ovirt_storage_domain_id", "api_vips", "ingress_vips"] {
        assert!(run.stderr.contains(&format!("{field} is missing")), "{field}: {}", run.stderr);
    }
    assert!(run.stderr.contains("hint: give what is missing with flags"), "{}", run.stderr);
    assert!(context.tree().is_empty());
}

#[test]
fn flags_make_an_install_config_that_the_next_target_takes() {
    let context = TestContext::empty();
    let key = context.home().join("id_ed25519.pub");
    let line = EXAMPLE.lines().find_map(|line| line.strip_prefix("sshKey: ")).unwrap();
    fs::write(&key, format!("{line}\n")).unwrap();
    let key = format!("--ssh-key-file={}", key.display());
    context.ok(&[COMPLETE, &[&key, "--workers=5", "--masters=1"]].concat());
    insta::assert_snapshot!(context.read("install-config.yaml"));
    context.ok(&["create", "manifests"]);
    assert!(context.read("manifests/31-machineset-worker.yaml").contains("replicas: 5"));
}

#[test]
fn a_file_is_kept_as_it_was_written() {
    let context = TestContext::empty();
    let source = context.home().join("mine.yaml");
    let text = format!("\u{feff}# my comment\r\n{}", EXAMPLE.replace('\n', "\r\n"));
    fs::write(&source, &text).unwrap();
    context.ok(&["create", "install-config", "--from", source.to_str().unwrap()]);
    assert_eq!(context.read("install-config.yaml"), text);
}

#[test]
fn flags_go_over_the_file_and_assignments_over_flags() {
    let context = TestContext::empty();
    let mut command =
        context.command(&["create", "install-config", "--from=-", "--name=flag", "--base-domain=example.org"]);
    command.arg("--set=metadata.name=assigned").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(EXAMPLE.as_bytes()).unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = context.read("install-config.yaml");
    assert!(text.contains("name: assigned") && text.contains("baseDomain: example.org"), "{text}");
}

#[test]
fn an_install_config_is_replaced_only_on_request_and_a_copy_is_kept() {
    let context = TestContext::new();
    let run = context.run(COMPLETE);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("install-config.yaml exists already"), "{}", run.stderr);
    assert_eq!(context.read("install-config.yaml"), EXAMPLE);

    let run = context.ok(&[COMPLETE, &["--overwrite", "--output=json"]].concat());
    assert_ne!(context.read("install-config.yaml"), EXAMPLE);
    let backup = run.json()["backup"].as_str().unwrap().to_owned();
    assert_eq!(context.read(&format!("{backup}/install-config.yaml")), EXAMPLE);
}

#[test]
fn a_directory_that_does_not_exist_is_made() {
    let context = TestContext::empty();
    fs::remove_dir(context.dir()).unwrap();
    assert_eq!(context.run(&["create", "install-config"]).code, 3);
    assert!(!context.dir().exists(), "nothing is made for a config that cannot be");
    context.ok(COMPLETE);
    assert!(context.path("install-config.yaml").exists());
}

#[test]
fn a_pull_secret_makes_the_file_private_and_is_never_shown() {
    let context = TestContext::empty();
    let secret = context.home().join("pull.json");
    let auth = "dXNlcjp2ZXJ5LXNlY3JldA==";
    fs::write(&secret, format!(r#"{{"auths": {{"quay.io": {{"auth": "{auth}"}}}}}}"#)).unwrap();
    let secret = format!("--pull-secret-file={}", secret.display());
    let run = context.ok(&[COMPLETE, &["--distribution=openshift", &secret, "--log-level=trace"]].concat());
    assert!(context.read("install-config.yaml").contains(auth));
    assert_eq!(context.tree()[std::path::Path::new("install-config.yaml")].0, 0o600);
    let log = context.read(".landfall/landfall.log");
    assert!(![&run.stdout, &run.stderr, &log].into_iter().any(|text| text.contains(auth)));
}

#[test]
fn wrong_flags_are_usage_errors() {
    let context = TestContext::empty();
    for flags in [
        &["--set", "nonsense"][..],
        &["--set", "=1"],
        &["--set", "compute[7].replicas=1"],
        &["--platform", "nowhere"],
        &["--masters", "-1"],
        &["--unknown"],
    ] {
        let run = context.run(&[&["create", "install-config"], flags].concat());
        assert_eq!(run.code, 2, "{flags:?}: {}", run.stderr);
        assert!(context.tree().is_empty());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let context = TestContext::empty();
    for flag in ["--from", "--ssh-key-file", "--pull-secret-file"] {
        let run = context.run(&["create", "install-config", flag, "/nonexistent/file"]);
        assert_eq!(run.code, 3, "{flag}");
        assert!(run.stderr.contains(&format!("cannot read /nonexistent/file, which {flag} names")), "{}", run.stderr);
    }
}
