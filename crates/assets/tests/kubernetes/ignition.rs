//! Ignition configs, judged by Ignition's own validator.

use std::fs;

use jiff::Timestamp;
use landfall_assets::{Cluster, pointer_config, with_hostname};
use landfall_config::{Architecture, LoadBalancer, Role};
use landfall_platform::{File, FileSet, Mode};
use serde_json::Value;

use crate::{
    configs::{Rendered, SITES, edited, example, site},
    tool::try_run,
    view::View,
};

/// Panics if the validator has anything to say, warnings included.
fn validate(name: &str, config: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.ign");
    fs::write(&path, config).unwrap();
    let (ok, output) = try_run("ignition-validate", &[path.to_str().unwrap()]);
    assert!(ok && output.trim().is_empty(), "{name}: {output}");
}

#[test]
fn every_config_is_valid_on_every_architecture_and_site() {
    for (site, edit) in SITES {
        for architecture in Architecture::ALL {
            for balancer in [LoadBalancer::Managed, LoadBalancer::UserManaged] {
                let mut config = edited(edit);
                config.control_plane.architecture = Some(architecture);
                config.load_balancer = balancer;
                let rendered = Rendered::new(config);
                let configs: Vec<_> =
                    rendered.ignition.iter().filter(|(path, _)| path.rsplit('.').next() == Some("ign")).collect();
                assert_eq!(configs.len(), 5);
                let worker = rendered.text("config-server/worker.ign");
                assert!(worker.contains(&format!("kubernetes-node-linux-{}.tar.gz", architecture.name())));
                for (path, file) in configs {
                    assert_eq!(file.mode, Mode::Private, "{path} holds tokens");
                    validate(&format!("{site} {architecture:?} {balancer:?} {path}"), &file.contents);
                }
            }
        }
    }
}

#[test]
fn the_validator_is_able_to_object() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.ign");
    fs::write(&path, r#"{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"relative"}]}}"#).unwrap();
    assert!(!try_run("ignition-validate", &[path.to_str().unwrap()]).0);
}

#[test]
fn pointers_name_the_address_if_landfall_holds_it_and_the_name_otherwise() {
    let source = |site_name: &str, role: Role| {
        let rendered = Rendered::new(site(site_name));
        let pointer: Value = serde_json::from_str(&rendered.text(&format!("{}.ign", role.name()))).unwrap();
        pointer["ignition"]["config"]["merge"][0]["source"].as_str().unwrap().to_owned()
    };
    assert_eq!(source("plain", Role::Master), "https://192.0.2.5:22623/config/master");
    assert_eq!(source("plain", Role::Worker), "https://192.0.2.5:22623/config/worker");
    assert_eq!(source("ipv6", Role::Worker), "https://[2001:db8:1::5]:22623/config/worker");
    assert_eq!(source("dual-stack", Role::Worker), "https://192.0.2.5:22623/config/worker");
    assert_eq!(source("user-managed", Role::Worker), "https://api-int.demo.example.com:22623/config/worker");
}

#[test]
fn each_machine_has_a_credential_of_its_own_and_none_has_a_root() {
    let rendered = Rendered::new(example());
    let secrets = &rendered.secrets;
    for role in [Role::Master, Role::Worker] {
        let path = format!("{}.ign", role.name());
        let pointer = rendered.text(&path);
        assert!(!pointer.contains("Authorization"), "what all machines have in common opens nothing: {pointer}");
        let of = |name: &str| secrets.with_credential(role, name, None, &path, pointer.as_bytes()).unwrap();
        let (own, other) = (of("demo-x7k2p-0"), of("demo-x7k2p-1"));
        assert_eq!(own, of("demo-x7k2p-0"), "a kit that is made again has the same");
        assert_ne!(own, other);
        validate(&path, &own);
        let text = String::from_utf8(own).unwrap();
        assert!(text.contains("Bearer demo-x7k2p-0."));
        let again = secrets.with_credential(role, "demo-x7k2p-0", Some(Timestamp::UNIX_EPOCH), &path, text.as_bytes());
        let again = String::from_utf8(again.unwrap()).unwrap();
        assert!(again.contains("Bearer demo-x7k2p-0~0.") && !again.contains("Bearer demo-x7k2p-0."));
        for root in [Role::Master, Role::Worker].map(|role| secrets.machine_root(role).expose()) {
            assert!(!text.contains(root));
        }
        // Only workers ask for newer join material, which is what they need it for once they run.
        assert_eq!(View::new(&text).has("/etc/landfall/credential"), role == Role::Worker);
    }
    let error = secrets.with_credential(Role::Worker, "w0", None, "worker.ign", b"{").unwrap_err();
    assert_eq!(error.to_string(), "cannot read the Ignition config 'worker.ign'");
    // A worker's config must not help it to become a master, or to serve one.
    let worker = View::new(&rendered.text("config-server/worker.ign")).unblinded();
    for secret in [
        rendered.secrets.machine_root(Role::Master).expose(),
        rendered.secrets.machine_root(Role::Worker).expose(),
        rendered.secrets.bootstrap_token(Role::Master).expose(),
        rendered.secrets.certificate_key().expose(),
        "PRIVATE KEY",
    ] {
        assert!(!worker.contains(secret));
    }
    let master = View::new(&rendered.text("config-server/master.ign"));
    assert!(!master.has("/etc/landfall/config-server/master.ign"));
    assert!(!master.has("/etc/kubernetes/pki/ca.key"), "it comes encrypted from the first control plane");
}

#[test]
fn a_machine_gets_its_name_through_the_pointer() {
    let rendered = Rendered::new(example());
    let pointer = pointer_config(&rendered.cluster(), &rendered.secrets, Role::Master).unwrap();
    let named = with_hostname("master.ign", &pointer, "demo-x7k2p-master-0").unwrap();
    validate("named pointer", &named);
    let view = View::new(std::str::from_utf8(&named).unwrap());
    assert_eq!(view.file("/etc/hostname"), "demo-x7k2p-master-0\n");
    assert!(view.all().contains("/config/master"));

    let error = with_hostname("master.ign", b"{", "a").unwrap_err();
    assert_eq!(error.to_string(), "cannot read the Ignition config 'master.ign'");
    let error = with_hostname("master.ign", br#"{"ignition":{"version":"3.2.0"}}"#, "a").unwrap_err();
    assert!(error.to_string().contains("3.3.0"), "{error}");
}

#[test]
fn the_users_manifests_reach_the_bootstrap_machine() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n";
    let mut extra = FileSet::default();
    extra.insert("manifests/cni/mine.yml", File::public(object));
    extra.insert("manifests/notes.txt", File::public("not for the cluster"));
    let rendered = Rendered::with_extra_manifests(example(), extra);
    let bootstrap = View::new(&rendered.text("bootstrap.ign"));
    assert!(bootstrap.has("/etc/landfall/manifests/cni/mine.yml"));
    assert!(bootstrap.has("/etc/landfall/manifests/31-machineset-worker.yaml"));
    assert!(!bootstrap.has("/etc/landfall/manifests/notes.txt"));
}

#[test]
fn an_object_in_two_manifests_is_refused() {
    let rendered = Rendered::new(example());
    let mut manifests = rendered.manifests.clone();
    manifests
        .insert("manifests/my-copy.yaml", rendered.manifests.get("manifests/01-cluster-info.yaml").unwrap().clone());
    let error = landfall_assets::ignition_configs(
        &rendered.cluster(),
        &rendered.secrets,
        &rendered.certificates,
        &manifests,
        &FileSet::default(),
    );
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ConfigMap kube-system/landfall is in manifests/01-cluster-info.yaml and in manifests/my-copy.yaml; \
         remove it from one of them"
    );
}

#[test]
fn a_version_without_known_digests_needs_them_from_the_user() {
    let rendered = Rendered::new(example());
    let render = |config: &landfall_config::InstallConfig| {
        let cluster = Cluster { config, infra_id: &rendered.infra_id };
        let Rendered { secrets, certificates, manifests, .. } = &rendered;
        landfall_assets::ignition_configs(&cluster, secrets, certificates, manifests, &FileSet::default())
    };
    let mut config = example();
    config.version = Some("1.36.99".to_owned());
    let error = render(&config).unwrap_err().to_string();
    assert!(error.contains("v1.36.99/kubernetes-node-linux-amd64.tar.gz"), "{error}");
    assert!(error.contains("1.36.4, 1.36.3"), "{error}");
    let digest = format!("sha512-{}", "a".repeat(128));
    config.binary_digests.insert("kubernetes-node-linux-amd64.tar.gz".to_owned(), digest.clone());
    let files = render(&config).unwrap();
    let worker = String::from_utf8(files.get("config-server/worker.ign").unwrap().contents.clone()).unwrap();
    assert!(worker.contains(&digest));
}
