//! What a hostile or clumsy client cannot do.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body, Frame, SizeHint};
use landfall_simulator::core::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::client::{Client, DEADLINE};
use super::toy::{start, stepped};

const HUNDRED_MEGABYTES: u64 = 100 * 1024 * 1024;
static BLOCK: [u8; 64 * 1024] = [b'x'; 64 * 1024];

/// Many bytes without holding them, announced or not.
struct Flood {
    left: u64,
    announced: bool,
}

impl Body for Flood {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= BLOCK.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&BLOCK)))))
    }

    fn size_hint(&self) -> SizeHint {
        if self.announced { SizeHint::with_exact(self.left) } else { SizeHint::default() }
    }
}

/// The most memory this process has used so far.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_body_of_100_megabytes_is_refused_and_never_held() {
    let running = start(&stepped()).await;
    let clients = [Client::new(&running), Client::http2(&running)];
    #[cfg(target_os = "linux")]
    let before = peak_kib();
    for client in clients {
        for announced in [true, false] {
            let request = Request::post(format!("{}/items", running.url()));
            let request = request.body(Flood { left: HUNDRED_MEGABYTES, announced }).unwrap();
            let answer = client.send(request).await.unwrap();
            assert_eq!(answer.status, 413);
            assert_eq!(answer.text(), "the body is larger than 10485760 bytes\n");
        }
    }
    #[cfg(target_os = "linux")]
    {
        let grown = peak_kib() - before;
        assert!(grown < 60 * 1024, "memory grew by {grown} KiB");
    }
    assert_eq!(Client::new(&running).post("/items", "one").await.unwrap().status, 201);
}

#[tokio::test]
async fn a_client_that_asks_first_is_not_made_to_send_too_much() {
    let running = start(&stepped()).await;
    let mut stream = Client::new(&running).connect().await.unwrap();
    let head = "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
}

#[tokio::test]
async fn the_limit_itself_is_allowed() {
    let running = start(&Options { max_body: 10, ..stepped() }).await;
    let client = Client::new(&running);
    assert_eq!(client.post("/items", "0123456789").await.unwrap().status, 201);
    assert_eq!(client.post("/items", "0123456789a").await.unwrap().status, 413);
}

#[tokio::test]
async fn headers_that_never_end_end_the_connection() {
    let running = start(&Options { header_timeout: Duration::from_millis(100), ..stepped() }).await;
    let http2_silence = Client::http2(&running);
    let http1_half = Client::new(&running);
    for (client, text) in
        [(http1_half.clone(), "GET /items HTTP/1.1\r\nHost: x\r\nX-Slow: "), (http1_half, ""), (http2_silence, "")]
    {
        let mut stream = client.connect().await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // Whether it ends with an error, a refusal or silence is not the point: it must end.
        let ended = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "still open after {text:?}");
    }
    // A client that does not even begin with TLS.
    let address = running.url().trim_start_matches("https://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    assert!(tokio::time::timeout(DEADLINE, stream.read_to_end(&mut answer)).await.is_ok());
}

#[tokio::test]
async fn connections_above_the_cap_wait_for_their_turn() {
    let running = start(&Options { max_connections: 2, ..stepped() }).await;
    let client = Client::new(&running);
    let mut first = client.connect().await.unwrap();
    let second = client.connect().await.unwrap();
    let third = tokio::spawn({
        let client = client.clone();
        async move { client.get("/items").await }
    });
    // Time enough for the third, if it were let in: the first one asks again and again meanwhile.
    for _ in 0..100 {
        first.write_all(b"GET /machines HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n[]") {
            first.read_buf(&mut answer).await.unwrap();
        }
    }
    assert!(!third.is_finished());
    assert!(!running.request_counts().contains_key("GET /items"));
    drop(second);
    assert_eq!(third.await.unwrap().unwrap().status, 200);
}

#[tokio::test]
async fn garbage_is_refused_and_harms_nobody() {
    let running = start(&Options { http: true, ..stepped() }).await;
    let client = Client::new(&running);
    for garbage in
        ["\r\n\r\n\0\0", "GET\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /items HTTP/1.1\r\nHost x\r\n\r\n"]
    {
        let mut stream = client.connect().await.unwrap();
        stream.write_all(garbage.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut answer)).await.unwrap();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{garbage:?}");
    }
    assert_eq!(client.get("/items").await.unwrap().status, 200);
}
