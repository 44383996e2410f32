//! What is the cluster's and what only looks like it.

use std::sync::Arc;

use landfall_platform::error_chain;
use serde_json::{Value, json};

use crate::scene::{Cluster, Scene, config};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo";

/// A cluster that puts its SSH key into a project.
async fn cluster(section: impl Fn(&Scene) -> Value) -> Cluster {
    let scene = Scene::new(&[]).await;
    let mut config = config(section(&scene), 1, 0);
    config.ssh_key = Some(KEY.to_owned());
    scene.cluster(config)
}

async fn in_a_given_project() -> Cluster {
    cluster(|scene| json!({ "project": scene.project(), "projectSshKeys": true })).await
}

async fn in_its_own_project() -> Cluster {
    cluster(|_| json!({ "newProject": {}, "endpoint": "bgp" })).await
}

/// Asks as another user would, past the listener.
fn ask(scene: &Scene, key: &str, method: &str, path: &str, body: &Value) -> Value {
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let request =
        landfall_simulator::core::Request::direct(method, &format!("/metal/v1/{path}"), &headers, body.to_string());
    let response = scene.account.world().handle(&request);
    assert!(response.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&response.body));
    serde_json::from_slice(&response.body).unwrap_or_default()
}

/// The id of the cluster's own project.
fn own_project(scene: &Scene) -> String {
    let state = scene.state();
    let own = state["projects"].as_array().unwrap().iter().find(|project| project["name"] == "demo-x7k2p").unwrap();
    own["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_ssh_key_that_only_has_the_label_is_neither_used_nor_deleted() {
    let cluster = in_a_given_project().await;
    let scene = Arc::clone(&cluster.scene);
    let theirs = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAITHEIRS0000000000000000000000000000000000 theirs";
    let body = json!({ "label": "demo-x7k2p-key-0", "key": theirs });
    ask(&scene, &cluster.key, "POST", &format!("projects/{}/ssh-keys", scene.project()), &body);
    let before = scene.inventory();
    let (_home, journal) = cluster.journal();
    let error = error_chain(&cluster.apply_blindly(&journal).await.unwrap_err());
    assert!(error.contains("SSH key demo-x7k2p-key-0") && error.contains("does not belong to the cluster"), "{error}");
    // Also by a removal that knows nothing but the infra id.
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

#[tokio::test]
async fn an_ssh_key_that_was_renamed_goes_with_the_cluster() {
    let cluster = in_a_given_project().await;
    let scene = Arc::clone(&cluster.scene);
    let before = scene.inventory();
    let (_home, journal) = cluster.journal();
    cluster.apply_blindly(&journal).await.unwrap();
    let state = scene.state();
    let own = state["keys"].as_array().unwrap().iter().find(|key| key["label"] == "demo-x7k2p-key-0").unwrap().clone();
    ask(
        &scene,
        &cluster.key,
        "PUT",
        &format!("ssh-keys/{}", own["id"].as_str().unwrap()),
        &json!({ "label": "other" }),
    );
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

#[tokio::test]
async fn machines_in_a_project_that_lost_its_tag_are_found_without_the_journal() {
    let cluster = in_its_own_project().await;
    let scene = Arc::clone(&cluster.scene);
    let (_home, journal) = cluster.journal();
    cluster.apply_blindly(&journal).await.unwrap();
    let project = own_project(&scene);
    ask(&scene, &cluster.key, "PUT", &format!("projects/{project}"), &json!({ "tags": [] }));
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    let left: Vec<String> = scene.inventory().into_iter().filter(|line| line.starts_with("device ")).collect();
    assert!(left.is_empty(), "{left:?}");
    // The project itself is known by its recorded id.
    cluster.destroy(&journal).await.unwrap();
    assert!(!scene.inventory().iter().any(|line| line.contains("demo-x7k2p")));
}

#[tokio::test]
async fn a_project_with_something_of_somebody_else_in_it_stays() {
    let cluster = in_its_own_project().await;
    let scene = Arc::clone(&cluster.scene);
    let (_home, journal) = cluster.journal();
    cluster.apply_blindly(&journal).await.unwrap();
    let project = own_project(&scene);
    let body = json!({ "metro": "da", "tags": ["mine"], "description": "theirs" });
    let theirs = ask(&scene, &cluster.key, "POST", &format!("projects/{project}/virtual-networks"), &body);
    let error = error_chain(&cluster.destroy(&journal).await.unwrap_err());
    assert!(error.contains("project demo-x7k2p could not be removed"), "{error}");
    let state = scene.state();
    assert!(state["vlans"].as_array().unwrap().iter().any(|network| network["id"] == theirs["id"]), "{state:#}");
    // And goes once that is gone.
    ask(&scene, &cluster.key, "DELETE", &format!("virtual-networks/{}", theirs["id"].as_str().unwrap()), &Value::Null);
    cluster.destroy(&journal).await.unwrap();
}
