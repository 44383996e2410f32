//! What serving costs: Ignition configs to a thousand machines at once, and names next to dnsmasq on the same host with the same
//! client. Prints tables. The client runs in the same process, so memory is that of both sides.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its table, and stops when it cannot")]

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::{Arc, atomic::AtomicU64, atomic::Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use hickory_proto::{
    op::{Message, Query},
    rr::{Name, RecordType},
};
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper_util::rt::TokioIo;
use landfall_machine_api::Subject;
use landfall_node::{
    config_server::{ConfigServer, Configs, Roots, Tls, Unreadable, serve},
    dns::{self, Forwarder, Neighbours, Zone},
};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream, UdpSocket},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

/// As large as the config of a master with a worker's inside.
const CONFIG_BYTES: usize = 300_000;
const MACHINES: usize = 1000;
const NAME: &str = "api.demo.example.com";
const CLIENTS: usize = 64;
const SPAN: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() {
    configs().await;
    names().await;
}

struct Large(Bytes);

impl Configs for Large {
    fn config(&self, _: &str) -> Result<Option<Bytes>, Unreadable> {
        Ok(Some(self.0.clone()))
    }
}

async fn configs() {
    let pair = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let tls = Tls { certificates: pair.cert.pem().into_bytes(), key: pair.signing_key.serialize_pem().into_bytes() };
    let mut roots = rustls::RootCertStore::empty();
    roots.add(pair.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(client));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let configs = Large(vec![b' '; CONFIG_BYTES].into());
    let server = Arc::new(ConfigServer::new(Arc::new(configs), Arc::new(Roots::new([("worker", "root")]))));
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move { serve(listener, &tls, server, stopped).await });

    let before = memory_mib();
    let begun = Instant::now();
    let mut fetches = JoinSet::new();
    for _ in 0..MACHINES {
        fetches.spawn(fetch(address, connector.clone()));
    }
    while let Some(length) = fetches.join_next().await {
        assert_eq!(length.unwrap(), CONFIG_BYTES);
    }
    let took = begun.elapsed().as_secs_f64();
    stop.cancel();
    println!(
        "| machines at once | config, bytes | all served after, s | configs per second | memory before, MiB | at most, MiB |"
    );
    println!("|---|---|---|---|---|---|");
    let rate = f64::from(u32::try_from(MACHINES).unwrap()) / took;
    println!("| {MACHINES} | {CONFIG_BYTES} | {took:.2} | {rate:.0} | {before} | {} |\n", memory_mib());
}

async fn fetch(address: SocketAddr, connector: TlsConnector) -> usize {
    let stream = TcpStream::connect(address).await.unwrap();
    let stream = connector.connect(NAME.try_into().unwrap(), stream).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let credential = format!("Bearer {}", Subject::named("w0").credential("root"));
    let request = Request::get("/config/worker").header("host", NAME).header("authorization", credential);
    let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
    response.into_body().collect().await.unwrap().to_bytes().len()
}

/// The most that the process has had in memory so far.
fn memory_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

async fn names() {
    let facts = serde_json::from_value(json!({
        "format": 1, "role": "worker", "distribution": "kubernetes", "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": { "name": NAME, "internalName": "api-int.demo.example.com",
            "endpoint": "198.51.100.5:6443", "port": 6443, "configServerPort": 22623 },
        "vips": { "api": ["198.51.100.5"], "ingress": ["198.51.100.6"], "apiRouterId": 1, "ingressRouterId": 2,
            "balancerPort": 9445, "balancerReadyPort": 9444, "balancerBackendsPort": 9454,
            "keepalivedConfig": "", "haproxyConfig": "" },
        "networks": { "machine": ["198.51.100.0/24"], "cluster": [], "service": [] },
    }))
    .unwrap();
    let (udp, tcp) = loop {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let ours = udp.local_addr().unwrap();
    let (_zones, zone) = watch::channel(Arc::new(Zone::new(&facts, &[])));
    let stop = CancellationToken::new();
    let forwarder = Arc::new(Forwarder::default());
    tokio::spawn(dns::serve(udp, tcp, zone, forwarder, Neighbours::default(), stop.clone()));
    let (mut process, theirs) = dnsmasq();

    println!("| name server | queries per second |");
    println!("|---|---|");
    println!("| landfall-node | {:.0} |", rate(ours).await);
    println!("| dnsmasq | {:.0} |", rate(theirs).await);
    stop.cancel();
    let _ = process.kill();
    let _ = process.wait();
}

fn dnsmasq() -> (Child, SocketAddr) {
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let process = Command::new("dnsmasq")
        .args(["--keep-in-foreground", "--no-resolv", "--no-hosts", "--bind-interfaces", "--user=root", "--pid-file="])
        .args(["--conf-file=/dev/null", "--listen-address=127.0.0.1"])
        .arg(format!("--host-record={NAME},198.51.100.5"))
        .arg(format!("--port={port}"))
        .stderr(Stdio::null())
        .spawn()
        .expect("dnsmasq starts");
    (process, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

/// Answers per second to clients that ask again as soon as they have one. A query without an answer is asked again.
async fn rate(server: SocketAddr) -> f64 {
    let answers = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let answers = Arc::clone(&answers);
        clients.spawn(async move {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let mut query = Message::query();
            query.add_query(Query::query(Name::from_ascii(format!("{NAME}.")).unwrap(), RecordType::A));
            let query = query.to_vec().unwrap();
            let mut buffer = [0; 512];
            while begun.elapsed() < SPAN {
                socket.send_to(&query, server).await.unwrap();
                let answer = tokio::time::timeout(Duration::from_millis(500), socket.recv_from(&mut buffer)).await;
                if answer.is_ok_and(|received| received.is_ok()) {
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    while clients.join_next().await.is_some() {}
    let count = u32::try_from(answers.load(Ordering::Relaxed)).unwrap();
    f64::from(count) / begun.elapsed().as_secs_f64()
}
