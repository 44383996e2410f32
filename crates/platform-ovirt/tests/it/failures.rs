//! Failures that trying again cannot help: the right class, and a message that says what to do.

use landfall_engine::ApplyError;
use landfall_platform::{ErrorClass, error_chain};
use landfall_testkit::Authority;
use landfall_wire::Trust;
use serde_json::{Value, json};

use crate::scene::{Cluster, PASSWORD, Scene, config, configured};

async fn failure(cluster: &Cluster) -> (ErrorClass, String) {
    let error = cluster.install().await.expect_err("the installation fails");
    let text = error_chain(&error);
    match error {
        ApplyError::Step { source, .. } => (source.class(), text),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_wrong_password() {
    let scene = Scene::new().await;
    let mut cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.client = scene.client("wrong");
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Auth);
    assert!(text.contains("refused user admin@internal"), "{text}");
    assert!(!text.contains("wrong"), "{text}");
}

#[tokio::test]
async fn a_certificate_of_another_authority() {
    let scene = Scene::new().await;
    let mut cluster = scene.cluster("demo-x7k2p", config(1, 0));
    let other = Authority::new("somebody else");
    cluster.client = scene.client_that_trusts(&Trust::Only(other.pem().to_owned()), PASSWORD);
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Invalid);
    assert!(text.contains("is not trusted"), "{text}");
}

#[tokio::test]
async fn a_template_that_does_not_exist() {
    let scene = Scene::new().await;
    let config = configured(1, 0, &json!({ "template": "nothing" }), &json!({}));
    let (class, text) = failure(&scene.cluster("demo-x7k2p", config)).await;
    assert_eq!(class, ErrorClass::NotFound);
    assert!(text.contains("template nothing does not exist"), "{text}");
}

#[tokio::test]
async fn no_host_has_memory_for_a_machine() {
    let scene = Scene::new().await;
    let pool = json!({ "defaultMachinePlatform": { "memoryMB": 1_048_576 } });
    let cluster = scene.cluster("demo-x7k2p", configured(1, 0, &json!({ "template": "fcos" }), &pool));
    let empty = cluster.list();
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Capacity, "{text}");
    assert!(text.contains("machine demo-x7k2p-master-0") && text.contains("memory"), "{text}");
    assert!(text.contains("correlation id landfall-"), "{text}");
    cluster.destroy().await.unwrap();
    assert_eq!(cluster.list(), empty);
}

#[tokio::test]
async fn hard_affinity_with_too_few_hosts() {
    let scene = Scene::new().await;
    let groups = json!({ "affinityGroups": [{ "name": "controlplane", "enforcing": true }] });
    for host in ["7a5b0000-0000-4000-8000-000000000b02", "7a5b0000-0000-4000-8000-000000000b03"] {
        scene.call("POST", &format!("hosts/{host}/deactivate"), json!({})).await;
    }
    let cluster = scene.cluster("demo-x7k2p", configured(3, 0, &json!({ "template": "fcos" }), &groups));
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Capacity, "{text}");
    assert!(text.contains("VmAffinityGroups"), "{text}");
}

#[tokio::test]
async fn a_storage_domain_that_is_full() {
    let inventory = landfall_simulator::ovirt::DEFAULT_INVENTORY.replace("size_gib: 10240", "size_gib: 8");
    let scene = Scene::described(&inventory).await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    let empty = cluster.list();
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Capacity, "{text}");
    assert!(text.contains("Low disk space"), "{text}");
    cluster.destroy().await.unwrap();
    assert_eq!(cluster.list(), empty);
}

#[tokio::test]
async fn a_name_that_is_taken_in_another_cluster_of_the_data_centre() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    let template = json!({ "name": "Blank" });
    let body = json!({ "name": "demo-x7k2p-bootstrap", "cluster": { "name": "Default" }, "template": template });
    scene.call("POST", "vms", body).await;
    let (class, text) = failure(&cluster).await;
    assert_eq!(class, ErrorClass::Invalid);
    assert!(text.contains("machine demo-x7k2p-bootstrap exists") && text.contains("does not belong"), "{text}");
}

#[tokio::test]
async fn a_wrong_address_shows_the_page_that_answers_there() {
    let scene = Scene::new().await;
    scene.fault("* /ovirt-engine/api* html-page");
    let (class, text) = failure(&scene.cluster("demo-x7k2p", config(1, 0))).await;
    assert_eq!(class, ErrorClass::Invalid);
    assert!(text.contains("web page") && text.contains("is the address right?"), "{text}");
}

#[tokio::test]
async fn a_machine_that_goes_down_while_it_starts_is_started_again() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    let expected = cluster.list();
    let vms = scene.call("GET", "vms", Value::Null).await;
    for vm in vms["vm"].as_array().unwrap() {
        let path = format!("vms/{}/stop", vm["id"].as_str().unwrap());
        scene.call("POST", &path, json!({ "force": "true" })).await;
    }
    // Another process, which knows nothing of the first one's work.
    std::fs::remove_file(scene.home.path().join("demo-x7k2p.sqlite")).unwrap();
    cluster.install().await.unwrap();
    // The engine hands out the Ignition config at the first start only.
    let config_drive = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().map(|line| line.replace("user data true", "").replace("user data false", "")).collect()
    };
    assert_eq!(config_drive(cluster.list()), config_drive(expected));
}
