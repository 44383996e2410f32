//! Partitions that others switch on and off.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform_powervm::compute::{Blueprint, PowerNews, spawn, watch_power};
use landfall_simulator::core::faults::FaultPlan;
use landfall_wire::{Limits, Method, Request, Trust};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::AbortHandle;

use super::stage::{Stage, bare, id, run};
use crate::scene::{JOBS, spec};

const READ: &str = "GET /rest/api/uom/Event";
/// Much longer than two calls take.
const SETTLE: Duration = Duration::from_secs(2);

/// What is heard of the partitions of a host.
struct Watch {
    news: UnboundedReceiver<PowerNews>,
    task: AbortHandle,
}

impl Watch {
    /// Begins to watch. What happens from then on is heard.
    async fn begin(stage: &Stage, settle: Duration) -> Self {
        let (sender, news) = unbounded_channel();
        let host = Arc::clone(&stage.host);
        let task = tokio::spawn(async move {
            watch_power(&host, settle, |news| drop(sender.send(news))).await;
        });
        reads(stage, 2).await;
        Self { news, task: task.abort_handle() }
    }

    async fn next(&mut self) -> PowerNews {
        let news = tokio::time::timeout(Duration::from_mins(1), self.news.recv()).await;
        news.expect("nothing is heard").expect("nobody listens any more")
    }

    /// The next thing that is heard, which is about a partition.
    async fn settled(&mut self) -> (String, String) {
        match self.next().await {
            PowerNews::Settled { id, state, mark } => {
                assert_eq!(mark, "demo-x7k2p");
                (id.to_string(), state)
            }
            news => panic!("{news:?}"),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for so many more reads of events.
async fn reads(stage: &Stage, count: u64) {
    let wanted = stage.scene.count(READ) + count;
    let waits = async {
        while stage.scene.count(READ) < wanted {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), waits).await.expect("nobody reads events");
}

async fn stage() -> Stage {
    let stage = Stage::new().await;
    spawn(&stage.host, &Blueprint { power_on: true, ..bare("node-0") }, &run()).await.unwrap();
    stage
}

#[tokio::test]
async fn what_others_do_is_told_when_it_has_settled() {
    let stage = stage().await;
    let mut watch = Watch::begin(&stage, SETTLE).await;
    let (somebody, node) = (stage.scene.client(), id("node-0").to_string());
    // A partition that has no mark is nobody's.
    let system = somebody.systems().await.unwrap().remove(0);
    let stranger = somebody.create_partition(&system.id, &spec("stranger")).await.unwrap();
    somebody.power_on(&stranger.id, JOBS).await.unwrap();
    somebody.power_off(&node, JOBS).await.unwrap();
    assert_eq!(watch.settled().await, (node.clone(), "not activated".to_owned()));
    somebody.power_on(&node, JOBS).await.unwrap();
    assert_eq!(watch.settled().await, (node.clone(), "running".to_owned()));
    // It is off for a moment, which nobody hears of.
    stage.force("node-0", serde_json::json!({"PartitionState": "not activated"})).await;
    stage.force("node-0", serde_json::json!({"PartitionState": "running"})).await;
    assert_eq!(watch.settled().await, (node, "running".to_owned()));
}

#[tokio::test]
async fn a_partition_that_cannot_be_looked_at_is_looked_at_again() {
    let stage = stage().await;
    let mut watch = Watch::begin(&stage, Duration::ZERO).await;
    stage.scene.fault("GET /rest/api/uom/LogicalPartition/* first=1 status=503");
    stage.force("node-0", serde_json::json!({"PartitionState": "not activated"})).await;
    assert_eq!(watch.settled().await, (id("node-0").to_string(), "not activated".to_owned()));
}

#[tokio::test]
async fn a_queue_that_is_lost_is_begun_anew_and_that_is_told_once() {
    let stage = stage().await;
    let mut watch = Watch::begin(&stage, Duration::ZERO).await;
    stage.scene.fault("GET /rest/api/uom/Event first=2 status=500");
    assert!(matches!(watch.next().await, PowerNews::Deaf(_)));
    assert!(matches!(watch.next().await, PowerNews::Heard));
    stage.scene.hosts.with_faults(FaultPlan::clear);
    stage.force("node-0", serde_json::json!({"PartitionState": "not activated"})).await;
    assert_eq!(watch.settled().await.1, "not activated");
    // A session that is over is begun anew, and the queue goes on.
    stage.scene.fault("GET /rest/api/uom/Event first=1 token-expired");
    reads(&stage, 3).await;
    stage.force("node-0", serde_json::json!({"PartitionState": "running"})).await;
    assert_eq!(watch.settled().await.1, "running");
    // So it does at a console that has forgotten it.
    let http = landfall_wire::Client::new(&Trust::System, Limits::default()).unwrap();
    let url = format!("{}/powervm/hosts/0/events", stage.scene.hosts.admin_url());
    let reply = http.send(Request::bare(Method::DELETE, url.parse().unwrap())).await.unwrap();
    assert_eq!(reply.status(), 200);
    assert!(matches!(watch.next().await, PowerNews::Gap));
    stage.force("node-0", serde_json::json!({"PartitionState": "not activated"})).await;
    assert_eq!(watch.settled().await.1, "not activated");
}
