//! Every kind of endpoint, and what is left afterwards.

use serde_json::{Value, json};

use super::{Scene, ZONE};

/// Installs, looks, installs again, removes.
fn whole(section: &Value) {
    let scene = Scene::new(&[]);
    let zone = scene.server.zone(ZONE);
    let install = scene.install(section, 3, 1);
    let made = install.ok(&["create", "cluster"]).stdout;
    for node in ["master-0", "master-1", "master-2", "worker-0"] {
        assert!(made.contains(&format!("-{node}")), "{made}");
    }
    assert_eq!(scene.left().iter().filter(|line| line.contains("bootstrap")).count(), 0, "{:?}", scene.left());
    let before = scene.left();
    install.ok(&["create", "cluster"]);
    assert_eq!(scene.left(), before, "a second run changes nothing");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.left(), Vec::<String>::new());
    assert_eq!(scene.server.zone(ZONE), zone);
}

#[test]
fn elastic_addresses() {
    whole(&json!({}));
}

#[test]
fn addresses_announced_over_bgp() {
    whole(&json!({"endpoint": "bgp"}));
}

#[test]
fn names_that_lead_to_all_machines() {
    whole(&json!({"endpoint": "dnsRoundRobin"}));
}

#[test]
fn a_cluster_is_found_by_its_mark_alone() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({}), 1, 1);
    install.ok(&["create", "cluster"]);
    let infra_id = install.context.infra_id();
    for file in ["install-config.yaml", ".landfall/journal.sqlite"] {
        std::fs::remove_file(install.context.path(file)).unwrap();
    }
    install.ok(&["destroy", "cluster", "--platform", "packet", "--infra-id", &infra_id]);
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn secrets_stay_where_they_belong() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({}), 1, 0);
    install.ok(&["create", "cluster"]);
    let key = scene.field("api_key");
    for file in [".landfall/journal.sqlite", ".landfall/landfall.log"] {
        let bytes = std::fs::read(install.context.path(file)).unwrap();
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{file}");
    }
    // User data only points somewhere.
    for device in scene.state()["devices"].as_array().unwrap() {
        let userdata = device["userdata"].as_str().unwrap();
        assert!(userdata.len() < 16 * 1024 && !userdata.contains("PRIVATE KEY"), "{userdata}");
    }
}
