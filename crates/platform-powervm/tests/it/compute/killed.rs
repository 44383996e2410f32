//! A program that is killed, by the kernel, at any instant; and the next one, which goes on with what it finds.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use landfall_platform_powervm::Client;
use landfall_platform_powervm::client::{ConsoleUrl, Login};
use landfall_platform_powervm::compute::{Host, Run, destroy, spawn};
use landfall_wire::{Limits, Trust};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

use super::inventory;
use super::stage::{Stage, blueprint, id, run};
use crate::scene::JOBS;

const NAMES: [&str; 3] = ["node-0", "node-1", "node-2"];
const KILLS: usize = 10;

/// The program: it makes three partitions at once, or removes them. What it needs to know is in its environment.
#[tokio::test]
#[ignore = "the other test of this file starts it, in a process of its own"]
async fn program() {
    let Ok(url) = std::env::var("KILLED_URL") else { return };
    let home = std::path::PathBuf::from(std::env::var("KILLED_HOME").unwrap());
    let login = Login::Password { user: "admin".to_owned(), password: "landfall".into() };
    let trust = std::env::var("KILLED_CA").map_or(Trust::System, Trust::Only);
    let client = Client::new(ConsoleUrl::parse(&url).unwrap(), &trust, Limits::default(), login).unwrap();
    let host = Arc::new(Host::connect(Arc::new(client), None, JOBS).await.unwrap());
    let removes = std::env::var("KILLED_VERB").unwrap() == "destroy";
    try_join_all(NAMES.map(|name| {
        let (host, blueprint) = (Arc::clone(&host), blueprint(&home, name));
        let run = Run { journal: Some(home.join(format!("{name}.sqlite"))), ..run() };
        async move {
            if removes { destroy(&host, &id(name), &run).await } else { spawn(&host, &blueprint, &run).await }
        }
    }))
    .await
    .unwrap();
}

/// Starts the program.
fn start(stage: &Stage, verb: &str) -> Child {
    let authority = stage.scene.hosts.ca_pem().map(|pem| ("KILLED_CA", pem));
    Command::new(std::env::current_exe().unwrap())
        .envs(authority)
        .args(["--exact", "compute::killed::program", "--ignored", "--nocapture"])
        .env("KILLED_URL", stage.scene.hosts.url())
        .env("KILLED_HOME", stage.scene.home.path())
        .env("KILLED_VERB", verb)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets the program run to its end; how long that took.
async fn finish(stage: &Stage, verb: &str) -> Duration {
    let began = Instant::now();
    let mut child = start(stage, verb);
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert!(status.success(), "{verb}: {status}");
    began.elapsed()
}

/// Kills the program at random instants, then lets it finish.
async fn kill_often(stage: &Stage, verb: &str, takes: Duration, random: &mut StdRng) {
    for _ in 0..KILLS {
        let mut child = start(stage, verb);
        tokio::time::sleep(takes.mul_f64(random.random_range(0.0..1.0))).await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    finish(stage, verb).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_killed_at_any_instant_can_be_finished() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let takes = finish(&stage, "spawn").await;
    let made = inventory::list(&stage.scene.hosts);
    let removal = finish(&stage, "destroy").await;
    assert_eq!(before, inventory::list(&stage.scene.hosts));

    kill_often(&stage, "spawn", takes, &mut random).await;
    assert_eq!(made, inventory::list(&stage.scene.hosts));
    kill_often(&stage, "destroy", removal, &mut random).await;
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
