//! Power buttons, reboots, restarts of the simulator, and guests that misbehave.

use std::time::Duration;

use landfall_simulator::core::guest::{GuestCommand, GuestEvent, GuestRuntime};
use landfall_simulator::guests::{GuestEffect, GuestFault, LightGuests};
use serde_json::Value;

use crate::client::Client;
use crate::cluster::Assets;
use crate::install::install;
use crate::network::Network;
use crate::rig::{Rig, options, until};

fn boots(rig: &mut Rig, name: &str) -> usize {
    rig.events().iter().filter(|event| **event == GuestEvent::Booted { id: name.to_owned() }).count()
}

async fn until_ready(admin: &Client, rig: &Rig, count: usize) {
    until("all nodes", async || {
        let ready = admin.ready_nodes().await?;
        let console = || rig.control.console("demo-x7k2p-master-0");
        if ready.len() == count { Ok(()) } else { Err(format!("{ready:?}, {:#?}", console())) }
    })
    .await;
}

#[tokio::test]
async fn only_a_system_that_is_up_hears_the_power_button() {
    let network = Network::claim();
    let mut rig = Rig::new(&network);
    rig.start_with("up", None);
    rig.until_booted("up").await;
    rig.start("stuck", "{");
    rig.until_printed("stuck", "emergency shell").await;
    for name in ["up", "stuck"] {
        rig.command(GuestCommand::Shutdown { id: name.to_owned() });
    }
    rig.pass(Duration::from_mins(10));
    let off = |name: &str| GuestEvent::PoweredOff { id: name.to_owned() };
    assert!(rig.events().contains(&off("up")));
    assert!(!rig.events().contains(&off("stuck")));
    rig.stop("stuck");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_keep_their_disks_over_a_power_cut() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 1).await;
    until_ready(&admin, &rig, 4).await;
    let (_, before) = admin.get("/api/v1/nodes/demo-x7k2p-worker-0").await.unwrap();

    let names = ["demo-x7k2p-master-0", "demo-x7k2p-master-1", "demo-x7k2p-master-2", "demo-x7k2p-worker-0"];
    rig.stop("bootstrap");
    for name in names {
        rig.stop(name);
    }
    until("silence", async || match admin.get("/readyz").await {
        Err(_) => Ok(()),
        Ok(answer) => Err(format!("{answer:?}")),
    })
    .await;
    // The platform hands over user data at the first start only.
    for name in names {
        rig.start_with(name, None);
    }
    // For a while the cluster believes that the nodes of before are still there.
    let after = until("the worker's next boot", async || {
        let (_, after) = admin.get("/api/v1/nodes/demo-x7k2p-worker-0").await?;
        let boot = |node: &Value| node["status"]["nodeInfo"]["bootID"].clone();
        if boot(&before) == boot(&after) { Err(after["status"].to_string()) } else { Ok(after) }
    })
    .await;
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    until_ready(&admin, &rig, 4).await;

    rig.command(GuestCommand::Reboot { id: names[3].to_owned() });
    rig.pass(Duration::from_secs(5));
    assert!(rig.events().contains(&GuestEvent::Rebooting { id: names[3].to_owned() }));
    rig.pass(Duration::from_secs(20));
    until("the third boot", async || match boots(&mut rig, names[3]) {
        3 => Ok(()),
        other => Err(format!("{other} boots")),
    })
    .await;
    until_ready(&admin, &rig, 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_simulator_that_restarts_has_its_cluster_again() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 1).await;
    until_ready(&admin, &rig, 4).await;
    let saved = rig.guests.snapshot();
    drop(rig);
    until("silence", async || match admin.get("/readyz").await {
        Err(_) => Ok(()),
        Ok(answer) => Err(format!("{answer:?}")),
    })
    .await;

    let mut guests = LightGuests::new(&options(&network));
    guests.restore(serde_json::from_str(&saved.to_string()).unwrap()).unwrap();
    let mut rig = Rig::over(guests);
    rig.pass(Duration::from_secs(20));
    until_ready(&admin, &rig, 4).await;
    let (status, map) = admin.get("/api/v1/namespaces/kube-system/configmaps/bootstrap").await.unwrap();
    assert_eq!((status, &map["data"]["status"]), (200, &"complete".into()));
}

#[tokio::test]
async fn guests_misbehave_as_told() {
    let network = Network::claim();
    let mut rig = Rig::new(&network);
    let fault = |name: &str, effect| GuestFault { name: name.to_owned(), effect };
    rig.control.set_faults(vec![
        fault("dead", GuestEffect::NeverBoots),
        fault("mute", GuestEffect::SilentAgent),
        fault("lazy", GuestEffect::Slow(3.0)),
    ]);
    for name in ["dead", "mute", "lazy", "good"] {
        rig.start_with(name, None);
    }
    rig.until_booted("good").await;
    rig.until_printed("dead", "finds nothing that boots").await;
    rig.until_printed("mute", "the guest agent is silent").await;
    assert!(rig.control.console("lazy").is_empty(), "its firmware takes a minute");
    rig.pass(Duration::from_mins(1));
    rig.until_booted("lazy").await;
    assert!(!rig.has_booted("dead") && !rig.has_booted("mute"));
}
