//! A load balancer of the user's own.

use std::{net::SocketAddr, sync::Arc};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::{RUNTIME, Scene};

/// Sends every connection to the first machine that takes it, as a simple balancer does.
fn balance(scene: &Arc<Scene>, address: std::net::IpAddr, port: u16) {
    let listener = RUNTIME.block_on(TcpListener::bind(SocketAddr::new(address, port))).unwrap();
    let scene = scene.clone();
    RUNTIME.spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let scene = scene.clone();
            tokio::spawn(async move {
                for machine in scene.machines() {
                    if let Ok(mut server) = TcpStream::connect((machine, port)).await {
                        let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                        return;
                    }
                }
            });
        }
    });
}

#[test]
fn traffic_may_be_the_users_own_matter() {
    let scene = Arc::new(Scene::with_records(&[], |place| {
        let [balancer, _] = place.vips(0);
        format!("api.demo A {balancer}\napi-int.demo A {balancer}\n*.apps.demo A {balancer}\n")
    }));
    let [balancer, _] = scene.place.vips(0);
    for port in [6443, 22623, 22625] {
        balance(&scene, balancer.into(), port);
    }
    let zone = scene.server.zone(super::ZONE);
    let install = scene.install_with(&json!({}), 3, 1, |config| {
        config["loadBalancer"] = json!("userManaged");
        config.as_object_mut().unwrap().remove("dns");
    });
    let made = install.ok(&["create", "cluster"]).stdout;
    assert!(made.contains("-master-2") && made.contains("-worker-0"), "{made}");
    let left = scene.left();
    assert_eq!(left.len(), 4, "four machines, and no address: {left:?}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.left(), Vec::<String>::new());
    assert_eq!(scene.server.zone(super::ZONE), zone, "records are the user's own matter too");
}
