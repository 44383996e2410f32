//! Cloudflare on its simulator, which Cloudflare's own client has judged (`conformance/dns`).

use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

use async_trait::async_trait;
use futures::future::join_all;
use landfall_dns::{Network, Probe, preflight};
use landfall_platform::{ErrorClass, Verdict};
use landfall_simulator::{cloudflare, core::Running};
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{Cluster, OneCluster, Run};

const ZONE: &str = "lab.example.test";
const TOKEN: &str = "cloudflare-token-that-may-edit";
const READ_TOKEN: &str = "cloudflare-token-that-may-read";

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: cloudflare::Options,
}

/// An account with one zone.
struct Account {
    simulator: Running<cloudflare::Cloudflare>,
    home: TempDir,
}

impl Account {
    async fn new(flags: &[&str]) -> Arc<Self> {
        let usual = ["sim", "--http", "--zone", ZONE, "--token", TOKEN, "--read-token", READ_TOKEN];
        let Flags { options } = <Flags as clap::Parser>::parse_from([&usual, flags].concat());
        let simulator = cloudflare::start(&options).await.unwrap();
        Arc::new(Self { simulator, home: tempfile::tempdir().unwrap() })
    }

    fn cluster(&self, name: &str, infra_id: &str, token: &str) -> Cluster {
        let file = self.home.path().join(token);
        std::fs::write(&file, token).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let endpoint = format!("{}/client/v4", self.simulator.url());
        let service = json!({"cloudflare": {"zone": ZONE, "tokenFile": file, "endpoint": endpoint}});
        Cluster::new(name, infra_id, ZONE, &service, Network { resolvers: Vec::new(), port: 53 })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = self.simulator.world().view(|account, _| account.zone_lines());
        lines.sort();
        lines
    }
}

/// An account whose calls fail as the flags say.
struct OnSimulator(&'static [&'static str]);

#[async_trait]
impl Fixture for OnSimulator {
    async fn world(&self) -> Box<dyn World> {
        let account = Account::new(self.0).await;
        let cluster = account.cluster("demo", "demo-x7k2p", TOKEN).with_etcd(2);
        Box::new(OneCluster { cluster, inventory: move || account.lines() })
    }
}

#[tokio::test]
async fn the_suites_hold_at_cloudflare() {
    // Well, and with replies that are lost and calls that are throttled.
    let trouble: &[&str] = &[
        "--fault",
        "POST /client/v4/zones/*/dns_records probability=0.25 lost-reply",
        "--fault",
        "DELETE /client/v4/zones/*/dns_records/* probability=0.25 lost-reply",
        "--fault",
        "GET /client/v4/* probability=0.1 status=429 body=platform",
    ];
    for flags in [&[], trouble] {
        let fixture = OnSimulator(flags);
        repeat_every_step(&fixture).await;
        fail_at_every_step(&fixture).await;
        kill_at_every_step(&fixture).await;
        kill_every_removal(&fixture).await;
    }
}

#[tokio::test]
async fn clusters_do_not_meet_and_what_is_made_is_not_proxied() {
    let account = Account::new(&[]).await;
    let clusters = ["a", "ba"].map(|name| account.cluster(name, &format!("{name}-bcdfg"), TOKEN));
    let runs = [Run::new(), Run::new()];
    for applied in join_all(clusters.iter().zip(&runs).map(|(cluster, run)| cluster.apply(run))).await {
        applied.unwrap();
    }
    let lines = account.lines();
    assert_eq!(lines.len(), 16, "{lines:?}");
    assert!(lines.contains(&"*.apps.a.lab.example.test 300 A 192.0.2.6".to_owned()), "{lines:?}");
    clusters[0].destroy(&Run::new()).await.unwrap();
    let left = account.lines();
    assert!(left.len() == 8 && left.iter().all(|line| line.contains(".ba.lab.example.test ")), "{left:?}");
    clusters[1].destroy(&runs[1]).await.unwrap();
    assert_eq!(account.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn services_are_made_changed_and_removed() {
    let account = Account::new(&[]).await;
    let cluster = |id: &str, members| account.cluster("demo", id, TOKEN).with_etcd(members);
    let made = || account.lines().into_iter().filter(|line| line.contains("_etcd-server-ssl")).collect::<Vec<_>>();
    cluster("demo-x7k2p", 2).apply(&Run::new()).await.unwrap();
    insta::assert_snapshot!(made().join("\n"), @r#"
    _etcd-server-ssl._tcp.demo.lab.example.test 300 SRV 0 10 2380 etcd-0.demo.lab.example.test
    _etcd-server-ssl._tcp.demo.lab.example.test 300 SRV 0 10 2380 etcd-1.demo.lab.example.test
    _landfall._etcd-server-ssl._tcp.demo.lab.example.test 300 TXT "heritage=landfall,owner=demo-x7k2p,records=SRV"
    "#);
    let stranger = cluster("demo-other", 2).refusal_text().await;
    assert!(stranger.contains("belongs to the cluster demo-x7k2p"), "{stranger}");
    cluster("demo-x7k2p", 1).apply(&Run::new()).await.unwrap();
    assert_eq!(made().len(), 2, "{:?}", made());
    cluster("demo-x7k2p", 1).destroy(&Run::new()).await.unwrap();
    assert_eq!(account.lines(), Vec::<String>::new());
}

/// Two that reach for one name at the same moment: never both, and nothing is left of the one that was slower.
#[tokio::test]
async fn the_older_of_two_marks_has_the_name() {
    for _ in 0..5 {
        let account = Account::new(&[]).await;
        let clusters = ["demo-first", "demo-other"].map(|id| account.cluster("demo", id, TOKEN));
        let runs = [Run::new(), Run::new()];
        let results = join_all(clusters.iter().zip(&runs).map(|(cluster, run)| cluster.apply(run))).await;
        assert!(results.iter().any(Result::is_err));
        let lines = account.lines();
        for name in ["_landfall.api.demo.", "_landfall.api-int.demo.", "api.demo.lab.example.test 300 A "] {
            assert!(lines.iter().filter(|line| line.starts_with(name)).count() <= 1, "{lines:?}");
        }
        for (cluster, run) in clusters.iter().zip(&runs) {
            cluster.destroy(run).await.unwrap();
        }
        assert_eq!(account.lines(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn tokens_that_may_not_write_are_found_before_anything_is_made() {
    let account = Account::new(&[]).await;
    let look = async |cluster: &Cluster| {
        preflight(&cluster.dns_binder(), &cluster.config, &cluster.service, Probe::Write).await
    };
    let findings = look(&account.cluster("demo", "demo-x7k2p", TOKEN)).await;
    assert!(findings.iter().all(|finding| finding.verdict != Verdict::Problem), "{findings:#?}");
    assert_eq!(account.lines(), Vec::<String>::new());
    for (token, text) in [(READ_TOKEN, "10000: Authentication error"), ("guessed", "9109: Invalid access token")] {
        let cluster = account.cluster("demo", "demo-x7k2p", token);
        let findings = look(&cluster).await;
        let problem = findings.iter().find(|finding| finding.verdict == Verdict::Problem);
        assert!(problem.is_some_and(|problem| problem.message.contains(text)), "{findings:#?}");
        let refused = cluster.refusal().await;
        assert_eq!(refused.class(), ErrorClass::Auth);
        assert!(!refused.to_string().contains(token), "{refused}");
    }
}
