//! Internet Services and DNS Services on the simulator of IBM Cloud.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_dns::{Network, Probe, preflight};
use landfall_platform::{Environment, Verdict};
use landfall_simulator::{
    core::{Running, Simulation as _},
    powervs,
};
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, repeat_every_step};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Cluster, OneCluster, Run};

const ZONE: &str = "lab.example.test";

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

/// An account with one zone in each service.
struct Account {
    simulator: Running<powervs::Cloud>,
    home: TempDir,
}

impl Account {
    async fn new(flags: &[&str]) -> Arc<Self> {
        let usual = ["sim", "--http", "--guests", "plain", "--dns-zone", ZONE];
        let Flags { options } = <Flags as clap::Parser>::parse_from([&usual, flags].concat());
        let simulator = powervs::start(&options).await.unwrap();
        Arc::new(Self { simulator, home: tempfile::tempdir().unwrap() })
    }

    fn cluster(&self, service: &str, name: &str, infra_id: &str) -> Cluster {
        let ready = self.simulator.ready();
        let known = ["CIS", "DNSServices", "IAM", "ResourceController"];
        let endpoints: Vec<Value> =
            known.iter().map(|name| json!({"name": name, "url": ready["services"][*name]})).collect();
        let section = json!({service: {"zone": ZONE, "serviceEndpoints": endpoints}});
        let cluster = Cluster::new(name, infra_id, ZONE, &section, Network { resolvers: Vec::new(), port: 53 });
        let file = self.home.path().join("config.json");
        std::fs::write(&file, json!({"apikey": ready["api_key"]}).to_string()).unwrap();
        let environment: Environment = [("POWERVS_AUTH_FILEPATH", file.to_str().unwrap())].into_iter().collect();
        Cluster { environment, ..cluster }
    }

    /// All records of both services.
    fn lines(&self) -> Vec<String> {
        let state = self.simulator.world().view(|simulation, _| simulation.snapshot());
        let all = |kind: &str| state[kind].as_object().cloned().unwrap_or_default();
        let records = all("public_records").into_iter().chain(all("private_records"));
        let mut lines: Vec<String> = records
            .map(|(_, record)| {
                format!("{} {} {} {}", record["name"], record["type"], record["content"], record["rdata"])
            })
            .collect();
        lines.sort();
        lines
    }
}

struct OnSimulator(&'static str, &'static [&'static str]);

#[async_trait]
impl Fixture for OnSimulator {
    async fn world(&self) -> Box<dyn World> {
        let account = Account::new(self.1).await;
        let cluster = account.cluster(self.0, "demo", "demo-x7k2p").with_etcd(2);
        Box::new(OneCluster { cluster, inventory: move || account.lines() })
    }
}

#[tokio::test]
async fn the_suites_hold_at_both_services() {
    let trouble: &[&str] = &[
        "--fault",
        "POST,DELETE /cis/* probability=0.25 lost-reply",
        "--fault",
        "GET /cis/* probability=0.1 status=429 body=platform",
    ];
    for (service, flags) in [("cis", &[] as &[&str]), ("cis", trouble), ("dnsServices", &[])] {
        let fixture = OnSimulator(service, flags);
        repeat_every_step(&fixture).await;
        fail_at_every_step(&fixture).await;
        kill_at_every_step(&fixture).await;
    }
}

#[tokio::test]
async fn clusters_do_not_meet() {
    for service in ["cis", "dnsServices"] {
        let account = Account::new(&[]).await;
        let before = account.lines();
        let clusters = ["a", "ba"].map(|name| account.cluster(service, name, &format!("{name}-bcdfg")));
        let runs = [Run::new(), Run::new()];
        clusters[1].apply(&runs[1]).await.unwrap();
        let others = account.lines();
        clusters[0].apply(&runs[0]).await.unwrap();
        assert_ne!(account.lines(), others);
        clusters[0].destroy(&Run::new()).await.unwrap();
        assert_eq!(account.lines(), others, "{service}");
        clusters[1].destroy(&runs[1]).await.unwrap();
        assert_eq!(account.lines(), before, "{service}");
    }
}

#[tokio::test]
async fn services_are_made_changed_and_removed() {
    let said = [
        ("cis", r#""_etcd-server-ssl._tcp.demo.lab.example.test" "SRV" "0 10 2380 etcd-0.demo.lab.example.test" null"#),
        (
            "dnsServices",
            r#""_etcd-server-ssl._tcp.demo.lab.example.test" "SRV" null {"priority":0,"weight":10,"port":2380,"target":"etcd-0.demo.lab.example.test"}"#,
        ),
    ];
    for (service, first) in said {
        let account = Account::new(&[]).await;
        let before = account.lines();
        let cluster = |members| account.cluster(service, "demo", "demo-x7k2p").with_etcd(members);
        let made = || account.lines().into_iter().filter(|line| line.contains("\"SRV\"")).collect::<Vec<_>>();
        cluster(2).apply(&Run::new()).await.unwrap();
        assert!(made().len() == 2 && made()[0] == first, "{service}: {:#?}", made());
        cluster(1).apply(&Run::new()).await.unwrap();
        assert_eq!(made(), [first]);
        cluster(1).destroy(&Run::new()).await.unwrap();
        assert_eq!(account.lines(), before, "{service}");
    }
}

#[tokio::test]
async fn a_zone_that_is_not_there_is_told() {
    let account = Account::new(&[]).await;
    let good = account.cluster("cis", "demo", "demo-x7k2p");
    let found = preflight(&good.dns_binder(), &good.config, &good.service, Probe::Write).await;
    assert!(found.iter().all(|finding| finding.verdict != Verdict::Problem), "{found:#?}");
    let mut other = account.cluster("cis", "demo", "demo-x7k2p");
    other.config.base_domain = "elsewhere.test".to_owned();
    if let landfall_config::Dns::Cis(section) = &mut other.service {
        section.zone = Some("elsewhere.test".to_owned());
    }
    let found = preflight(&other.dns_binder(), &other.config, &other.service, Probe::Write).await;
    let told = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("IBM Cloud Internet Services has no zone elsewhere.test"), "{told}");
}
