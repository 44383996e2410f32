//! Every field of the section gets to the API, as the simulator's own records show.

use serde_json::{Value, json};

use crate::scene::{Cluster, Scene, config};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB admin";

async fn cluster(flags: &[&str], section: Value, masters: u32, workers: u32) -> Cluster {
    let scene = Scene::new(flags).await;
    let mut fields = json!({"project": scene.project()});
    fields.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
    scene.cluster(config(fields, masters, workers))
}

fn devices(cluster: &Cluster, part: &str) -> Vec<Value> {
    let state = cluster.scene.state();
    let all = state["devices"].as_array().unwrap().clone();
    all.into_iter().filter(|device| device["hostname"].as_str().unwrap().contains(part)).collect()
}

/// Family and whether it is public, of each address that is the device's own.
fn families(device: &Value) -> Vec<(u64, bool)> {
    let own = device["management"].as_array().unwrap().iter();
    own.map(|own| (own["family"].as_u64().unwrap(), own["public"].as_bool().unwrap())).collect()
}

async fn made(cluster: &Cluster) -> (tempfile::TempDir, landfall_engine::Journal) {
    let (home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    (home, journal)
}

#[tokio::test]
async fn places_billing_tags_and_addresses() {
    let section = json!({
        "metros": [], "facilities": ["da11"], "tags": ["blue", "team-a"], "billingCycle": "daily", "ipv6": false,
        "addressBlocks": [
            {"name": "services", "kind": "public", "quantity": 4}, {"name": "storage", "kind": "private", "quantity": 8},
        ],
    });
    let cluster = cluster(&[], section, 1, 1).await;
    let (_home, journal) = made(&cluster).await;
    for device in devices(&cluster, "") {
        assert_eq!((&device["facility"], &device["billing_cycle"]), (&json!("da11"), &json!("daily")));
        assert_eq!(device["tags"].as_array().unwrap()[2..], [json!("blue"), json!("team-a")]);
        assert_eq!(families(&device), [(4, true), (4, false)], "no IPv6");
    }
    let state = cluster.scene.state();
    let block = |name: &str| {
        let tag = json!(format!("landfall-name:{name}"));
        let found =
            state["blocks"].as_array().unwrap().iter().find(|block| block["tags"].as_array().unwrap().contains(&tag));
        found.unwrap().clone()
    };
    assert_eq!((&block("services")["kind"], &block("services")["cidr"]), (&json!("public_ipv4"), &json!(30)));
    assert_eq!((&block("storage")["kind"], &block("storage")["cidr"]), (&json!("private_ipv4"), &json!(29)));
    assert!(block("api")["tags"].as_array().unwrap().contains(&json!("blue")));
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), ["project \"landfall\""]);
}

#[tokio::test]
async fn addresses_and_networks_that_exist_are_used_and_stay() {
    let scene = Scene::new(&[]).await;
    let project = scene.project();
    let before = scene.clone().cluster(config(json!({"project": project}), 1, 0));
    let client = before.client();
    let reserve = json!({"type": "public_ipv4", "quantity": 1, "metro": "da"});
    let api = client.reserve(&project, "api", &reserve).await.unwrap();
    let ingress = client.reserve(&project, "ingress", &reserve).await.unwrap();
    let network = client.create_virtual_network(&project, &json!({"metro": "da"})).await.unwrap();
    let stands = scene.inventory();
    let section = json!({
        "project": project, "apiAddress": api.network, "ingressAddress": ingress.network,
        "virtualNetworks": [{"name": "old", "id": network.id}, {"name": "new", "vxlan": 1234}],
    });
    let cluster = scene.clone().cluster(config(section, 1, 0));
    let (_home, journal) = made(&cluster).await;
    let state = scene.state();
    let vlans: Vec<u64> =
        state["vlans"].as_array().unwrap().iter().map(|vlan| vlan["vxlan"].as_u64().unwrap()).collect();
    assert_eq!(vlans, [1000, 1234]);
    for device in devices(&cluster, "") {
        assert_eq!(device["ports"][0]["vlans"].as_array().unwrap().len(), 2, "{device}");
    }
    let held: Vec<&Value> =
        state["blocks"].as_array().unwrap().iter().filter(|block| block["management"] == false).collect();
    assert_eq!(held.len(), 2, "no further address is reserved");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(scene.inventory(), stands);
}

#[tokio::test]
async fn keys_of_project_users_and_cluster() {
    let scene = Scene::new(&[]).await;
    let project = scene.project();
    let client = scene.clone().cluster(config(json!({"project": project}), 1, 0)).client();
    client.create_ssh_key(&project, "theirs", "ssh-ed25519 AAAAtheirs theirs", &[]).await.unwrap();
    let theirs = client.ssh_keys(&project).await.unwrap()[0].id.clone();
    let user = scene.state()["user"].clone();
    let mut cluster = scene.clone().cluster(config(
        json!({"project": project, "consoleSshKeys": [theirs], "consoleUsers": [user], "projectSshKeys": true}),
        1,
        0,
    ));
    cluster.config.ssh_key = Some(format!("{KEY}\n"));
    let (_home, journal) = made(&cluster).await;
    let keys = client.ssh_keys(&project).await.unwrap();
    let own = keys.iter().find(|key| key.key == KEY).unwrap();
    assert_eq!(own.label, "demo-x7k2p-key-0");
    for device in devices(&cluster, "") {
        let mut keys_used: Vec<&str> =
            device["ssh_keys"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut wanted = vec![theirs.as_str(), own.id.as_str()];
        keys_used.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(keys_used, wanted);
    }
    cluster.destroy(&journal).await.unwrap();
    let left: Vec<String> = client.ssh_keys(&project).await.unwrap().into_iter().map(|key| key.label).collect();
    assert_eq!(left, ["theirs"], "the cluster's own key went with it");
}

#[tokio::test]
async fn the_key_of_a_project_adds_ssh_keys_though_it_is_told_otherwise() {
    let mut cluster = cluster(&["--project-key", "one-project"], json!({"projectSshKeys": true}), 1, 0).await;
    cluster.config.ssh_key = Some(KEY.to_owned());
    "one-project".clone_into(&mut cluster.key);
    let (_home, journal) = made(&cluster).await;
    let labels = || async {
        let keys = cluster.client().ssh_keys(&cluster.scene.project()).await.unwrap();
        keys.into_iter().map(|key| key.label).collect::<Vec<_>>()
    };
    assert_eq!(labels().await, ["demo-x7k2p-key-0"]);
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(labels().await, Vec::<String>::new());
}

#[tokio::test]
async fn machines_without_public_addresses_on_hardware_that_is_named() {
    let reserved = ["--hardware-reservation", "c3.small.x86@da", "--hardware-reservation", "c3.small.x86@da"];
    let section = json!({"os": {"slug": "flatcar_stable"}, "endpoint": "bgp"});
    let mut cluster = cluster(&reserved, section, 1, 2).await;
    let state = cluster.scene.state();
    let ids: Vec<&str> =
        state["reservations"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap()).collect();
    cluster.config.compute[0].platform.packet =
        serde_json::from_value(json!({"publicIPv4": false, "hardwareReservations": ids})).unwrap();
    made(&cluster).await;
    let workers = devices(&cluster, "worker");
    for worker in &workers {
        assert_eq!(families(worker), [(6, true), (4, false)]);
        assert_eq!((&worker["os"], &worker["ipxe_script_url"]), (&json!("flatcar_stable"), &Value::Null));
    }
    let mut used: Vec<&str> = workers.iter().map(|worker| worker["reservation"].as_str().unwrap()).collect();
    let mut wanted = ids.clone();
    used.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(used, wanted, "one each");
    let sessions = cluster.scene.state()["sessions"].as_array().unwrap().len();
    assert_eq!(sessions, 4, "one for each machine");
}

#[tokio::test]
async fn spot_instances_with_the_most_that_is_paid() {
    let mut cluster = cluster(&[], json!({}), 1, 1).await;
    cluster.config.compute[0].platform.packet = serde_json::from_value(json!({"spot": {"maxPriceCents": 35}})).unwrap();
    made(&cluster).await;
    let worker = &devices(&cluster, "worker")[0];
    assert_eq!((&worker["spot"], &worker["spot_price_max"]), (&json!(true), &json!(0.35)));
    assert_eq!(devices(&cluster, "master")[0]["spot"], false);
}
