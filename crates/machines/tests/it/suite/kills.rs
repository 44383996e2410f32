//! Crashes at random points.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use landfall_testkit::tier;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{cluster::Cluster, worlds::World};

/// Controllers are killed again and again while a set grows and shrinks. At the end objects and platform agree: no orphan, no double.
pub(crate) async fn crashes_at_many_moments<W: World>() {
    let first = Cluster::<W>::new().await;
    let (control_plane, world) = (Arc::clone(&first.control_plane), Arc::clone(&first.world));
    stream::iter(0..tier::choose(6, 100))
        .map(|seed| {
            let (control_plane, world) = (Arc::clone(&control_plane), Arc::clone(&world));
            async move { one::<W>(&Cluster::beside(control_plane, world).await, seed).await }
        })
        .buffer_unordered(4)
        .collect::<Vec<()>>()
        .await;
}

async fn one<W: World>(cluster: &Cluster<W>, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let set = cluster.set("worker", 3).await;
    let mut controllers = cluster.run();
    for replicas in [3, 1, 2] {
        cluster.scale(&set, replicas).await;
        tokio::time::sleep(Duration::from_millis(random.random_range(0..400))).await;
        controllers.kill().await;
        controllers = cluster.run();
    }
    cluster.settled(2).await;
    // Every disk belongs to one of them.
    let machines = cluster.world.instances(&cluster.infra_id).await;
    let left = cluster.world.leftovers(&cluster.infra_id).await;
    for thing in &left {
        assert!(
            machines.iter().any(|machine| thing.starts_with(machine.as_str())),
            "seed {seed}: {thing} is nobody's; {machines:?}"
        );
    }
    cluster.scale(&set, 0).await;
    tokio::time::sleep(Duration::from_millis(random.random_range(0..200))).await;
    controllers.kill().await;
    let controllers = cluster.run();
    cluster.settled(0).await;
    cluster.nothing_left().await;
    controllers.kill().await;
}
