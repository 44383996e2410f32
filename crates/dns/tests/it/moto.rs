//! Route 53 on moto, which other people wrote; what it holds is read with boto3.

use std::{
    net::{Ipv4Addr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use landfall_dns::{Network, Probe, preflight};
use landfall_platform::Verdict;
use landfall_testkit::{
    Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, ports::free_port, repeat_every_step,
};
use serde_json::json;

use crate::scene::{Cluster, OneCluster, Run};

const ZONE: &str = "lab.example.test";

/// A running moto. It is killed when it is dropped.
struct Moto {
    child: Child,
    endpoint: String,
}

/// Where the virtualenv is: `conformance/dns/venv` makes it if it is not there.
fn venv() -> &'static str {
    static VENV: OnceLock<String> = OnceLock::new();
    VENV.get_or_init(|| {
        let made = Command::new(conformance("venv")).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    })
}

fn conformance(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/dns").join(file)
}

impl Moto {
    fn start() -> Self {
        let port = free_port();
        let child = Command::new(format!("{}/bin/moto_server", venv()))
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(began.elapsed() < Duration::from_mins(1), "moto does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, endpoint: format!("http://127.0.0.1:{port}") }
    }

    /// What boto3 says.
    fn boto3(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(format!("{}/bin/python", venv()));
        let output = command.arg(conformance("route53.py")).arg(&self.endpoint).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A zone at moto, and a cluster that wants records there.
struct Zone {
    moto: Arc<Moto>,
    id: String,
    cluster: Cluster,
}

impl Zone {
    fn new(moto: &Arc<Moto>) -> Self {
        let id = moto.boto3(&["create-zone", ZONE]).trim().to_owned();
        moto.boto3(&["upsert", &id, "www.lab.example.test", "A", "60", "192.0.2.80"]);
        let cluster = Self::cluster(moto, &id, "demo", "demo-x7k2p");
        Self { moto: Arc::clone(moto), id, cluster }
    }

    fn cluster(moto: &Moto, id: &str, name: &str, infra_id: &str) -> Cluster {
        let service = json!({"route53": {"zone": ZONE, "zoneId": id, "endpoint": moto.endpoint}});
        let network = Network { resolvers: Vec::new(), port: 53 };
        let keys = [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        Cluster { environment: keys.into_iter().collect(), ..Cluster::new(name, infra_id, ZONE, &service, network) }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.moto.boto3(&["list", &self.id]).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

struct OnMoto(Arc<Moto>);

#[async_trait]
impl Fixture for OnMoto {
    async fn world(&self) -> Box<dyn World> {
        let zone = Zone::new(&self.0);
        let cluster = Zone::cluster(&zone.moto, &zone.id, "demo", "demo-x7k2p").with_etcd(2);
        Box::new(OneCluster { cluster, inventory: move || zone.lines() })
    }
}

#[tokio::test]
async fn the_suites_hold_at_route53() {
    let fixture = OnMoto(Arc::new(Moto::start()));
    repeat_every_step(&fixture).await;
    fail_at_every_step(&fixture).await;
    kill_at_every_step(&fixture).await;
    kill_every_removal(&fixture).await;
}

#[tokio::test]
async fn records_are_as_boto3_sees_them_and_only_ours_go() {
    let zone = Zone::new(&Arc::new(Moto::start()));
    let before = zone.lines();
    let findings =
        preflight(&zone.cluster.dns_binder(), &zone.cluster.config, &zone.cluster.service, Probe::Write).await;
    assert!(findings.iter().all(|finding| finding.verdict != Verdict::Problem), "{findings:#?}");
    assert_eq!(zone.lines(), before, "the probe is gone");
    let neighbour = Zone::cluster(&zone.moto, &zone.id, "mo", "mo-bcdfg");
    let runs = [Run::new(), Run::new()];
    neighbour.apply(&runs[0]).await.unwrap();
    let with_neighbour = zone.lines();
    zone.cluster.apply(&runs[1]).await.unwrap();
    let made: Vec<String> = zone.lines().into_iter().filter(|line| !with_neighbour.contains(line)).collect();
    insta::assert_snapshot!(made.join("\n"), @r#"
    *.apps.demo.lab.example.test. 300 A 192.0.2.6
    _landfall-wildcard.apps.demo.lab.example.test. 300 TXT "heritage=landfall,owner=demo-x7k2p,records=A"
    _landfall.api-int.demo.lab.example.test. 300 TXT "heritage=landfall,owner=demo-x7k2p,records=A+AAAA"
    _landfall.api.demo.lab.example.test. 300 TXT "heritage=landfall,owner=demo-x7k2p,records=A+AAAA"
    api-int.demo.lab.example.test. 300 A 192.0.2.5
    api-int.demo.lab.example.test. 300 AAAA 2001:db8::5
    api.demo.lab.example.test. 300 A 192.0.2.5
    api.demo.lab.example.test. 300 AAAA 2001:db8::5
    "#);
    // Behind our back.
    zone.moto.boto3(&["upsert", &zone.id, "api.demo.lab.example.test", "A", "60", "198.51.100.66"]);
    zone.cluster.apply(&Run::new()).await.unwrap();
    let again: Vec<String> = zone.lines().into_iter().filter(|line| !with_neighbour.contains(line)).collect();
    assert_eq!(again, made);
    let stranger = Zone::cluster(&zone.moto, &zone.id, "demo", "demo-other");
    let text = stranger.refusal_text().await;
    assert!(text.contains("belongs to the cluster demo-x7k2p"), "{text}");
    // Without a journal, by marks alone.
    zone.cluster.destroy(&Run::new()).await.unwrap();
    assert_eq!(zone.lines(), with_neighbour);
    neighbour.destroy(&runs[0]).await.unwrap();
    assert_eq!(zone.lines(), before);
}

#[tokio::test]
async fn services_are_as_boto3_sees_them() {
    let zone = Zone::new(&Arc::new(Moto::start()));
    let before = zone.lines();
    let service = "_etcd-server-ssl._tcp.demo.lab.example.test";
    let cluster = |members| Zone::cluster(&zone.moto, &zone.id, "demo", "demo-x7k2p").with_etcd(members);
    let made = || zone.lines().into_iter().filter(|line| line.contains("_etcd-server-ssl")).collect::<Vec<_>>();
    cluster(2).apply(&Run::new()).await.unwrap();
    insta::assert_snapshot!(made().join("\n"), @r#"
    _etcd-server-ssl._tcp.demo.lab.example.test. 300 SRV 0 10 2380 etcd-0.demo.lab.example.test.
    _etcd-server-ssl._tcp.demo.lab.example.test. 300 SRV 0 10 2380 etcd-1.demo.lab.example.test.
    _landfall._etcd-server-ssl._tcp.demo.lab.example.test. 300 TXT "heritage=landfall,owner=demo-x7k2p,records=SRV"
    "#);
    // A member less; and what was changed behind our back.
    zone.moto.boto3(&["upsert", &zone.id, service, "SRV", "60", "1 1 1 elsewhere.example.test."]);
    cluster(1).apply(&Run::new()).await.unwrap();
    assert_eq!(made().len(), 2, "{:?}", made());
    cluster(1).destroy(&Run::new()).await.unwrap();
    assert_eq!(zone.lines(), before);
    zone.moto.boto3(&["upsert", &zone.id, service, "SRV", "60", "1 1 1 elsewhere.example.test."]);
    let text = cluster(1).refusal_text().await;
    assert!(text.contains(&format!("{service} SRV 1 1 1 elsewhere.example.test. exists at Route 53")), "{text}");
}

#[tokio::test]
async fn what_others_made_and_zones_that_are_not_there_are_told() {
    let zone = Zone::new(&Arc::new(Moto::start()));
    zone.moto.boto3(&["upsert", &zone.id, "api.demo.lab.example.test", "A", "60", "198.51.100.7"]);
    let text = zone.cluster.refusal_text().await;
    assert!(text.contains("api.demo.lab.example.test A 198.51.100.7 exists at Route 53"), "{text}");
    let missing = Zone::cluster(&zone.moto, "ZMISSING", "demo", "demo-x7k2p");
    let text = missing.refusal_text().await;
    assert!(text.contains("has no zone with id ZMISSING"), "{text}");
    let nobody = Cluster { environment: landfall_platform::Environment::default(), ..missing };
    let text = nobody.refusal_text().await;
    assert!(text.contains("there are no AWS credentials"), "{text}");
}
