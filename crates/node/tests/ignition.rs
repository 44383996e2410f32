//! The config server, asked by the real Ignition.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "a test that panics says where and why")]

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use landfall_assets::{
    MachineRole,
    node::{ConfigServerFacts, ServedRole},
};
use landfall_machine_api::Subject;
use landfall_node::{
    config_server::{Bootstrapping, ConfigServer, DiskFiles, Tls, serve},
    machine::Machine,
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Where Debian has it; it is a part of the initial ramdisk elsewhere too.
const IGNITION: &str = "/usr/lib/dracut/modules.d/30ignition/ignition";

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    Authority { pem, issuer: Issuer::new(params, key) }
}

struct Lab {
    directory: tempfile::TempDir,
    address: SocketAddr,
    ca: String,
    stop: CancellationToken,
}

async fn lab() -> Lab {
    let directory = tempfile::tempdir().unwrap();
    let authority = authority("cluster-ca");
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "config-server");
    params.subject_alt_names.push(SanType::IpAddress([127, 0, 0, 1].into()));
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority.issuer).unwrap();
    let tls = Tls { certificates: certificate.pem().into_bytes(), key: key.serialize_pem().into_bytes() };

    let path = |name: String| directory.path().join(name).display().to_string();
    let roles = [MachineRole::Master, MachineRole::Worker].map(|role| {
        fs::write(path(format!("{role}.ign")), config(role).to_string()).unwrap();
        fs::write(path(format!("{role}.root")), root(role)).unwrap();
        ServedRole { role, config: path(format!("{role}.ign")), root: path(format!("{role}.root")) }
    });
    let facts = ConfigServerFacts { certificate: String::new(), key: String::new(), roles: roles.into() };
    let files = Arc::new(DiskFiles::new(&facts, directory.path().join("progress.json")));
    let admission = Arc::new(Bootstrapping::new(Arc::clone(&files), &bootstrap(directory.path())));
    let server = Arc::new(ConfigServer::new(files, admission));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let stopped = stop.clone();
    tokio::spawn(async move { serve(listener, &tls, server, stopped).await });
    Lab { directory, address, ca: authority.pem, stop }
}

/// The bootstrap machine, before there is a cluster.
fn bootstrap(directory: &Path) -> Machine {
    let facts = serde_json::from_value(json!({
        "format": 1, "role": "bootstrap", "distribution": "kubernetes", "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": { "name": "api.demo.example.com", "internalName": "api-int.demo.example.com",
            "endpoint": "198.51.100.5:6443", "port": 6443, "configServerPort": 22623 },
        "networks": { "machine": [], "cluster": [], "service": [] },
    }));
    Machine {
        facts: facts.unwrap(),
        name: "demo-x7k2p-bootstrap".to_owned(),
        state: directory.join("state"),
        runtime: directory.join("run"),
    }
}

fn root(role: MachineRole) -> String {
    format!("{role:?}").repeat(64)
}

fn credential(name: &str, role: MachineRole) -> String {
    Subject::named(name).credential(&root(role))
}

/// A config that only this role has.
fn config(role: MachineRole) -> Value {
    json!({
        "ignition": { "version": "3.3.0" },
        "storage": { "files": [{ "path": "/etc/role", "contents": { "source": format!("data:,{role}") } }] },
    })
}

/// What a machine ends up with.
#[derive(Debug, PartialEq)]
enum Outcome {
    Config(String),
    Nothing,
}

impl Lab {
    async fn boot(&self, role: &str, token: Option<&str>, ca: &str) -> Outcome {
        let headers: Vec<Value> = token
            .map(|token| json!({ "name": "Authorization", "value": format!("Bearer {token}") }))
            .into_iter()
            .collect();
        let source = format!("https://{}/config/{role}", self.address);
        let pointer = json!({ "ignition": {
            "version": "3.3.0",
            "config": { "merge": [{ "source": source, "httpHeaders": headers }] },
            // A server that is not trusted is asked for ever, since it may be another one next time.
            "timeouts": { "httpTotal": 3 },
            "security": { "tls": { "certificateAuthorities": [{ "source": format!("data:,{}", percent(ca)) }] } },
        } });
        let machine = tempfile::tempdir_in(self.directory.path()).unwrap();
        let directory = machine.path().to_owned();
        fs::write(directory.join("pointer.ign"), pointer.to_string()).unwrap();
        tokio::task::spawn_blocking(move || fetch(&directory)).await.unwrap()
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

fn fetch(directory: &Path) -> Outcome {
    let path = |name: &str| -> PathBuf { directory.join(name) };
    fs::create_dir(path("root")).unwrap();
    let output = Command::new(IGNITION)
        .args(["-platform", "file", "-stage", "fetch", "-log-to-stdout"])
        .arg("-root")
        .arg(path("root"))
        .arg("-config-cache")
        .arg(path("cache.json"))
        .arg("-state-file")
        .arg(path("state"))
        .env("IGNITION_CONFIG_FILE", path("pointer.ign"))
        .output()
        .expect("ignition runs; scripts/setup test installs it");
    let config = fs::read_to_string(path("cache.json")).ok();
    assert_eq!(output.status.success(), config.is_some(), "it has a config if and only if it succeeds: {config:?}");
    config.map_or(Outcome::Nothing, Outcome::Config)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_machine_with_its_own_credential_and_the_clusters_ca_gets_its_config() {
    let lab = lab().await;
    let (master, worker) = (credential("m0", MachineRole::Master), credential("w0", MachineRole::Worker));
    let Outcome::Config(config) = lab.boot("master", Some(&master), &lab.ca).await else {
        panic!("a master does not boot");
    };
    assert!(config.contains("data:,master"), "{config}");
    let again = lab.boot("master", Some(&master), &lab.ca).await;
    assert!(matches!(again, Outcome::Config(_)), "a machine whose reply was lost boots again");
    assert!(matches!(lab.boot("worker", Some(&worker), &lab.ca).await, Outcome::Config(_)));

    assert_eq!(lab.boot("master", None, &lab.ca).await, Outcome::Nothing, "without a credential");
    assert_eq!(lab.boot("master", Some(&worker), &lab.ca).await, Outcome::Nothing, "as another role");
    let foreign = authority("cluster-ca").pem;
    assert_eq!(lab.boot("master", Some(&master), &foreign).await, Outcome::Nothing, "with another CA");
    // As if another machine had come first.
    let used = lab.directory.path().join("state/redeemed/worker-w1.json");
    fs::write(used, r#"{"peer":"192.0.2.9","at":"2026-05-05T12:00:00Z"}"#).unwrap();
    let stolen = credential("w1", MachineRole::Worker);
    assert_eq!(lab.boot("worker", Some(&stolen), &lab.ca).await, Outcome::Nothing, "after another machine");
    fs::remove_file(lab.directory.path().join("master.root")).unwrap();
    assert_eq!(lab.boot("master", Some(&master), &lab.ca).await, Outcome::Nothing, "after the revocation");
    lab.stop.cancel();
}
