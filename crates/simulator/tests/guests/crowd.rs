//! Many machines at once.

use crate::cluster::Assets;
use crate::install::install;
use crate::network::Network;
use crate::rig::{Rig, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_workers_at_once() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 500).await;
    until("all nodes", async || {
        let ready = admin.ready_nodes().await?.len();
        if ready == 503 { Ok(()) } else { Err(format!("{ready} are ready")) }
    })
    .await;
}
