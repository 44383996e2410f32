//! The API server or the platform is away for a while.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use landfall_testkit::ControlPlane;

use crate::{
    cluster::{Cluster, eventually},
    worlds::{Trouble, World},
};

/// A control plane of the test's own, kept by a thread that lives as long as the process.
async fn own_control_plane() -> Arc<Mutex<ControlPlane>> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _received = sender.send(Arc::new(Mutex::new(ControlPlane::start())));
        loop {
            std::thread::park();
        }
    });
    receiver.await.unwrap()
}

pub(crate) async fn an_api_server_that_restarts_is_followed_again<W: World>() {
    let control_plane = own_control_plane().await;
    let cluster = Cluster::<W>::on(Arc::clone(&control_plane)).await;
    let controllers = cluster.run();
    let set = cluster.set("worker", 2).await;
    cluster.settled(2).await;
    control_plane.lock().unwrap().stop_api_server();
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The new process is tied to a thread that stays.
    let restarted = Arc::clone(&control_plane);
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        restarted.lock().unwrap().start_api_server();
        let _received = sender.send(());
        loop {
            std::thread::park();
        }
    });
    receiver.await.unwrap();
    assert!(controllers.is_running());
    cluster.scale(&set, 4).await;
    cluster.settled(4).await;
    cluster.scale(&set, 0).await;
    cluster.settled(0).await;
    controllers.stop().await.unwrap();
    let mut plane = control_plane.lock().unwrap();
    plane.stop_api_server();
}

pub(crate) async fn a_platform_that_comes_back_is_met_gently<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let mut options = cluster.options();
    options.pace.operations = 3;
    let controllers = cluster.run_with(options);
    let set = cluster.set("worker", 2).await;
    cluster.settled(2).await;
    cluster.world.trouble(Trouble::Outage);
    cluster.scale(&set, 30).await;
    eventually("all are wanted", || async {
        let known = cluster.list().await.len();
        if known == 30 { Ok(()) } else { Err(format!("{known}")) }
    })
    .await;
    // The outage lasts many intervals. Meanwhile the platform is asked once per interval, and not once per machine: what was under way when
    // it began has ended by then.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (begun, before) = (std::time::Instant::now(), cluster.world.requests());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let asked = cluster.world.requests() - before;
    // A listing is a login and a list at most, of each server where there are several.
    let listings = begun.elapsed().as_millis() / 200 + 1;
    let most = 2 * u128::from(W::CALLS_PER_LISTING) * listings;
    assert!(u128::from(asked) <= most, "{asked} requests in {listings} intervals");
    let creations = cluster.world.creations();
    cluster.world.calm();
    cluster.settled(30).await;
    assert_eq!(cluster.world.creations() - creations, 28, "each was asked for once");
    assert!(cluster.list().await.iter().all(|machine| machine.status.as_ref().unwrap().error_reason.is_none()));
    controllers.stop().await.unwrap();
}

pub(crate) async fn at_rest_calls_do_not_grow_with_machines<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let set = cluster.set("worker", 1).await;
    let mut seen = Vec::new();
    for number in [1, 20] {
        cluster.scale(&set, number).await;
        cluster.settled(usize::try_from(number).unwrap()).await;
        eventually("all is quiet", || async {
            let before = cluster.world.requests();
            tokio::time::sleep(Duration::from_secs(1)).await;
            let after = cluster.world.requests();
            if after - before <= 8 * W::CALLS_PER_LISTING {
                Ok(())
            } else {
                Err(format!("{} requests in a second", after - before))
            }
        })
        .await;
        let (before, listings) = (cluster.world.requests(), listings(&controllers));
        tokio::time::sleep(Duration::from_secs(2)).await;
        let (requests, listings) = (cluster.world.requests() - before, self::listings(&controllers) - listings);
        assert!(
            listings > 0 && requests <= (listings + 1) * W::CALLS_PER_LISTING,
            "{number} machines: {requests} requests for {listings} listings"
        );
        seen.push((number, requests, listings));
    }
    controllers.stop().await.unwrap();
}

fn listings(running: &crate::cluster::Running) -> u64 {
    let text = running.metrics.text();
    let line = text.lines().find_map(|line| line.strip_prefix("landfall_machines_fleet_listings_total "));
    line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}
