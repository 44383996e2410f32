//! What is said about an engine before anything is made in it.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr},
};

use async_trait::async_trait;
use landfall_config::InstallConfig;
use landfall_platform::Verdict;
use landfall_platform_ovirt::{Preflight, preflight};
use landfall_wire::Surroundings;
use serde_json::{Value, json};

use crate::scene::{PASSWORD, PROFILE, Scene, config, configured};

/// A network in which some addresses answer and some names are known.
#[derive(Default)]
struct Site {
    answering: Vec<SocketAddr>,
    names: BTreeMap<&'static str, IpAddr>,
}

#[async_trait]
impl Surroundings for Site {
    async fn answers(&self, address: SocketAddr) -> bool {
        self.answering.contains(&address)
    }

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.names.get(name).map(|address| vec![*address]).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn site() -> Site {
    let (api, ingress) = ([192, 0, 2, 5].into(), [192, 0, 2, 6].into());
    let names =
        [("api.demo.example.com", api), ("api-int.demo.example.com", api), ("test.apps.demo.example.com", ingress)];
    Site { answering: Vec::new(), names: names.into() }
}

async fn look(scene: &Scene, config: &InstallConfig, site: &Site) -> Preflight {
    preflight(&scene.client(PASSWORD), config, &"demo-x7k2p".parse().unwrap(), site).await
}

/// Findings that are not all right, as a person reads them.
fn troubles(preflight: &Preflight) -> Vec<String> {
    let troubles = preflight.findings.iter().filter(|finding| finding.verdict != Verdict::Ok);
    troubles.map(|finding| format!("{:?}: {finding}", finding.verdict)).collect()
}

#[tokio::test]
async fn an_engine_that_is_ready() {
    let scene = Scene::new().await;
    let found = look(&scene, &config(1, 2), &site()).await;
    assert_eq!(troubles(&found), [""; 0]);
    let facts = found.facts.unwrap();
    assert_eq!((facts.hosts_up, facts.vnic_profile_id.as_deref()), (3, Some(PROFILE)));
    let lines: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once() {
    let scene = Scene::new().await;
    scene.call("POST", "tags", json!({ "name": "demo-x7k2p" })).await;
    for host in ["7a5b0000-0000-4000-8000-000000000b02", "7a5b0000-0000-4000-8000-000000000b03"] {
        scene.call("POST", &format!("hosts/{host}/deactivate"), json!({})).await;
    }
    let platform = json!({
        "ovirt_storage_domain_id": "7a5b0000-0000-4000-8000-00000000dead",
        "affinityGroups": [{ "name": "controlplane", "enforcing": true }],
        "defaultMachinePlatform": { "instanceTypeID": "7a5b0000-0000-4000-8000-00000000beef" },
    });
    let config = configured(3, 2, &json!({ "template": "debian" }), &platform);
    let site = Site { answering: vec!["192.0.2.5:6443".parse().unwrap()], ..Site::default() };
    let found = look(&scene, &config, &site).await;
    assert!(found.has_problems());
    insta::assert_snapshot!(troubles(&found).join("\n"));
}

#[tokio::test]
async fn without_an_image_the_user_is_told_to_give_one() {
    let scene = Scene::new().await;
    let mut config = config(1, 0);
    let landfall_config::Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
    platform.image = None;
    let found = look(&scene, &config, &site()).await;
    assert!(troubles(&found)[0].contains("platform.ovirt.image.disk"), "{:?}", troubles(&found));
}

#[tokio::test]
async fn images_are_looked_at() {
    let scene = Scene::new().await;
    let path = scene.home.path().join("wrong.img");
    std::fs::write(&path, "raw").unwrap();
    for (image, expected) in [
        (scene.image(), None),
        (path, Some("qemu-img convert")),
        (scene.home.path().join("missing.qcow2"), Some("No such file")),
    ] {
        let found = look(&scene, &crate::scene::config_with_image(&image, 1), &site()).await;
        match expected {
            Some(text) => assert!(troubles(&found).join("\n").contains(text), "{:?}", troubles(&found)),
            None => assert_eq!(troubles(&found), [""; 0]),
        }
    }
}

#[tokio::test]
async fn an_engine_that_does_not_let_the_user_in() {
    let scene = Scene::new().await;
    let client = scene.client("wrong");
    let found = preflight(&client, &config(1, 0), &"demo-x7k2p".parse().unwrap(), &site()).await;
    let [finding] = troubles(&found).try_into().unwrap();
    assert!(finding.contains("refused user admin@internal") && finding.contains("admin@internal"), "{finding}");
    assert_eq!(found.facts, None);
}

#[tokio::test]
async fn a_run_that_is_resumed_finds_its_own_objects_and_addresses() {
    let scene = Scene::new().await;
    let config = config(1, 0);
    scene.cluster("demo-x7k2p", config.clone()).install().await.unwrap();
    let site = Site { answering: vec!["192.0.2.5:6443".parse().unwrap()], ..site() };
    let found = look(&scene, &config, &site).await;
    assert_eq!(troubles(&found), [""; 0]);
    assert!(found.findings.iter().any(|finding| finding.message.contains("exist from an earlier run")));
}

#[tokio::test]
async fn an_address_of_a_running_machine_is_not_free() {
    let scene = Scene::new().await;
    scene.cluster("other-hjklm", config(1, 0)).install().await.unwrap();
    let vms = scene.call("GET", "vms?follow=reported_devices", Value::Null).await;
    let address = vms["vm"][0]["reported_devices"]["reported_device"][0]["ips"]["ip"][0]["address"].as_str().unwrap();
    let mut config = config(1, 0);
    let landfall_config::Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
    platform.api_vips = vec![address.parse().unwrap()];
    let found = look(&scene, &config, &site()).await;
    let said = troubles(&found).join("\n");
    assert!(said.contains(&format!("{address} is an address of machine other-hjklm-")), "{said}");
}
