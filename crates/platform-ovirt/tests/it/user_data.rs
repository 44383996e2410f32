//! Remains of the bootstrap machine's user data in an engine.

use landfall_platform::{Machines as _, Power, PowerState};
use serde_json::Value;

use crate::scene::{Scene, config};

const BOOTSTRAP: &str = "demo-x7k2p-bootstrap";

#[tokio::test]
async fn the_engine_keeps_no_keys_of_the_bootstrap_machine() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 1));
    cluster.install().await.unwrap();
    let vm = async |name: &str| {
        let found = scene.call("GET", &format!("vms?search=name%3D{name}&all_content=true"), Value::Null).await;
        found["vm"][0].clone()
    };
    let bootstrap = vm(BOOTSTRAP).await;
    assert_eq!(bootstrap["initialization"]["custom_script"].as_str().unwrap_or_default(), "", "{bootstrap}");
    assert_eq!(bootstrap["initialization"]["host_name"], BOOTSTRAP);
    // It was neither restarted for it, nor has it something to take up at the next start.
    assert_eq!((&bootstrap["status"], &bootstrap["next_run_configuration_exists"]), (&"up".into(), &"false".into()));
    let master = vm("demo-x7k2p-master-0").await;
    assert!(master["initialization"]["custom_script"].to_string().contains("master"), "{master}");

    // A machine that restarts needs its user data no more.
    let machines = cluster.binder().machines();
    machines.power(BOOTSTRAP.into(), Power::Reset).await.unwrap();
    assert_eq!(machines.get(BOOTSTRAP.into()).await.unwrap().unwrap().power, PowerState::On);
}
