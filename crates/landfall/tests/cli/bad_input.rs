//! Input that cannot be used: a clear error, exit code 3, nothing written.

use std::fs;

use crate::context::{EXAMPLE, TestContext};

/// Runs with an install-config that cannot be used, and returns what was said about it.
fn refused(config: impl AsRef<[u8]>) -> String {
    let context = TestContext::empty();
    context.write("install-config.yaml", config);
    let before = context.tree();
    for target in ["manifests", "ignition-configs"] {
        let run = context.run(&["create", target]);
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert_eq!(context.tree(), before, "something was written");
    }
    let run = context.run(&["create", "ignition-configs"]);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.stderr
}

fn changed(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from}");
    EXAMPLE.replacen(from, to, 1)
}

#[test]
fn values_that_break_a_rule() {
    let long = format!("name: {}", "a".repeat(55));
    for (from, to, path) in [
        ("127.66.0.5", "198.51.100.5", "platform.ovirt.api_vips[0]"),
        ("127.66.0.6", "127.66.0.5", "platform.ovirt.ingress_vips[0]"),
        ("127.66.0.0/16", "172.30.0.0/24", "172.30.0.0/"),
        ("name: demo", long.as_str(), "metadata.name"),
        ("name: demo", "name: de.mo", "metadata.name"),
        ("name: demo", "name: Demo", "metadata.name"),
        ("name: demo", "name: dämo", "metadata.name"),
        ("ssh-ed25519 AAAA", "ssh-ed25519 BBBB", "sshKey"),
        ("replicas: 3", "replicas: 0", "controlPlane.replicas"),
        ("  ovirt:", "  nowhere:", "nowhere"),
        ("platform:\n  ovirt:", "platform:\n  vsphere: {}\n  ovirt:", "vsphere"),
        ("replicas: 3", "replicas: three", "controlPlane.replicas"),
        ("baseDomain:", "baseDomian:", "baseDomain"),
    ] {
        let said = refused(changed(from, to));
        assert!(said.contains(path), "{to}: {said}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let config =
        changed("name: demo", "name: Demo").replace("127.66.0.6", "127.66.0.5").replace("replicas: 3", "replicas: 0");
    let said = refused(config);
    for path in ["metadata.name", "controlPlane.replicas", "platform.ovirt.ingress_vips[0]"] {
        assert!(said.contains(path), "{path}: {said}");
    }
}

#[test]
fn files_that_are_no_install_config() {
    let bomb: String = (0..40).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        format!("{text}a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1)
    });
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!("{EXAMPLE}# {}\n", "x".repeat(10 << 20));
    let cases: [(&str, Vec<u8>); 9] = [
        ("alias bomb", bomb.into()),
        ("deep nesting", nested.into()),
        ("too large", large.into()),
        ("tabs", changed("  name: demo", "\tname: demo").into()),
        ("duplicate keys", format!("{EXAMPLE}baseDomain: example.org\n").into()),
        ("not text", vec![0xff, 0xfe, 0x00, 0x80]),
        ("empty", Vec::new()),
        ("a list", b"- 1\n- 2\n".to_vec()),
        ("a text", b"hello\n".to_vec()),
    ];
    for (what, config) in cases {
        let said = refused(config);
        assert!(said.len() < 4000, "{what}: a wall of text");
    }
}

#[test]
fn an_even_number_of_masters_is_only_warned_of() {
    let context = TestContext::empty();
    context.write("install-config.yaml", changed("replicas: 3", "replicas: 2"));
    let run = context.ok(&["create", "manifests"]);
    assert!(run.stderr.contains("warning: controlPlane.replicas"), "{}", run.stderr);
}

#[test]
fn the_directory_is_missing_or_none() {
    let context = TestContext::empty();
    let run = context.run(&["create", "manifests"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("there is no") && run.stderr.contains("install-config.yaml"), "{}", run.stderr);
    let hint = format!("hint: make one with {}", context.named("create install-config"));
    assert!(run.stderr.contains(&hint), "{}", run.stderr);

    fs::remove_dir(context.dir()).unwrap();
    for command in [&["create", "manifests"][..], &["create", "ignition-configs"], &["status"]] {
        let run = context.run(command);
        assert_eq!(run.code, 3, "{command:?}");
        assert!(run.stderr.contains("does not exist"), "{}", run.stderr);
        assert!(!context.dir().exists());
    }

    fs::write(context.dir(), "a file").unwrap();
    for command in [&["create", "install-config"][..], &["create", "manifests"], &["status"]] {
        let run = context.run(command);
        assert_eq!(run.code, 3, "{command:?}");
        assert!(run.stderr.contains("is not a directory"), "{}", run.stderr);
    }
    assert_eq!(fs::read_to_string(context.dir()).unwrap(), "a file");
}

#[test]
fn the_install_config_is_a_directory() {
    let context = TestContext::empty();
    fs::create_dir(context.path("install-config.yaml")).unwrap();
    for target in ["install-config", "manifests", "ignition-configs"] {
        let run = context.run(&["create", target]);
        assert_eq!(run.code, 3, "{target}");
        assert!(run.stderr.contains("install-config.yaml is not a regular file"), "{}", run.stderr);
    }
}

#[test]
fn a_path_need_not_be_utf8() {
    use std::os::unix::ffi::OsStringExt as _;
    let context = TestContext::new();
    let odd = context.home().join(std::ffi::OsString::from_vec(b"d\xff\xfer".to_vec()));
    fs::rename(context.dir(), &odd).unwrap();
    let mut command = context.command(&["create", "ignition-configs"]);
    let output = command.arg("--dir").arg(&odd).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "--dir twice is a slip of the pen");

    let mut command = std::process::Command::new(crate::context::BINARY);
    let output =
        command.args(["create", "ignition-configs", "--dir"]).arg(&odd).env("HOME", context.home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(odd.join("bootstrap.ign").exists());
}

#[test]
fn without_a_home_only_the_credentials_are_missing() {
    let context = TestContext::new();
    let output = context.command(&["create", "ignition-configs"]).env_remove("HOME").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("HOME") && stderr.contains("no credentials"), "{stderr}");
}

#[test]
fn credentials_that_are_not_understood() {
    let context = TestContext::new();
    fs::create_dir(context.home().join(".ovirt")).unwrap();
    fs::write(context.home().join(".ovirt/ovirt-config.yaml"), "ovirt_url: [unclosed\n").unwrap();
    let before = context.tree();
    let run = context.run(&["create", "ignition-configs"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("ovirt-config.yaml is not understood"), "{}", run.stderr);
    assert_eq!(context.tree(), before);
}
