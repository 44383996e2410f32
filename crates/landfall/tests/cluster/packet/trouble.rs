//! What a platform of real servers does to whole installations.

use serde_json::{Value, json};

use super::{Install, Scene};

/// One line for each device: name, plan, metro.
fn devices(scene: &Scene) -> Vec<String> {
    let state = scene.state();
    let here = state["devices"].as_array().unwrap().iter().filter(|device| device["state"] != "deprovisioning");
    let text = |device: &Value, field: &str| device[field].as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = here
        .map(|device| {
            let name = text(device, "hostname");
            let name = name.splitn(3, '-').last().unwrap_or_default().to_owned();
            format!("{name} {} {}", text(device, "plan"), text(device, "metro"))
        })
        .collect();
    lines.sort();
    lines
}

/// Changes the price on the spot market, as somebody who administers the simulator does.
fn set_price(scene: &Scene, price: f64) {
    scene.administer("POST", "packet/spot-price", &json!({"location": "da", "plan": "c3.small.x86", "price": price}));
}

fn refused(scene: &Scene, install: &Install, told: &[&str]) {
    let run = install.run(&["create", "cluster"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    for part in told {
        assert!(run.stderr.contains(part), "{part} is not in: {}", run.stderr);
    }
    assert_eq!(scene.left(), Vec::<String>::new(), "nothing is made");
}

#[test]
fn servers_of_the_next_metro_are_taken_where_the_first_has_none() {
    // One less than must stand together: the bootstrap machine, the masters, and the worker that the ingress' address leads to.
    let scene = Scene::new(&["--capacity", "da/c3.small.x86=4"]);
    let section = json!({"metros": ["da", "sv"], "defaultMachinePlatform": {"plans": ["c3.small.x86"]}});
    let install = scene.install(&section, 3, 2);
    install.ok(&["create", "cluster"]);
    let made = devices(&scene);
    assert!(made.len() == 5 && made.iter().all(|line| line.ends_with(" c3.small.x86 sv")), "{made:?}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn too_little_reserved_hardware_is_told_before_anything_is_made() {
    let scene = Scene::new(&["--hardware-reservation", "c3.small.x86@da"]);
    let install = scene.install_with(&json!({}), 1, 2, |config| {
        config["compute"][0]["platform"] = json!({"packet": {"hardwareReservations": ["next-available"]}});
    });
    refused(&scene, &install, &["1 of 2 reserved servers are free", "reserve more"]);
}

#[test]
fn reserved_hardware_is_used_and_comes_back() {
    let reserved = ["--hardware-reservation", "c3.small.x86@da", "--hardware-reservation", "c3.small.x86@da"];
    let scene = Scene::new(&reserved);
    let install = scene.install_with(&json!({}), 1, 2, |config| {
        config["compute"][0]["platform"] = json!({"packet": {"hardwareReservations": ["next-available"]}});
    });
    install.ok(&["create", "cluster"]);
    let free = || {
        let state = scene.state();
        state["reservations"].as_array().unwrap().iter().filter(|own| own["device"].is_null()).count()
    };
    assert_eq!(free(), 0);
    install.ok(&["destroy", "cluster"]);
    assert_eq!(free(), 2);
}

#[test]
fn a_spot_worker_that_was_taken_away_is_made_again() {
    // The worker boots too slowly for the first run, which gives up waiting for it.
    let scene = Scene::new(&["--guest-fault", "worker slow=1000"]);
    let install = scene.install_with(&json!({}), 1, 1, |config| {
        config["compute"][0]["platform"] =
            json!({"packet": {"plans": ["c3.small.x86"], "spot": {"maxPriceCents": 20}}});
        config["timeouts"] = json!({"install": "10s"});
    });
    let run = install.run(&["create", "cluster"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    let before = devices(&scene);
    assert_eq!(before, ["master-0 c3.small.x86 da", "worker-0 c3.small.x86 da"]);
    set_price(&scene, 0.5);
    scene.eventually("the worker is taken away", || devices(&scene).len() == 1);
    set_price(&scene, 0.1);
    scene.administer("PUT", "guests/faults", &json!([]));
    install.context.replace("install-config.yaml", "install: 10s", "install: 10m");
    let run = install.ok(&["create", "cluster"]);
    assert!(run.stderr.contains("vm/worker-0 is gone and is made again"), "{}", run.stderr);
    assert_eq!(devices(&scene), before);
    let state = scene.state();
    let ingress =
        state["blocks"].as_array().unwrap().iter().find(|block| block["tags"].to_string().contains("name:ingress"));
    assert_eq!(ingress.unwrap()["assignments"].as_array().unwrap().len(), 1, "the ingress' address leads to it again");
    install.ok(&["destroy", "cluster"]);
}

#[test]
fn a_key_without_rights_makes_nothing() {
    let scene = Scene::new(&["--read-only-key", "only-reads"]);
    let mut install = scene.install(&json!({}), 1, 0);
    install.variables.push(("METAL_AUTH_TOKEN", "only-reads".to_owned()));
    refused(&scene, &install, &["the API key may only read", "METAL_AUTH_TOKEN"]);
    install.variables.push(("METAL_AUTH_TOKEN", "nobody".to_owned()));
    refused(&scene, &install, &["status 401: Invalid authentication token", "METAL_AUTH_TOKEN"]);
}

#[test]
fn a_project_that_is_not_there_is_told() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({"project": "0b4c8b1e-9f3d-4c58-8d1e-1f2e3d4c5b6a"}), 1, 0);
    refused(&scene, &install, &["does not exist, or this API key may not see it"]);
}
