//! The name server, asked by `dig`, in front of a real dnsmasq.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "a test that panics fails")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use landfall_assets::{MachineRole, NodeFacts};
use landfall_node::{
    dns::{Forwarder, Neighbours, Zone, serve},
    kube::ClusterNode,
};
use landfall_testkit::ports::free_port;
use serde_json::json;
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::watch,
};
use tokio_util::sync::CancellationToken;

/// A dnsmasq that is the site's server, with a name that does not fit into a datagram.
struct Site {
    process: Child,
    address: SocketAddr,
    _hosts: tempfile::NamedTempFile,
}

impl Site {
    fn start() -> Self {
        let hosts = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = (1..=200).map(|last| format!("203.0.113.{last} large.site.example\n")).collect();
        std::fs::write(hosts.path(), lines.concat() + "192.0.2.77 www.site.example\n").unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let process = Command::new("dnsmasq")
            .args([
                "--keep-in-foreground",
                "--no-resolv",
                "--no-hosts",
                "--bind-interfaces",
                "--user=root",
                "--conf-file=/dev/null",
            ])
            .args(["--listen-address=127.0.0.1", "--pid-file=", "--local=/site.example/", "--local=/demo.example.com/"])
            .arg(format!("--port={}", address.port()))
            .arg(format!("--addn-hosts={}", hosts.path().display()))
            .stderr(Stdio::null())
            .spawn()
            .expect("dnsmasq starts; scripts/setup test installs it");
        let site = Self { process, address, _hosts: hosts };
        let deadline = Instant::now() + Duration::from_mins(2);
        while dig(address, &["www.site.example", "A", "+tries=1", "+timeout=1"]).0 != ["192.0.2.77"] {
            assert!(Instant::now() < deadline, "dnsmasq does not answer");
        }
        site
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The short answers of `dig`, sorted, and its whole output.
fn dig(server: SocketAddr, arguments: &[&str]) -> (Vec<String>, String) {
    let run = |extra: &[&str]| {
        let output = Command::new("dig")
            .arg(format!("@{}", server.ip()))
            .args(["-p", &server.port().to_string()])
            .args(extra)
            .args(arguments)
            .output()
            .expect("dig runs; scripts/setup test installs it");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut short: Vec<String> =
        run(&["+short"]).lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect();
    short.sort();
    (short, run(&[]))
}

fn facts() -> NodeFacts {
    serde_json::from_value(json!({
        "format": 1, "role": "worker", "distribution": "kubernetes", "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": { "name": "api.demo.example.com", "internalName": "api-int.demo.example.com",
            "endpoint": "198.51.100.5:6443", "port": 6443, "configServerPort": 22623 },
        "vips": { "api": ["198.51.100.5"], "ingress": ["198.51.100.6"], "apiRouterId": 1, "ingressRouterId": 2,
            "balancerPort": 9445, "balancerReadyPort": 9444, "balancerBackendsPort": 9454,
            "keepalivedConfig": "", "haproxyConfig": "" },
        "networks": { "machine": ["198.51.100.0/24"], "cluster": [], "service": [] },
    }))
    .unwrap()
}

fn node(name: &str, address: &str) -> ClusterNode {
    ClusterNode {
        name: name.to_owned(),
        role: MachineRole::Worker,
        addresses: vec![address.parse().unwrap()],
        pod_networks: Vec::new(),
    }
}

struct Lab {
    address: SocketAddr,
    zones: watch::Sender<Arc<Zone>>,
    forwarder: Arc<Forwarder>,
    stop: CancellationToken,
}

async fn lab(upstreams: Vec<SocketAddr>) -> Lab {
    // One number for both: the one that is free for the first may be taken for the second.
    let (udp, tcp) = loop {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    let (zones, zone) = watch::channel(Arc::new(Zone::new(&facts(), &[node("demo-w0", "198.51.100.31")])));
    let forwarder = Arc::new(Forwarder::new(upstreams));
    let stop = CancellationToken::new();
    tokio::spawn(serve(udp, tcp, zone, Arc::clone(&forwarder), Neighbours::default(), stop.clone()));
    Lab { address, zones, forwarder, stop }
}

impl Lab {
    async fn dig(&self, arguments: &'static [&'static str]) -> (Vec<String>, String) {
        let address = self.address;
        tokio::task::spawn_blocking(move || dig(address, arguments)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dig_sees_the_cluster_and_the_site() {
    let site = tokio::task::spawn_blocking(Site::start).await.unwrap();
    let lab = lab(vec![site.address]).await;
    for (question, answers) in [
        (&["api.demo.example.com", "A"] as &'static [_], &["198.51.100.5"] as &[&str]),
        (&["API-INT.demo.example.com", "A", "+tcp"], &["198.51.100.5"]),
        (&["console.apps.demo.example.com", "A"], &["198.51.100.6"]),
        (&["demo-w0.demo.example.com", "A"], &["198.51.100.31"]),
        (&["demo-w0", "A"], &["198.51.100.31"]),
        (&["-x", "198.51.100.31"], &["demo-w0.demo.example.com."]),
        (&["www.site.example", "A"], &["192.0.2.77"]),
        (&["www.site.example", "A", "+tcp"], &["192.0.2.77"]),
    ] {
        assert_eq!(lab.dig(question).await.0, answers, "{question:?}");
    }
    assert_eq!(lab.dig(&["large.site.example", "A"]).await.0.len(), 200, "by TCP, when it does not fit");
    let (answers, said) = lab.dig(&["api.demo.example.com", "AAAA"]).await;
    assert!(answers.is_empty() && said.contains("status: NOERROR"), "an explicit empty answer: {said}");
    let (_, said) = lab.dig(&["no-such.site.example", "A"]).await;
    assert!(said.contains("status: NXDOMAIN"), "the site's word on its own names: {said}");
    lab.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn names_follow_the_nodes() {
    let lab = lab(Vec::new()).await;
    lab.zones.send_replace(Arc::new(Zone::new(&facts(), &[node("demo-w1", "198.51.100.32")])));
    assert_eq!(lab.dig(&["demo-w1.demo.example.com", "A"]).await.0, ["198.51.100.32"]);
    lab.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_site_the_cluster_has_its_names_and_a_second_server_takes_over() {
    let site = tokio::task::spawn_blocking(Site::start).await.unwrap();
    let lab = lab(Vec::new()).await;
    let (_, said) = lab.dig(&["www.site.example", "A", "+tries=1"]).await;
    assert!(said.contains("status: SERVFAIL"), "{said}");
    assert_eq!(lab.dig(&["api.demo.example.com", "A"]).await.0, ["198.51.100.5"]);
    // The first one is a port on which nobody listens.
    lab.forwarder.set(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, free_port())), site.address]);
    assert_eq!(lab.dig(&["www.site.example", "A"]).await.0, ["192.0.2.77"]);
    lab.stop.cancel();
}
