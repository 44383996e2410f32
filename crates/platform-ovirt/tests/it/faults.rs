//! Faults at every single call of an installation and of a removal: one kind at each, in the tier `full` every kind.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use landfall_platform::error_chain;
use landfall_testkit::tier;

use crate::scene::{Cluster, PASSWORD, Scene, config, config_with_image};

/// What goes wrong: an internal error as a page and as a fault, an engine that restarts, one that is busy, a connection that
/// breaks before the request arrives, while it is answered, and in the middle of the answer, an expired session, a lock.
const KINDS: [&str; 9] = [
    "status=500",
    "status=500 body=platform",
    "status=503",
    "throttle=0s",
    "reset",
    "lost-reply",
    "truncate",
    "token-expired",
    "status=409 body=platform",
];
/// Returns the trials for a number of calls: at each call one kind of fault, in turn; in the tier `full` every kind.
fn trials(calls: u64) -> impl Iterator<Item = (&'static str, u64)> {
    let is_chosen = |index: usize, call: u64| tier::is_full() || index as u64 == call % KINDS.len() as u64;
    (1..=calls).flat_map(move |call| {
        let chosen = KINDS.into_iter().enumerate().filter(move |(index, _)| is_chosen(*index, call));
        chosen.map(move |(_, kind)| (kind, call))
    })
}

/// Engines at once.
const AT_ONCE: usize = 6;

/// What is installed.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// A cluster from a template that exists.
    Template,
    /// A template from an image, and nothing else.
    Image,
}

async fn cluster(start: Start) -> Cluster {
    let scene = Scene::new().await;
    match start {
        Start::Template => scene.cluster("demo-x7k2p", config(1, 0)),
        Start::Image => {
            let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
            Cluster { only: Some("template".into()), ..cluster }
        }
    }
}

fn calls(cluster: &Cluster) -> u64 {
    cluster.scene.engine.request_counts().values().sum()
}

/// A trial: the fault came at that call, and the installation is what it would have been without.
async fn install_with_fault(start: Start, kind: &str, call: u64, expected: &[String]) -> bool {
    let cluster = cluster(start).await;
    let rule = cluster.scene.fault(&format!("* * nth={call} {kind}"));
    let result = cluster.install().await;
    let fired = cluster.scene.engine.with_faults(|plan| plan.rule(rule).unwrap().fired) > 0;
    if let Err(error) = result {
        panic!("{start:?}: {kind} at call {call}: {}", error_chain(&error));
    }
    assert_eq!(cluster.list(), expected, "{start:?}: {kind} at call {call}");
    fired
}

async fn every_call(start: Start) {
    let undisturbed = cluster(start).await;
    undisturbed.install().await.unwrap();
    let (calls, expected) = (calls(&undisturbed), Arc::new(undisturbed.list()));
    let fired: Vec<bool> = stream::iter(trials(calls))
        .map(|(kind, call)| {
            let expected = Arc::clone(&expected);
            async move { install_with_fault(start, kind, call, &expected).await }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    // A run may take fewer calls than the first, because looks at things under way are not counted out beforehand.
    let hits = fired.iter().filter(|fired| **fired).count();
    assert!(hits * 10 >= fired.len() * 7, "only {hits} of {} faults came about", fired.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_from_a_template_survives_any_fault_at_any_call() {
    every_call(Start::Template).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_making_of_a_template_survives_any_fault_at_any_call() {
    every_call(Start::Image).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removal_survives_any_fault_at_any_call() {
    let undisturbed = cluster(Start::Template).await;
    undisturbed.install().await.unwrap();
    let before = calls(&undisturbed);
    undisturbed.destroy().await.unwrap();
    stream::iter(trials(calls(&undisturbed) - before))
        .for_each_concurrent(AT_ONCE, async |(kind, call)| {
            let cluster = cluster(Start::Template).await;
            let empty = cluster.list();
            cluster.install().await.unwrap();
            cluster.scene.fault(&format!("* * nth={call} {kind}"));
            if let Err(error) = cluster.destroy().await {
                panic!("{kind} at call {call}: {}", error_chain(&error));
            }
            assert_eq!(cluster.list(), empty, "{kind} at call {call}");
        })
        .await;
}

/// The process dies when so many calls have arrived at the engine; another one goes on.
async fn dies_at(cluster: &Cluster, call: u64, work: impl Future<Output = ()>) {
    let before = calls(cluster);
    let reached = async {
        while calls(cluster) < before + call {
            tokio::time::sleep(Duration::from_micros(300)).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = reached => {}
    }
}

async fn resumed_after_any_call(start: Start) {
    let undisturbed = cluster(start).await;
    undisturbed.install().await.unwrap();
    let expected = undisturbed.list();
    stream::iter(1..=calls(&undisturbed))
        .for_each_concurrent(AT_ONCE, async |call| {
            let mut cluster = cluster(start).await;
            dies_at(&cluster, call, async { cluster.install().await.unwrap() }).await;
            cluster.client = cluster.scene.client(PASSWORD);
            if let Err(error) = cluster.install().await {
                panic!("{start:?} died at call {call}: {}", error_chain(&error));
            }
            assert_eq!(cluster.list(), expected, "{start:?} died at call {call}");
        })
        .await;
}

async fn removed_after_any_call(start: Start) {
    let undisturbed = cluster(start).await;
    undisturbed.install().await.unwrap();
    stream::iter(1..=calls(&undisturbed))
        .for_each_concurrent(AT_ONCE, async |call| {
            let mut cluster = cluster(start).await;
            let empty = cluster.list();
            dies_at(&cluster, call, async { cluster.install().await.unwrap() }).await;
            cluster.client = cluster.scene.client(PASSWORD);
            dies_at(&cluster, call / 3, async { cluster.destroy_without_files().await.unwrap() }).await;
            if let Err(error) = cluster.destroy_without_files().await {
                panic!("{start:?} died at call {call}: {}", error_chain(&error));
            }
            assert_eq!(cluster.list(), empty, "{start:?} died at call {call}");
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_that_died_at_any_call_is_resumed() {
    resumed_after_any_call(Start::Template).await;
    resumed_after_any_call(Start::Image).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_died_at_any_call_can_be_removed_by_the_infra_id_alone() {
    removed_after_any_call(Start::Template).await;
    removed_after_any_call(Start::Image).await;
}
