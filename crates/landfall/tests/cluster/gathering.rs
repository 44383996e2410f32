//! What is collected of a cluster that does not come up.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;

use crate::{
    context::TestContext,
    engine::{Engine, PASSWORD},
    install::{Install, Wish},
    place::Place,
};

/// Stands for ssh: says what it was called with, and what a machine's log might hold.
const SSH: &str = r#"#!/bin/sh
echo "called with: $*"
echo "kubeadm join --token abcdef.0123456789abcdef --certificate-key 00ff"
echo "machine token: $(sed -n 's/.*"worker": "\([0-9a-f]*\)".*/\1/p' "$SECRETS/tokens.json")"
"#;

/// Stands for ssh before a machine that shows the key in `SHOWN`: a key that is known has to be that one, and if none is known, only
/// `accept-new` takes it.
const STRICT_SSH: &str = r#"#!/bin/sh
for option; do
    case $option in
        UserKnownHostsFile=*) file=$(echo "${option#*=}" | tr -d '"') ;;
        HostKeyAlias=*) alias=${option#*=} ;;
        StrictHostKeyChecking=*) checking=${option#*=} ;;
    esac
done
known=$(sed -n "s/^$alias //p" "$file" 2>/dev/null)
if [ "$known" != "$SHOWN" ] && { [ -n "$known" ] || [ "$checking" = yes ]; }; then
    echo "Host key verification failed." >&2
    exit 255
fi
echo "$alias is asked with $checking"
"#;

/// The files of an archive, without the directory that all lie in.
fn unpack(path: &Path) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(path).unwrap()));
    let read = |entry: std::io::Result<tar::Entry<'_, GzDecoder<fs::File>>>| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (name.split_once('/').unwrap().1.to_owned(), text)
    };
    archive.entries().unwrap().map(read).collect()
}

fn bundles(context: &TestContext) -> Vec<PathBuf> {
    let names = fs::read_dir(context.dir()).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_string_lossy().ends_with(".tar.gz")).collect()
}

/// A search path with a script in the place of ssh, which needs other programs.
fn with_fake_ssh(install: &Install, script: &str) -> OsString {
    let directory = install.context.home().join("bin");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("ssh"), script).unwrap();
    fs::set_permissions(directory.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let others = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(directory).chain(std::env::split_paths(&others))).unwrap()
}

#[test]
fn a_bootstrap_that_stalls_is_told_and_collected_without_secrets() {
    let place = Place::new();
    let engine = Engine::with(&place, &["--guest-fault", "master never-boots"]);
    let install = Install::new(&engine, Wish::default());
    install.context.replace("install-config.yaml", "platform:", "timeouts:\n  bootstrap: 3s\nplatform:");
    let told = install.fails(&["create", "cluster"], 5);
    assert!(told.contains("the move of the control plane to the masters did not come within 3 s"), "{told}");
    assert!(told.contains("last seen: ") && told.contains("nodes"), "{told}");
    let automatic = bundles(&install.context);
    assert_eq!(automatic.len(), 1, "{told}");
    assert!(told.contains(&automatic[0].display().to_string()), "{told}");
    assert_eq!(automatic[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let files = unpack(&automatic[0]);
    let id = install.infra_id();
    assert!(files["journal.json"].contains("vm/bootstrap") && files["journal.json"].contains("did not come"));
    assert!(files["landfall.log"].contains("create cluster"));
    assert!(files["platform/machines.json"].contains(&format!("{id}-bootstrap")));
    assert!(files["platform/events.txt"].contains(&id), "{}", files["platform/events.txt"]);
    assert!(files["api/nodes.json"].contains(&format!("{id}-bootstrap")), "{}", files["api/nodes.json"]);
    assert!(files["api/readyz.txt"].contains("ok"), "{}", files["api/readyz.txt"]);

    let mut command = install.command(&["gather", "bootstrap", "--bootstrap", "192.0.2.77", "--key", "/a/key"]);
    command.env("PATH", with_fake_ssh(&install, SSH)).env("SECRETS", install.context.path(".landfall/secrets"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = unpack(Path::new(String::from_utf8(output.stdout).unwrap().trim()));
    let log = &files["machines/bootstrap/kubelet.log"];
    // Keys are kept by the names of the cluster's machines, so that one that changes is noticed.
    let known_hosts = format!("UserKnownHostsFile=\"{}\"", install.context.path(".landfall/known_hosts").display());
    let alias = format!("HostKeyAlias={id}-bootstrap");
    for part in ["BatchMode=yes", "StrictHostKeyChecking=yes", &known_hosts, &alias, "-i /a/key", "192.0.2.77"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(log.contains("machine token: [secret]") && log.contains("--token [secret]"), "{log}");

    let tokens: serde_json::Value =
        serde_json::from_str(&install.context.read(".landfall/secrets/tokens.json")).unwrap();
    let machine_token = tokens["machine"]["worker"].as_str().unwrap();
    for (name, text) in &files {
        for secret in [PASSWORD, machine_token, "abcdef.0123456789abcdef", "PRIVATE KEY"] {
            assert!(!text.contains(secret), "{name} holds {secret}");
        }
    }
}

/// The bootstrap machine tells its keys over TLS, so that no attacker can take its place over SSH, not even at the first connection.
#[test]
fn a_bootstrap_machine_that_shows_another_ssh_key_is_not_asked() {
    let place = Place::new();
    let engine = Engine::with(&place, &["--guest-fault", "master never-boots"]);
    let install = Install::new(&engine, Wish::default());
    install.context.replace("install-config.yaml", "platform:", "timeouts:\n  bootstrap: 3s\nplatform:");
    install.fails(&["create", "cluster"], 5);
    let (path, alias) = (with_fake_ssh(&install, STRICT_SSH), format!("{}-bootstrap", install.infra_id()));
    let told = || {
        let lines = install.context.read(".landfall/known_hosts");
        let line = lines.lines().find(|line| line.starts_with(&alias)).unwrap_or_else(|| panic!("{lines}"));
        line.split_once(' ').unwrap().1.to_owned()
    };
    let gather = |shown: &str| {
        let mut command = install.command(&["gather", "bootstrap", "--bootstrap", "192.0.2.77"]);
        let output = command.env("PATH", &path).env("SHOWN", shown).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        (unpack(Path::new(String::from_utf8(output.stdout).unwrap().trim())), stderr)
    };
    let key = told();
    assert!(key.starts_with("ssh-ed25519 "), "{key}");
    let asked = |files: &BTreeMap<String, String>| files.get("machines/bootstrap/kubelet.log").cloned();
    let (files, stderr) = gather(&key);
    assert_eq!(asked(&files), Some(format!("{alias} is asked with yes\n")), "{stderr}");
    assert!(!stderr.contains("cannot be verified"), "{stderr}");

    // An attacker answers, and it does not help to have it forgotten what is known.
    for known in [format!("{alias} {key}\n"), String::new(), format!("{alias} ssh-ed25519 AAAAother\n")] {
        fs::write(install.context.path(".landfall/known_hosts"), known).unwrap();
        let (files, _) = gather("ssh-ed25519 AAAAother");
        assert_eq!(asked(&files), None);
        assert!(files["sources.txt"].contains("shows a host key that is not one of those known"), "{files:#?}");
        assert_eq!(told(), key);
    }

    // Where the answer cannot be had, the first key is taken, and that is said.
    fs::remove_file(install.context.path(".landfall/known_hosts")).unwrap();
    drop(engine);
    let (files, stderr) = gather("ssh-ed25519 AAAAother");
    assert_eq!(asked(&files), Some(format!("{alias} is asked with accept-new\n")));
    assert!(stderr.contains("the SSH host keys of the bootstrap machine cannot be verified"), "{stderr}");
}

#[test]
fn what_cannot_be_had_is_named_with_the_reason() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    install.ok(&["create", "ignition-configs"]);
    drop(engine);
    let run = install.ok(&["gather", "bootstrap"]);
    let files = unpack(Path::new(run.stdout.trim()));
    let sources = &files["sources.txt"];
    assert!(sources.contains("landfall.log: collected"), "{sources}");
    for missing in ["journal.json: ", "platform/machines.json: ", "platform/events.txt: ", "api/readyz.txt: "] {
        let line =
            sources.lines().find(|line| line.starts_with(missing)).unwrap_or_else(|| panic!("{missing}{sources}"));
        assert!(!line.ends_with("collected"), "{line}");
    }
    assert!(run.stderr.contains("not to be had: journal.json"), "{}", run.stderr);
}
