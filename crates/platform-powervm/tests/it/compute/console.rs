//! Consoles, through the stand-ins for NovaLink's commands.

use std::net::{Ipv4Addr, SocketAddr};

use landfall_platform_powervm::compute::{Blueprint, Consoles, PartitionId, destroy, spawn};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::stage::{Stage, bare, id, run};

/// Asks a relay for a partition; the answer, and the connection.
async fn ask(address: SocketAddr, partition: &str) -> (String, TcpStream) {
    let mut viewer = TcpStream::connect(address).await.unwrap();
    viewer.write_all(format!("CONNECT {partition} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(viewer.read_u8().await.unwrap());
    }
    (String::from_utf8(answer).unwrap(), viewer)
}

#[tokio::test]
async fn a_viewer_reaches_the_console_that_it_asks_for() {
    let tools = tempfile::TempDir::new().unwrap();
    let stage = Stage::with(&["--tools-dir", tools.path().to_str().unwrap()]).await;
    spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
    let consoles = Consoles::new(stage.host.clone(), Some(tools.path().to_owned()));
    let relay = consoles.relay((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let address = relay.address().unwrap();
    let serving = tokio::spawn(relay.serve());

    let (answer, mut viewer) = ask(address, id("node-0").as_str()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let mut greeting = [0; 12];
    viewer.read_exact(&mut greeting).await.unwrap();
    assert_eq!(&greeting, b"RFB 003.008\n");
    // It can be opened again, and then it is the same.
    let port = consoles.open(&id("node-0")).await.unwrap();
    assert_eq!(port, consoles.open(&id("node-0")).await.unwrap());

    let stranger: PartitionId = uuid::Uuid::from_u128(1).into();
    for nonsense in [stranger.as_str(), "nonsense"] {
        assert!(ask(address, nonsense).await.0.starts_with("HTTP/1.1 400"), "{nonsense}");
    }
    // An open console does not keep a partition from being removed.
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    serving.abort();
}

#[tokio::test]
async fn a_viewer_that_cannot_ask_reaches_the_only_console() {
    let tools = tempfile::TempDir::new().unwrap();
    let stage = Stage::with(&["--tools-dir", tools.path().to_str().unwrap()]).await;
    spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
    let consoles = Consoles::new(stage.host.clone(), Some(tools.path().to_owned()));
    let relay = consoles.relay_to(&id("node-0"), (Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let address = relay.address().unwrap();
    let serving = tokio::spawn(relay.serve());

    let mut greeting = [0; 12];
    TcpStream::connect(address).await.unwrap().read_exact(&mut greeting).await.unwrap();
    assert_eq!(&greeting, b"RFB 003.008\n");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    // There is nobody to be joined to.
    assert_eq!(0, TcpStream::connect(address).await.unwrap().read(&mut greeting).await.unwrap());
    serving.abort();
}

/// Nova's token is checked by the proxy, so a viewer that gets around the proxy must not reach a console.
#[tokio::test]
async fn only_proxies_are_let_in() {
    let tools = tempfile::TempDir::new().unwrap();
    let stage = Stage::with(&["--tools-dir", tools.path().to_str().unwrap()]).await;
    spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
    let consoles = Consoles::new(stage.host.clone(), Some(tools.path().to_owned()));
    let everywhere = (Ipv4Addr::UNSPECIFIED, 0).into();
    let refused = consoles.relay(everywhere).await.unwrap_err();
    assert!(refused.to_string().contains("vnc_proxies"), "{refused}");

    let proxy = Ipv4Addr::new(127, 0, 0, 77);
    let relay = consoles.for_proxies(vec![proxy.into()]).relay_to(&id("node-0"), everywhere).await.unwrap();
    let port = relay.address().unwrap().port();
    let serving = tokio::spawn(relay.serve());
    let greeting = async |from: Ipv4Addr| {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let mut viewer = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await.unwrap();
        let mut greeting = Vec::new();
        // One that is refused may see the connection end or break.
        let _ = (&mut viewer).take(12).read_to_end(&mut greeting).await;
        greeting
    };
    assert_eq!(greeting(Ipv4Addr::new(127, 0, 0, 78)).await, b"");
    assert_eq!(greeting(proxy).await, b"RFB 003.008\n");
    serving.abort();
}
