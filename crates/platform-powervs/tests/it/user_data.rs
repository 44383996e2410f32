//! Remains of the bootstrap machine's user data in an account.

use landfall_wire::{Limits, Request, Trust};
use serde_json::{Value, json};

use crate::scene::{Scene, config};

#[tokio::test]
async fn the_bucket_keeps_no_keys_of_the_bootstrap_machine() {
    let cluster = Scene::new(&[]).await.cluster(config(json!({}), 1, 1));
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let state = cluster.scene.state();
    let buckets = state["buckets"].as_object().unwrap().values();
    let private: Vec<&Value> = buckets.filter(|bucket| bucket["public"] == false).collect();
    assert_eq!(private.len(), 1);
    assert_eq!(private[0]["objects"], json!({}));

    // The platform keeps the user data, whose link leads nowhere; it would have ended with the timeouts of a boot.
    let workspaces = state["workspaces"].as_object().unwrap().values();
    let machines = workspaces.flat_map(|workspace| workspace["instances"].as_object().unwrap().values());
    let bootstrap = machines.into_iter().find(|machine| machine["name"] == "demo-x7k2p-bootstrap").unwrap();
    let pointer: Value = serde_json::from_str(bootstrap["user_data"].as_str().unwrap()).unwrap();
    let link = pointer["ignition"]["config"]["replace"]["source"].as_str().unwrap();
    assert!(link.contains("X-Amz-Expires=2400"), "{link}");
    let trust = cluster.scene.account.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
    let client = landfall_wire::Client::new(&trust, Limits::default()).unwrap();
    let reply = client.send(Request::get(link.parse().unwrap())).await.unwrap();
    assert_eq!(reply.status(), 404, "{}", String::from_utf8_lossy(reply.contents()));
}
