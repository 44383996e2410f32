//! Knot, a second name server that other people wrote, with other habits than BIND.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use landfall_dns::{Network, Probe, preflight};
use landfall_platform::Verdict;
use landfall_testkit::{named::SECRET, ports::free_port};
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{Cluster, Run};

const ZONE: &str = "lab.example.test";

/// A running Knot. It is killed when it is dropped.
struct Knot {
    child: Child,
    home: TempDir,
    port: u16,
}

impl Knot {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let port = free_port();
        let dir = home.path().display();
        let config = format!(
            "server:\n  rundir: {dir}\n  listen: 127.0.0.1@{port}\n\
             database:\n  storage: {dir}\n\
             key:\n- id: landfall-key\n  algorithm: hmac-sha512\n  secret: {SECRET}\n\
             acl:\n- id: update\n  key: landfall-key\n  action: [update, transfer]\n- id: read\n  address: 127.0.0.1\n  action: transfer\n\
             zone:\n- domain: {ZONE}\n  storage: {dir}\n  file: zone\n  acl: [update, read]\n"
        );
        fs::write(home.path().join("knot.conf"), config).unwrap();
        fs::write(home.path().join("key"), SECRET).unwrap();
        let zone = "@ 60 SOA ns1 hostmaster 1 3600 600 86400 5\n@ 60 NS ns1\nns1 60 A 127.0.0.1\nwww 60 A 192.0.2.80\n";
        fs::write(home.path().join("zone"), format!("$ORIGIN {ZONE}.\n{zone}")).unwrap();
        let log = File::create(home.path().join("log")).unwrap();
        let child = Command::new("knotd")
            .arg("-c")
            .arg(home.path().join("knot.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run knotd: {error}; `scripts/setup test` installs it"));
        let knot = Self { child, home, port };
        let began = Instant::now();
        while !knot.dig(&["+short", ZONE, "SOA"]).contains("hostmaster") {
            let log = fs::read_to_string(knot.home.path().join("log")).unwrap();
            assert!(began.elapsed() < Duration::from_mins(2), "{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        knot
    }

    fn dig(&self, arguments: &[&str]) -> String {
        let server = ["@127.0.0.1".to_owned(), "-p".to_owned(), self.port.to_string()];
        let output = Command::new("dig").args(["+tries=1", "+time=1"]).args(server).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn zone(&self) -> Vec<String> {
        let text = self.dig(&["+noall", "+answer", "+onesoa", ZONE, "AXFR"]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines: Vec<String> = text.lines().map(words).filter(|line| !line.contains(" SOA ")).collect();
        lines.sort();
        lines
    }
}

impl Drop for Knot {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

#[tokio::test]
async fn records_come_and_go_at_knot_as_they_do_at_bind() {
    let knot = Knot::start();
    let before = knot.zone();
    assert_eq!(before.len(), 3, "{before:?}");
    let server = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), knot.port);
    let service = json!({"rfc2136": {
        "server": server.to_string(),
        "zone": ZONE,
        "keyName": "landfall-key",
        "keyAlgorithm": "hmac-sha512",
        "keyFile": knot.home.path().join("key"),
    }});
    let network = Network { resolvers: Vec::new(), port: knot.port };
    let cluster = |id: &str| Cluster::new("demo", id, ZONE, &service, network.clone());
    let own = cluster("demo-x7k2p");
    let findings = preflight(&own.dns_binder(), &own.config, &own.service, Probe::Write).await;
    assert!(findings.iter().all(|finding| finding.verdict != Verdict::Problem), "{findings:#?}");
    assert_eq!(knot.zone(), before, "the probe is gone");
    own.apply(&Run::new()).await.unwrap();
    let made = knot.zone();
    assert_eq!(made.len(), before.len() + 8, "{made:?}");
    let refused = cluster("demo-other").refusal_text().await;
    assert!(refused.contains("belongs to the cluster demo-x7k2p"), "{refused}");
    cluster("demo-other").destroy(&Run::new()).await.unwrap();
    assert_eq!(knot.zone(), made);
    own.destroy(&Run::new()).await.unwrap();
    assert_eq!(knot.zone(), before);
}
