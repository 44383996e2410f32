//! What a platform of real servers does to an installation.

use landfall_engine::ApplyError;
use landfall_platform::{
    Connection, ErrorClass, MachineProvider as _, MachineSpec, ProviderCredentials, WantedMachine, error_chain,
};
use landfall_platform_packet::Provider;
use landfall_simulator::core::Simulation as _;
use serde_json::{Value, json};

use crate::scene::{Cluster, Scene, config};

async fn cluster(flags: &[&str], section: Value, masters: u32, workers: u32) -> Cluster {
    let scene = Scene::new(flags).await;
    let mut fields = json!({"project": scene.project()});
    fields.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
    scene.cluster(config(fields, masters, workers))
}

fn devices(cluster: &Cluster) -> Vec<String> {
    cluster.scene.inventory().into_iter().filter(|line| line.starts_with("device")).collect()
}

#[tokio::test]
async fn the_next_metro_and_the_next_plan_are_tried() {
    let flags =
        ["--capacity", "da/c3.small.x86=0", "--capacity", "sv/c3.small.x86=3", "--capacity", "sv/m3.small.x86=1"];
    let section = json!({
        "metros": ["da", "sv", "dc"],
        "defaultMachinePlatform": {"plans": ["c3.small.x86"]},
    });
    let mut cluster = cluster(&flags, section, 2, 2).await;
    cluster.config.compute[0].platform.packet =
        serde_json::from_value(json!({"plans": ["c3.small.x86", "m3.small.x86"]})).unwrap();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let mut made = devices(&cluster);
    made.sort();
    let places: Vec<String> = made.iter().map(|line| line.replace('"', "").replace("device demo-x7k2p-", "")).collect();
    assert_eq!(places[..3], ["bootstrap c3.small.x86 sv", "master-0 c3.small.x86 sv", "master-1 c3.small.x86 sv"]);
    // The last servers of the chosen place, and then the other places in the user's order.
    let mut workers: Vec<&str> =
        places[3..].iter().filter_map(|place| place.split_once(' ')).map(|(_, what)| what).collect();
    workers.sort_unstable();
    assert_eq!(workers, ["m3.small.x86 da", "m3.small.x86 sv"], "{places:?}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(devices(&cluster), Vec::<String>::new());
}

#[tokio::test]
async fn a_want_of_servers_is_told_before_anything_is_made() {
    let flags = ["--capacity", "da/c3.small.x86=2"];
    let cluster = cluster(&flags, json!({"defaultMachinePlatform": {"plans": ["c3.small.x86"]}}), 3, 0).await;
    let found = cluster.preflight().await;
    assert!(found.has_problems() && found.facts.is_none());
    let told = found.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("there are no servers for a control plane in da (c3.small.x86)"), "{told}");
}

#[tokio::test]
async fn servers_that_are_gone_by_then_are_told_with_what_was_tried() {
    let cluster = cluster(&[], json!({"defaultMachinePlatform": {"plans": ["c3.small.x86"]}}), 1, 0).await;
    cluster.scene.fault("POST /metal/v1/projects/*/devices no-capacity");
    let (_home, journal) = cluster.journal();
    let error = cluster.apply(&journal).await.unwrap_err();
    let ApplyError::Step { .. } = &error else { panic!("{error:?}") };
    let told = error_chain(&error);
    assert!(told.contains("c3.small.x86 in da: status 422: There are no provisionable c3.small.x86 servers"), "{told}");
}

#[tokio::test]
async fn a_device_that_fails_is_replaced() {
    let cluster = cluster(&["--device-outcome", "master-0 failed"], json!({}), 1, 0).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    assert_eq!(devices(&cluster).len(), 2, "{:?}", devices(&cluster));
}

#[tokio::test]
async fn reserved_hardware_is_used_and_its_want_is_told() {
    let reserved = ["--hardware-reservation", "c3.small.x86@da", "--deprovision-time", "1m"];
    let mut cluster = cluster(&reserved, json!({}), 1, 1).await;
    cluster.config.compute[0].platform.packet =
        serde_json::from_value(json!({"hardwareReservations": ["next-available"]})).unwrap();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    assert_eq!(cluster.scene.state()["reservations"][0]["provisionable"], false);
    cluster.destroy(&journal).await.unwrap();
    // One more than there is.
    cluster.config.compute[0].replicas = 2;
    let found = cluster.preflight().await;
    let told = found.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(found.has_problems() && told.contains("1 of 2 reserved servers are free"), "{told}");
}

#[tokio::test]
async fn lost_replies_and_throttling_make_nothing_twice() {
    let cluster = cluster(&[], json!({"virtualNetworks": [{"name": "storage"}]}), 2, 1).await;
    for rule in [
        "POST /metal/v1/projects/*/devices nth=1 lost-reply",
        "POST /metal/v1/projects/*/ips nth=1 lost-reply",
        "POST /metal/v1/projects/*/virtual-networks nth=1 lost-reply",
        "GET /metal/v1/projects/*/devices nth=2 status=403 body=html",
        "GET /metal/v1/projects/*/devices nth=4 status=429",
    ] {
        cluster.scene.fault(rule);
    }
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let made = cluster.scene.inventory();
    assert_eq!(made.iter().filter(|line| line.starts_with("device")).count(), 4, "{made:?}");
    assert_eq!(made.iter().filter(|line| line.starts_with("block")).count(), 2, "{made:?}");
    assert_eq!(made.iter().filter(|line| line.starts_with("vlan")).count(), 1, "{made:?}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), ["project \"landfall\""]);
}

#[tokio::test]
async fn a_key_without_rights_and_a_project_that_is_not_there() {
    let mut reader = cluster(&["--read-only-key", "only-reads"], json!({}), 1, 0).await;
    "only-reads".clone_into(&mut reader.key);
    let found = reader.preflight().await;
    let told = found.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(found.facts.is_none() && told.contains("the API key may only read"), "{told}");
    let (_home, journal) = reader.journal();
    let error = reader.apply_blindly(&journal).await.unwrap_err();
    let ApplyError::Step { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.class(), ErrorClass::Auth, "{}", error_chain(&error));

    let mut stranger = cluster(&[], json!({}), 1, 0).await;
    "nobody".clone_into(&mut stranger.key);
    let found = stranger.preflight().await;
    let told = found.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("status 401: Invalid authentication token") && told.contains("METAL_AUTH_TOKEN"), "{told}");

    let lost = cluster(&[], json!({"project": "0b4c8b1e-9f3d-4c58-8d1e-1f2e3d4c5b6a"}), 1, 0).await;
    let found = lost.preflight().await;
    assert_eq!(found.findings[0].field, Some("platform.packet.project"));
}

#[tokio::test]
async fn the_address_of_the_api_leaves_a_master_that_died() {
    let cluster = cluster(&[], json!({}), 2, 0).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let connection = connect(&cluster, &[("endpoint", "eip")]);
    let endpoint = connection.endpoint.expect("an elastic address has to be led");
    let mut masters = connection.machines.list().await.unwrap().machines;
    masters.retain(|machine| machine.name.contains("master"));
    masters.sort_by_key(|machine| machine.name.clone());
    let holder = || {
        let state = cluster.scene.state();
        let blocks = state["blocks"].as_array().unwrap().clone();
        let api = blocks.iter().find(|block| block["tags"].to_string().contains("landfall-name:api")).unwrap().clone();
        api["assignments"][0]["device"].as_str().unwrap().to_owned()
    };
    assert_eq!(holder(), masters[0].id);
    // All are well: nothing happens. The first dies: the second gets it.
    endpoint.lead_to(&masters).await.unwrap();
    assert_eq!(holder(), masters[0].id);
    endpoint.lead_to(&masters[1..]).await.unwrap();
    assert_eq!(holder(), masters[1].id);
}

/// Also one that is the user's own.
#[tokio::test]
async fn the_address_of_the_ingress_leaves_a_worker_that_died() {
    let cluster = cluster(&[], json!({}), 1, 3).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let machines = connect(&cluster, &[]).machines;
    let mut workers = machines.list().await.unwrap().machines;
    workers.retain(|machine| machine.name.contains("worker"));
    workers.sort_by_key(|machine| machine.name.clone());
    let block = |name: &str| {
        let state = cluster.scene.state();
        let is_it = |block: &&Value| block["tags"].to_string().contains(&format!("landfall-name:{name}"));
        state["blocks"].as_array().unwrap().iter().find(is_it).unwrap().clone()
    };
    let holder = || block("ingress")["assignments"][0]["device"].as_str().unwrap_or("nobody").to_owned();
    let api = block("api")["assignments"].clone();
    let address = block("ingress")["network"].as_str().unwrap().to_owned();
    assert_eq!(holder(), "nobody", "there is no ingress before the pivot");
    let own = connect(&cluster, &[("endpoint", "eip")]).endpoint.unwrap();
    for _ in 0..2 {
        own.lead_ingress_to(&workers).await.unwrap();
        assert_eq!(holder(), workers[0].id, "as long as it is well");
    }
    own.lead_ingress_to(&workers[1..]).await.unwrap();
    assert_eq!(holder(), workers[1].id);
    let given = connect(&cluster, &[("endpoint", "eip"), ("ingress_address", &address)]).endpoint.unwrap();
    given.lead_ingress_to(&workers[2..]).await.unwrap();
    assert_eq!(holder(), workers[2].id);
    assert_eq!(block("api")["assignments"], api, "the API's stays where it is");
    // A machine that is not here any more cannot have it.
    let mut gone = workers[0].clone();
    "b7f2c1d0-0000-4000-8000-000000000000".clone_into(&mut gone.id);
    let error = own.lead_ingress_to(&[gone]).await.unwrap_err();
    assert!(error_chain(&error).contains("in a metro where no healthy machine is"), "{}", error_chain(&error));
    assert_eq!(holder(), workers[2].id);
}

/// A controller's connection to the account, with further keys in its Secret.
fn connect(cluster: &Cluster, more: &[(&str, &str)]) -> Connection {
    let secret = |key: &str, value: &str| (key.to_owned(), value.to_owned().into());
    let mut credentials: ProviderCredentials = [
        secret("api_key", &cluster.key),
        secret("api_url", &cluster.scene.ready("url")),
        secret("ca_bundle", cluster.scene.account.ca_pem().unwrap()),
        secret("project_id", &cluster.scene.project()),
    ]
    .into();
    credentials.extend(more.iter().map(|(key, value)| secret(key, value)));
    Provider.connect(&credentials, &cluster.infra_id, std::time::Duration::from_millis(5)).unwrap()
}

#[tokio::test]
async fn a_spot_instance_that_was_taken_away_is_made_again() {
    let cluster = cluster(&[], json!({}), 1, 0).await;
    let machines = connect(&cluster, &[]).machines;
    let interval = std::time::Duration::from_millis(5);
    let provider_spec = json!({
        "kind": "PacketMachineProviderSpec", "userDataSecret": {"name": "u"}, "credentialsSecret": {"name": "c"},
        "machineTypes": ["m3.small.x86"], "metros": ["da"], "os": "flatcar_stable", "spotPriceMax": 0.5,
    });
    let name = "demo-x7k2p-worker-a";
    let wanted = WantedMachine { name, role: "worker", infra_id: &cluster.infra_id, provider_spec: &provider_spec };
    let platform = Provider.machine(&wanted).unwrap();
    let spec = MachineSpec { name: name.to_owned(), user_data: "{}".to_owned().into(), platform };
    let first = machines.ensure(&spec, &|_| ()).await.unwrap();
    let price = |price: f64| {
        let body = json!({"location": "da", "plan": "m3.small.x86", "price": price}).to_string();
        let request = landfall_simulator::core::Request {
            listener: 0,
            method: "POST".to_owned(),
            path: "/spot-price".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: body.into(),
            injection: None,
        };
        cluster.scene.account.world().with(|account, now| account.administer(now, &request)).unwrap();
    };
    price(1.0);
    while machines.get(name.into()).await.unwrap().is_some() {
        tokio::time::sleep(interval).await;
    }
    // At this price there is none, and that is what is told.
    let error = machines.ensure(&spec, &|_| ()).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Capacity, "{}", error_chain(&error));
    price(0.2);
    let second = machines.ensure(&spec, &|_| ()).await.unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(devices(&cluster).len(), 1);
}

/// What somebody with the account's key may do to a device.
async fn change(cluster: &Cluster, id: &str, change: Value) {
    let http = landfall_wire::Client::new(
        &landfall_wire::Trust::Only(cluster.scene.account.ca_pem().unwrap().to_owned()),
        landfall_wire::Limits::default(),
    );
    let url = format!("{}/devices/{id}", cluster.scene.ready("url").trim_end_matches('/')).parse().unwrap();
    let request = landfall_wire::Request::json(landfall_wire::Method::PUT, url, &change).accept_json();
    let reply = http.unwrap().send(request.header("x-auth-token", &cluster.key)).await.unwrap();
    assert!(reply.status() < 300, "{}: {}", reply.status(), String::from_utf8_lossy(reply.contents()));
}

fn device_id(cluster: &Cluster, name: &str) -> String {
    let state = cluster.scene.state();
    let all = state["devices"].as_array().unwrap();
    all.iter().find(|device| device["hostname"] == name).unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_machine_that_was_renamed_or_lost_its_tags_goes_with_the_cluster() {
    for (with_journal, new) in [
        (true, json!({"hostname": "other", "tags": []})),
        (true, json!({"hostname": "other"})),
        (false, json!({"hostname": "other"})),
    ] {
        let cluster = cluster(&[], json!({}), 1, 0).await;
        let (_home, journal) = cluster.journal();
        cluster.apply(&journal).await.unwrap();
        let id = device_id(&cluster, "demo-x7k2p-master-0");
        change(&cluster, &id, new.clone()).await;
        let (_lost, empty) = cluster.journal();
        cluster.destroy(if with_journal { &journal } else { &empty }).await.unwrap();
        assert_eq!(devices(&cluster), Vec::<String>::new(), "{new} with journal: {with_journal}");
    }
}
