//! What Landfall puts on the machines of a release.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use landfall_config::{Architecture, LoadBalancer, NodeAgent};
use landfall_platform::Mode;
use serde_json::Value;

use crate::environment::{Site, ignition_file, json, mode, validate_ignition, yaml};

const MASTER: &str = "openshift/99_landfall_10-machineconfig-master.yaml";
const WORKER: &str = "openshift/99_landfall_10-machineconfig-worker.yaml";

fn site_with_agent(url: &str) -> Site {
    let mut site = Site::new();
    let sha512 = [(Architecture::Amd64, "0".repeat(128))].into_iter().collect();
    site.config.node_agent = Some(NodeAgent { url: url.to_owned(), sha512 });
    site
}

fn names(config: &Value, list: &str, key: &str) -> Vec<String> {
    let entries = config.pointer(list).and_then(Value::as_array).expect("a list");
    entries.iter().map(|entry| entry[key].as_str().expect("a name").to_owned()).collect()
}

fn script(config: &Value, name: &str) -> String {
    let contents = ignition_file(config, &format!("/opt/landfall/bin/{name}")).expect("the script");
    String::from_utf8(contents).expect("text")
}

#[test]
fn the_operator_can_carry_what_is_in_machine_configs() {
    let site = site_with_agent("https://me:secret@example.com/{arch}/landfall-node");
    let rendered = site.manifests().expect("rendered");
    for (path, role) in [(MASTER, "master"), (WORKER, "worker")] {
        let object = yaml(&rendered.files, path);
        assert_eq!(object["metadata"]["labels"]["machineconfiguration.openshift.io/role"], role);
        let config = &object["spec"]["config"];
        validate_ignition(path.rsplit('/').next().unwrap_or(path), config.to_string().as_bytes());
        assert_eq!(config["ignition"]["version"], "3.3.0");
        for file in config["storage"]["files"].as_array().expect("files") {
            let source = file["contents"]["source"].as_str().unwrap_or_else(|| panic!("{file} has no contents"));
            assert!(source.starts_with("data:"), "the operator downloads nothing: {file}");
            assert!(file.get("append").is_none(), "the operator adds to no file: {file}");
        }
        let files = names(config, "/storage/files", "path");
        assert!(files.contains(&"/etc/landfall/node.json".to_owned()), "{files:?}");
        for changing in ["/etc/landfall/keepalived.conf", "/etc/landfall/haproxy.cfg", "/etc/hosts"] {
            assert!(!files.contains(&changing.to_owned()), "a machine that changes {changing} would be degraded");
        }
        assert_eq!(mode(&rendered.files, path), Mode::Private, "it names a URL with a password");
    }
    let units = |path| names(&yaml(&rendered.files, path)["spec"]["config"], "/systemd/units", "name");
    let common = ["landfall-packages.service", "landfall-dns.service", "landfall-vip.service"];
    let tasks = ["landfall-append.service", "landfall-fetch.service"];
    assert_eq!(units(WORKER), [&common[..], &tasks].concat());
    assert_eq!(units(MASTER), [&common[..], &["landfall-load-balancer.service"], &tasks].concat());
}

#[test]
fn a_load_balancer_of_the_users_own_leaves_machines_alone() {
    let mut site = Site::new();
    site.config.load_balancer = LoadBalancer::UserManaged;
    let rendered = site.manifests().expect("rendered");
    let config = yaml(&rendered.files, MASTER)["spec"]["config"].clone();
    assert_eq!(names(&config, "/storage/files", "path"), ["/etc/landfall/node.json"]);
    assert!(config.get("systemd").is_none(), "{config}");
    assert_eq!(mode(&rendered.files, MASTER), Mode::Public);
}

#[test]
fn the_bootstrap_machine_holds_the_address_and_knows_the_names() {
    let site = site_with_agent("https://example.com/{arch}/landfall-node");
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    let bootstrap = json(&configs.files, "bootstrap.ign");
    let units = names(&bootstrap, "/systemd/units", "name");
    for unit in ["landfall-vip.service", "landfall-dns.service", "landfall-fetch.service", "bootkube.service"] {
        assert!(units.contains(&unit.to_owned()), "{units:?}");
    }
    let lines = ignition_file(&bootstrap, "/etc/landfall/append/etc/hosts").expect("lines for /etc/hosts");
    assert!(String::from_utf8_lossy(&lines).starts_with("192.0.2.5 api-int.demo.example.com"), "{lines:?}");
    let facts = ignition_file(&bootstrap, "/etc/landfall/node.json").expect("facts");
    let facts: Value = serde_json::from_slice(&facts).expect("JSON");
    assert_eq!(facts["role"], "bootstrap");
    assert_eq!(facts["cluster"]["infraId"], rendered.infra_id.as_str());
    assert!(ignition_file(&bootstrap, "/etc/landfall/keepalived.conf").is_some());
}

/// Runs a script of a machine with other directories than the machine's.
fn run(script: &str, replace: &[(&str, &Path)], arguments: &[&Path], path: Option<&Path>) -> (bool, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("script");
    let script = replace.iter().fold(script.to_owned(), |script, (from, to)| {
        assert!(script.contains(from), "{from} is not in the script");
        script.replace(from, &to.to_string_lossy())
    });
    fs::write(&file, script).expect("a file");
    let mut command = Command::new("bash");
    command.arg(&file).args(arguments);
    if let Some(first) = path {
        let rest = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{rest}", first.display()));
    }
    let output = command.output().expect("bash");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn lines_are_added_once() {
    let rendered = Site::new().manifests().expect("rendered");
    let config = yaml(&rendered.files, MASTER)["spec"]["config"].clone();
    let directory = tempfile::tempdir().expect("a directory");
    let [lines, hosts] = ["lines", "hosts"].map(|name| directory.path().join(name));
    fs::write(&lines, "192.0.2.5 api-int\n192.0.2.5 api\n").expect("a file");
    fs::write(&hosts, "127.0.0.1 localhost\n192.0.2.5 api\n").expect("a file");
    for _ in 0..2 {
        let (success, error) = run(&script(&config, "append-lines"), &[], &[&lines, &hosts], None);
        assert!(success, "{error}");
        let text = fs::read_to_string(&hosts).expect("the file");
        assert_eq!(text, "127.0.0.1 localhost\n192.0.2.5 api\n192.0.2.5 api-int\n");
    }
}

#[test]
fn downloads_are_taken_only_with_their_digest() {
    let rendered = site_with_agent("https://example.com/{arch}").manifests().expect("rendered");
    let config = yaml(&rendered.files, MASTER)["spec"]["config"].clone();
    let fetch = script(&config, "fetch");
    let list = ignition_file(&config, "/etc/landfall/downloads").expect("the list");
    let expected = format!("https://example.com/amd64 sha512-{} /opt/bin/landfall-node 755\n", "0".repeat(128));
    assert_eq!(String::from_utf8(list).expect("text"), expected);

    let directory = tempfile::tempdir().expect("a directory");
    let [source, target, list] = ["source", "bin/target", "list"].map(|name| directory.path().join(name));
    fs::write(&source, "program\n").expect("a file");
    let sum = Command::new("sha512sum").arg(&source).output().expect("sha512sum");
    let digest = String::from_utf8_lossy(&sum.stdout).split(' ').next().unwrap_or_default().to_owned();
    let write_list = |digest: &str| {
        let line = format!("file://{} sha512-{digest} {} 755\n", source.display(), target.display());
        fs::write(&list, line).expect("a file");
    };
    write_list(&"0".repeat(128));
    let (success, error) = run(&fetch, &[], &[&list], None);
    assert!(!success && error.contains("does not have the digest"), "{error}");
    assert_eq!(fs::read_dir(directory.path().join("bin")).expect("the directory").count(), 0);

    write_list(&digest);
    let (success, error) = run(&fetch, &[], &[&list], None);
    assert!(success, "{error}");
    assert_eq!(fs::read(&target).expect("the file"), b"program\n");
    assert_eq!(fs::metadata(&target).expect("metadata").permissions().mode() & 0o777, 0o755);
    fs::remove_file(&source).expect("removed");
    let (success, error) = run(&fetch, &[], &[&list], None);
    assert!(success, "what is there need not be downloaded again: {error}");
}

#[test]
fn programs_come_from_images_of_the_release() {
    let rendered = Site::new().manifests().expect("rendered");
    let config = yaml(&rendered.files, WORKER)["spec"]["config"].clone();
    let directory = tempfile::tempdir().expect("a directory");
    let [podman, calls, programs] = ["podman", "calls", "programs"].map(|name| directory.path().join(name));
    let fake = format!(
        "#!/bin/sh\necho \"$*\" >> {}\ncase \"$*\" in *' image '*) echo \"quay.io/example@sha256:$(echo \"$*\" | sed 's/.* //')\";; 'image exists'*) exit 1;; esac\n",
        calls.display()
    );
    fs::write(&podman, fake).expect("a file");
    fs::set_permissions(&podman, fs::Permissions::from_mode(0o755)).expect("its mode");
    let ensure = script(&config, "ensure-packages");
    assert!(ensure.contains("release='quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64'"), "{ensure}");
    let (success, error) = run(&ensure, &[("/opt/bin", &programs)], &[], Some(directory.path()));
    assert!(success, "{error}");
    fs::write(&calls, "").expect("emptied");
    for (program, image) in [("keepalived", "keepalived-ipfailover"), ("haproxy", "haproxy-router")] {
        let wrapper = fs::read_to_string(programs.join(program)).expect("a program");
        let (success, error) = run(&wrapper, &[], &[Path::new("--dont-fork")], Some(directory.path()));
        assert!(success, "{error}");
        let called = fs::read_to_string(&calls).expect("the calls");
        let end = format!("--entrypoint=/usr/sbin/{program} quay.io/example@sha256:{image} --dont-fork\n");
        assert!(called.ends_with(&end), "{called}");
    }
}
