//! What a cloud does to an installation.

use std::time::Duration;

use landfall_engine::ApplyError;
use landfall_platform::{ErrorClass, MachineProvider as _, error_chain};
use landfall_platform_powervs::{Client, Provider, client::Workspace};
use serde_json::{Value, json};

use crate::scene::{Cluster, Scene, config};

async fn cluster(flags: &[&str], masters: u32, workers: u32) -> Cluster {
    Scene::new(flags).await.cluster(config(json!({}), masters, workers))
}

/// The error of a step that failed.
fn told(error: &ApplyError) -> (String, ErrorClass) {
    let ApplyError::Step { source, .. } = error else { panic!("{error:?}") };
    (error_chain(error), source.class())
}

#[tokio::test]
async fn an_import_that_fails_is_told_with_its_reason_and_can_be_repeated() {
    let cluster = cluster(&["--outcome", "image demo failed-once"], 1, 0).await;
    let (_home, journal) = cluster.journal();
    let (text, class) = told(&cluster.apply(&journal).await.unwrap_err());
    assert!(text.contains("image demo-x7k2p-image is in state failed"), "{text}");
    assert_eq!(class, ErrorClass::Invalid);
    cluster.apply(&journal).await.unwrap();
}

#[tokio::test]
async fn a_dhcp_server_in_error_is_told_at_once_and_leaves_nothing() {
    let cluster = cluster(&["--outcome", "dhcp demo failed"], 1, 0).await;
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    let (text, _) = told(&cluster.apply(&journal).await.unwrap_err());
    assert!(text.contains("DHCP server demo-x7k2p-network is in state ERROR"), "{text}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn a_machine_in_error_is_told_at_once_with_the_platforms_reason_and_made_anew() {
    let cluster = cluster(&["--outcome", "instance master-0 failed-once"], 1, 0).await;
    let (_home, journal) = cluster.journal();
    let (text, class) = told(&cluster.apply(&journal).await.unwrap_err());
    assert!(text.contains("machine demo-x7k2p-master-0 is in state ERROR"), "{text}");
    assert_eq!(class, ErrorClass::Invalid);
    cluster.apply(&journal).await.unwrap();
}

#[tokio::test]
async fn a_machine_that_somebody_deletes_while_it_is_made_is_made_again() {
    // Long enough, two seconds of this clock, for somebody to come along in the middle of it.
    let cluster = cluster(&["--delay", "instance=3h"], 3, 0).await;
    let (_home, journal) = cluster.journal();
    let client = cluster.client();
    let stranger = async {
        loop {
            let state = cluster.scene.state();
            let workspaces = state["workspaces"].as_object().unwrap();
            let of = |(guid, workspace): (&String, &serde_json::Value)| {
                let all = workspace["instances"].as_object().unwrap().iter();
                let mut built = all.filter(|(_, one)| one["status"] == "BUILD");
                built.next().map(|(id, one)| (guid.clone(), id.clone(), one["name"].as_str().unwrap().to_owned()))
            };
            if let Some((guid, id, name)) = workspaces.into_iter().find_map(of) {
                let crn = state["instances"][&guid]["crn"].as_str().unwrap().to_owned();
                if client.delete_instance(&Workspace { guid, crn }, &id, &name).await.is_ok() {
                    return name;
                }
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let making = tokio::time::timeout(Duration::from_mins(2), cluster.apply(&journal));
    let (made, victim) = tokio::join!(making, stranger);
    made.unwrap_or_else(|_| panic!("{victim} is waited for without end: {:#?}", cluster.scene.inventory())).unwrap();
    let machines = cluster.scene.inventory().iter().filter(|line| line.starts_with("machine ")).count();
    assert_eq!(machines, 4, "{victim}: {:#?}", cluster.scene.inventory());
}

/// Makes a cluster while another user deletes one thing of it in the middle of its making, and removes it. `delete` is given the state again
/// and again, and returns true once it has deleted something.
async fn made_again(flags: &[&str], delete: impl AsyncFn(&Client, &Value) -> bool) {
    let cluster = cluster(flags, 1, 0).await;
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    let client = cluster.client();
    let stranger = async {
        while !delete(&client, &cluster.scene.state()).await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let both = async { tokio::join!(cluster.apply(&journal), stranger) };
    let limit = Duration::from_mins(2);
    let (made, ()) = tokio::time::timeout(limit, both)
        .await
        .unwrap_or_else(|_| panic!("{flags:?}: waits without end: {:#?}", cluster.scene.inventory()));
    made.unwrap_or_else(|error| panic!("{flags:?}: {}", error_chain(&error)));
    let made = cluster.scene.inventory();
    for (prefix, count) in [(r#"service "demo-x7k2p-power-iaas" "active""#, 1), ("dhcp server", 1)] {
        assert_eq!(made.iter().filter(|line| line.starts_with(prefix)).count(), count, "{flags:?}: {made:#?}");
    }
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before, "{flags:?}");
}

/// Deletes the cluster's workspace if it is in a state.
async fn delete_workspace(client: &Client, state: &Value, is_meant: impl Fn(&Value) -> bool) -> bool {
    let own = |one: &&Value| one["name"] == "demo-x7k2p-power-iaas" && is_meant(one);
    let Some(guid) = state["instances"].as_object().unwrap().values().find(own).map(|one| one["guid"].clone()) else {
        return false;
    };
    let Ok(Some(instance)) = client.resource_instance(guid.as_str().unwrap()).await else { return false };
    client.delete_resource_instance(&instance).await.is_ok()
}

// The delays are two seconds of this clock: long enough for another user to come along in the middle.

#[tokio::test]
async fn a_workspace_that_somebody_deletes_while_it_is_made_is_made_again() {
    made_again(&["--delay", "workspace=3h"], async |client, state| {
        delete_workspace(client, state, |one| one["state"] == "provisioning").await
    })
    .await;
}

#[tokio::test]
async fn a_workspace_that_somebody_deletes_while_its_edge_router_is_configured_is_made_again() {
    made_again(&["--delay", "router=3h"], async |client, state| {
        delete_workspace(client, state, |one| one["state"] == "active").await
    })
    .await;
}

#[tokio::test]
async fn a_dhcp_server_that_somebody_deletes_while_it_is_made_is_made_again() {
    made_again(&["--delay", "dhcp=3h"], async |client, state| {
        let built = state["workspaces"].as_object().unwrap().iter().find_map(|(guid, workspace)| {
            let mut all = workspace["dhcp_servers"].as_object()?.iter();
            let (id, _) = all.find(|(_, server)| server["status"] == "BUILD")?;
            Some((guid.clone(), id.clone()))
        });
        let Some((guid, id)) = built else { return false };
        let crn = state["instances"][&guid]["crn"].as_str().unwrap().to_owned();
        client.delete_dhcp_server(&Workspace { guid, crn }, &id).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn load_balancers_that_are_busy_are_waited_for() {
    let cluster = cluster(&[], 2, 1).await;
    cluster.scene.fault("PUT /vpc/v1/load_balancers/*/pools/*/members first=8 status=409 body=platform");
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.pivot(&journal).await;
    let made = cluster.scene.inventory();
    assert!(
        made.contains(&r#"load balancer "demo-x7k2p-loadbalancer-int" "api"=2 "config"=2"#.to_owned()),
        "{made:#?}"
    );
}

#[tokio::test]
async fn tokens_that_run_out_are_renewed_unseen() {
    let cluster = cluster(&[], 1, 1).await;
    let before = cluster.scene.inventory();
    let moments = [
        "GET /power/* nth=15 token-expired",
        "POST /power/* nth=2 token-expired",
        "GET /vpc/* nth=10 token-expired",
        "PUT /vpc/* nth=1 token-expired",
        "* /transit/* nth=4 token-expired",
        "* /resource-controller/* nth=5 token-expired",
        "PUT /cos/* nth=2 token-expired",
    ];
    for rule in moments {
        cluster.scene.fault(rule);
    }
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
    let exchanges = cluster.scene.calls(|_, path| path.ends_with("/identity/token"));
    assert!(exchanges > 3, "{exchanges} exchanges: nothing was proved");
}

#[tokio::test]
async fn lost_replies_and_throttling_make_nothing_twice() {
    let cluster = cluster(&[], 2, 1).await;
    let before = cluster.scene.inventory();
    for rule in [
        "POST /power/pcloud/*/pvm-instances nth=1 lost-reply",
        "POST /power/pcloud/*/services/dhcp nth=1 lost-reply",
        "POST /power/pcloud/*/cos-images nth=1 lost-reply",
        "POST /resource-controller/v2/resource_instances nth=1 lost-reply",
        "POST /vpc/v1/vpcs nth=1 lost-reply",
        "POST /vpc/v1/load_balancers nth=1 lost-reply",
        "POST /vpc/v1/subnets nth=2 lost-reply",
        "POST /transit/v1/transit_gateways nth=1 lost-reply",
        "POST /transit/v1/transit_gateways/*/connections nth=1 lost-reply",
        "GET /power/* nth=7 status=429",
        "GET /vpc/* nth=9 status=503",
    ] {
        cluster.scene.fault(rule);
    }
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let made = cluster.scene.inventory();
    let count = |prefix: &str| made.iter().filter(|line| line.starts_with(prefix)).count();
    let counts = [
        ("machine", 4),
        ("dhcp", 1),
        ("image", 1),
        ("vpc", 1),
        ("load balancer", 2),
        ("subnet", 3),
        ("transit", 1),
        ("connection", 2),
    ];
    for (kind, expected) in counts {
        assert_eq!(count(kind), expected, "{kind}: {made:#?}");
    }
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn a_key_that_nobody_knows_is_told_before_anything_is_made() {
    let mut stranger = cluster(&[], 1, 0).await;
    "nobody".clone_into(&mut stranger.key);
    let told = stranger.complaints().await;
    assert!(told.contains("BXNIM0415E") && told.contains("IBMCLOUD_API_KEY"), "{told}");
}

#[tokio::test]
async fn services_that_are_out_of_sorts_for_a_moment_are_no_findings() {
    let cluster = cluster(&[], 1, 0).await;
    for rule in [
        "POST /iam/identity/token first=1 status=503",
        "GET /resource-manager/* first=2 status=500",
        "GET /power/v1/datacenters/* first=1 status=429",
        "GET /vpc/* first=1 reset",
        "GET /transit/* first=1 throttle=1s",
    ] {
        cluster.scene.fault(rule);
    }
    assert!(!cluster.preflight().await.has_problems(), "{}", cluster.complaints().await);
}

#[tokio::test]
async fn the_controllers_endpoint_keeps_pools_right_as_masters_change() {
    let cluster = cluster(&[], 3, 0).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.pivot(&journal).await;
    let secret = |key: &str, value: String| (key.to_owned(), value.into());
    let credentials = [
        secret("ibmcloud_api_key", cluster.key.clone()),
        secret("zone", "dal10".to_owned()),
        secret("service_endpoints", serde_json::to_string(&cluster.scene.endpoints()).unwrap()),
        secret("ca_bundle", cluster.scene.account.ca_pem().unwrap().to_owned()),
    ];
    let interval = std::time::Duration::from_millis(5);
    let connection = Provider.connect(&credentials.into(), &cluster.infra_id, interval).unwrap();
    let mut masters = connection.machines.list().await.unwrap().machines;
    masters.sort_by_key(|machine| machine.name.clone());
    assert_eq!(masters.len(), 3);
    assert!(masters[0].provider_id.starts_with("ibmpowervs://dal/dal10/"), "{}", masters[0].provider_id);
    let endpoint = connection.endpoint.expect("pools have to be kept");
    let changes = || cluster.scene.calls(|method, path| method == "PUT" && path.ends_with("/members"));
    let before = changes();
    endpoint.lead_to(&masters).await.unwrap();
    endpoint.lead_ingress_to(&masters).await.unwrap();
    assert_eq!(changes(), before, "all was as wanted");
    connection.machines.delete(masters[0].name.as_str().into(), &|_| ()).await.unwrap();
    endpoint.lead_to(&masters[1..]).await.unwrap();
    // Who takes applications is the controller's to say: one of the masters only.
    endpoint.lead_ingress_to(&masters[2..]).await.unwrap();
    let made = cluster.scene.inventory();
    for balancer in [
        r#"load balancer "demo-x7k2p-loadbalancer" "api"=2 "ingress-http"=1 "ingress-https"=1"#,
        r#"load balancer "demo-x7k2p-loadbalancer-int" "api"=2 "config"=2"#,
    ] {
        assert!(made.iter().any(|line| line == balancer), "{balancer}: {made:#?}");
    }
}
