//! Target `ignition-configs`.

use std::{fs, process::Command};

use landfall_assets::{ClusterMetadata, with_hostname};
use landfall_platform::Mode;

use crate::environment::{Site, ignition_file, json, mode, paths, text, validate_ignition};

#[test]
fn returns_the_files_of_the_target() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    assert_eq!(
        paths(&configs.files).into_iter().collect::<Vec<_>>(),
        ["auth/kubeadmin-password", "auth/kubeconfig", "bootstrap.ign", "master.ign", "metadata.json", "worker.ign"]
    );
    for path in ["auth/kubeadmin-password", "auth/kubeconfig", "bootstrap.ign"] {
        assert_eq!(mode(&configs.files, path), Mode::Private, "{path}");
    }
    assert_eq!(configs.state.mode, Mode::Private);
    assert_eq!(configs.infra_id, rendered.infra_id);
}

#[test]
fn the_metadata_finds_the_cluster_again() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    let metadata: ClusterMetadata = serde_json::from_str(&text(&configs.files, "metadata.json")).expect("metadata");
    assert_eq!(metadata.infra_id, rendered.infra_id);
    assert!(metadata.ovirt.is_some());
    let version = text(&rendered.files, "manifests/cvo-overrides.yaml");
    assert!(version.contains(&metadata.cluster_id.to_string()), "{version}");
}

#[test]
fn ignition_accepts_what_machines_boot_with() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    for name in ["bootstrap.ign", "master.ign", "worker.ign"] {
        validate_ignition(name, text(&configs.files, name).as_bytes());
    }
    // The platform puts each machine's name into its pointer config.
    let named = with_hostname("master.ign", text(&configs.files, "master.ign").as_bytes(), "demo-master-0");
    validate_ignition("named.ign", &named.expect("a pointer that Landfall can read"));
    let source = json(&configs.files, "master.ign")["ignition"]["config"]["merge"][0]["source"].clone();
    assert_eq!(source, "https://192.0.2.5:22623/config/master");
}

#[test]
fn the_config_server_is_certified_for_name_and_address() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    let bootstrap = json(&configs.files, "bootstrap.ign");
    let directory = tempfile::tempdir().expect("a directory");
    let put = |name: &str, contents: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, contents).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let on_bootstrap = |name: &str| {
        ignition_file(&bootstrap, &format!("/opt/openshift/tls/machine-config-server.{name}")).expect("the file")
    };
    let (certificate, key) = (put("server.crt", &on_bootstrap("crt")), put("server.key", &on_bootstrap("key")));
    let authority = json(&configs.files, "master.ign");
    let authority = authority["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"].as_str();
    let authority = data_url::DataUrl::process(authority.expect("an authority")).expect("a data URL");
    let authority = put("ca.crt", &authority.decode_to_vec().expect("its data").0);

    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).output().expect("openssl must be installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments:?}: {text}");
        text
    };
    let verify = |check: &[&str]| {
        openssl(&[&["verify", "-purpose", "sslserver", "-CAfile", &authority], check, &[&certificate]].concat())
    };
    verify(&["-verify_hostname", "api-int.demo.example.com"]);
    verify(&["-verify_ip", "192.0.2.5"]);
    let public = |arguments: &[&str]| openssl(arguments);
    assert_eq!(
        public(&["x509", "-in", &certificate, "-pubkey", "-noout"]),
        public(&["pkey", "-in", &key, "-pubout"]),
        "the key must be the one that the certificate was issued for"
    );
    // The operator in the cluster judges the certificate by what the Secret says of it, so both must agree with each other.
    let secret = text(&rendered.files, "manifests/machine-config-server-tls-secret.yaml");
    assert!(secret.contains("certificate-hostnames: api-int.demo.example.com\n"), "{secret}");
    assert!(secret.contains(&base64::Engine::encode(&base64::prelude::BASE64_STANDARD, on_bootstrap("crt"))));
}

#[test]
fn everything_that_the_release_puts_on_the_bootstrap_machine_stays() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let configs = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    let bootstrap = json(&configs.files, "bootstrap.ign");
    let names = |list: &str, key: &str| -> Vec<String> {
        let entries = bootstrap.pointer(list).and_then(|list| list.as_array()).expect("a list");
        entries.iter().map(|entry| entry[key].as_str().expect("a name").to_owned()).collect()
    };
    let (files, units) = (names("/storage/files", "path"), names("/systemd/units", "name"));
    let recorded = |name: &str| {
        let text = fs::read_to_string(format!("{}/{name}", crate::environment::FIXTURES)).expect("the fixture");
        text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for path in recorded("bootstrap-files.tsv") {
        assert!(files.contains(&path), "{path} is gone");
    }
    for unit in recorded("bootstrap-units.tsv") {
        assert!(units.contains(&unit), "{unit} is gone");
    }
}

#[test]
fn short_lived_certificates_can_be_issued_again_from_the_same_state() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let first = site.ignition_configs(&rendered, &rendered.files).expect("rendered");
    let second = site.ignition_configs(&rendered, &rendered.files).expect("rendered again");
    assert_eq!(second.infra_id, first.infra_id);
    assert_eq!(text(&second.files, "metadata.json"), text(&first.files, "metadata.json"));
}
