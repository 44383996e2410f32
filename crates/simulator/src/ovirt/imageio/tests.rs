//! The endpoint over real sockets, with a client that knows nothing but HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use super::{Denied, Format, ImageIo, ImageStore, Images, Progress, Ticket, Tickets};
use crate::core::{Limits, Server};

const SIZE: u64 = 8 << 20;

/// An engine that knows its tickets and nothing else.
#[derive(Default)]
struct Engine {
    tickets: Mutex<HashMap<String, Result<Ticket, Denied>>>,
    reports: Mutex<Vec<Progress>>,
}

impl Tickets for Engine {
    fn authorize(&self, id: &str) -> Result<Ticket, Denied> {
        self.tickets.lock().unwrap().get(id).copied().unwrap_or(Err(Denied::Unknown))
    }

    fn report(&self, _id: &str, progress: Progress) {
        self.reports.lock().unwrap().push(progress);
    }
}

struct Bench {
    engine: Arc<Engine>,
    store: Arc<ImageStore>,
    server: Server,
    _dir: tempfile::TempDir,
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Bench {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(ImageStore::open(dir.path()).unwrap());
        let engine = Arc::new(Engine::default());
        let service = Arc::new(ImageIo::new(store.clone(), engine.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::start(listener, None, Limits::default(), service).unwrap();
        Self { engine, store, server, _dir: dir }
    }

    fn ticket(&self, id: &str, ticket: Ticket) {
        self.engine.tickets.lock().unwrap().insert(id.to_owned(), Ok(ticket));
    }

    fn upload(&self, id: &str, format: Format) -> Ticket {
        let ticket = Ticket {
            transfer: Uuid::from_u128(7),
            image: Uuid::new_v4(),
            virtual_size: SIZE,
            disk_format: format,
            transfer_format: format,
            write: true,
        };
        self.ticket(id, ticket);
        ticket
    }

    /// Sends a request; `headers` are whole lines.
    async fn send(&self, request: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.server.address()).await.unwrap();
        let mut head = format!("{request} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
        if !body.is_empty() {
            head.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
        }
        for header in headers {
            head.extend([header, "\r\n"]);
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut raw = Vec::new();
        stream.read_to_end(&mut raw).await.unwrap();
        let split = raw.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let headers = String::from_utf8(raw[..split].to_vec()).unwrap().to_lowercase();
        let status = headers[9..12].parse().unwrap();
        Answer { status, headers, body: raw[split + 4..].to_vec() }
    }
}

#[tokio::test]
async fn options_tell_what_a_ticket_allows() {
    let bench = Bench::new().await;
    let ticket = bench.upload("up", Format::Raw);
    bench.ticket("down", Ticket { write: false, ..ticket });
    bench.upload("cow", Format::Cow);

    let up = bench.send("OPTIONS /images/up", &[], b"").await;
    assert_eq!(up.status, 200);
    assert!(up.headers.contains("allow: options,get,put,patch"), "{}", up.headers);
    let all = ["checksum", "extents", "flush", "zero"];
    assert_eq!(up.json(), serde_json::json!({ "features": all, "max_readers": 8, "max_writers": 8 }));

    let down = bench.send("OPTIONS /images/down", &[], b"").await;
    assert!(down.headers.contains("allow: options,get\r\n"), "{}", down.headers);
    assert_eq!(down.json()["features"], serde_json::json!(["checksum", "extents"]));
    assert_eq!(bench.send("OPTIONS /images/cow", &[], b"").await.json()["max_writers"], 1);
    assert_eq!(bench.send("OPTIONS /images/*", &[], b"").await.json()["features"], serde_json::json!(all));
}

#[tokio::test]
async fn the_ticket_is_the_only_credential() {
    let bench = Bench::new().await;
    let ticket = bench.upload("up", Format::Raw);
    bench.ticket("down", Ticket { write: false, ..ticket });
    bench.engine.tickets.lock().unwrap().insert("old".to_owned(), Err(Denied::Expired(ticket.transfer)));
    bench.engine.tickets.lock().unwrap().insert("gone".to_owned(), Err(Denied::Cancelled(ticket.transfer)));
    let calls = [
        ("PUT /images/nope", "No such ticket nope"),
        ("GET /images/old", "expired"),
        ("GET /images/gone/extents", "was canceled"),
        ("GET /images/nope/checksum", "No such ticket nope"),
        ("OPTIONS /images/nope", "No such ticket nope"),
        ("PUT /images/down", "forbids write"),
    ];
    for (call, why) in calls {
        let body: &[u8] = if call.starts_with("PUT") { b"data" } else { b"" };
        let answer = bench.send(call, &[], body).await;
        assert_eq!(answer.status, 403, "{call}");
        assert!(answer.text().contains(why), "{call}: {}", answer.text());
        assert!(answer.headers.contains("connection: close"), "{call}");
    }
    let zero = bench.send("PATCH /images/down", &[], br#"{"op":"zero","size":1}"#).await;
    assert_eq!(zero.status, 403);
}

#[tokio::test]
async fn ranges_are_written_zeroed_and_read_back() {
    let bench = Bench::new().await;
    let ticket = bench.upload("up", Format::Raw);
    let data = vec![7; 3 << 20];
    let put = bench.send("PUT /images/up?flush=n", &["content-range: bytes 4096-3149823/*"], &data).await;
    assert_eq!((put.status, put.text()), (200, ""));
    let zero = br#"{"op": "zero", "offset": 8192, "size": 4096, "flush": true}"#;
    assert_eq!(bench.send("PATCH /images/up", &[], zero).await.status, 200);
    assert_eq!(bench.send("PATCH /images/up", &[], br#"{"op": "flush"}"#).await.status, 200);

    let part = bench.send("GET /images/up", &["range: bytes=4090-12299"], b"").await;
    assert_eq!(part.status, 206);
    assert!(part.headers.contains("content-range: bytes 4090-12299/8388608"), "{}", part.headers);
    assert!(part.headers.contains("content-disposition: attachment"), "{}", part.headers);
    let expected = [&[0; 6][..], &[7; 4096], &[0; 4096], &[7; 12]].concat();
    assert_eq!(part.body, expected);

    let whole = bench.send("GET /images/up", &[], b"").await;
    assert_eq!((whole.status, whole.body.len()), (200, 8 << 20));
    let rest = bench.send("GET /images/up", &["range: bytes=8388600-"], b"").await;
    assert_eq!((rest.status, rest.body.len()), (206, 8));

    let extents = bench.send("GET /images/up/extents?context=zero", &[], b"").await.json();
    let extent = |start: u64, length: u64, zero: bool| serde_json::json!({ "start": start, "length": length, "zero": zero, "hole": false });
    let expected = [
        extent(0, 4096, true),
        extent(4096, 4096, false),
        extent(8192, 4096, true),
        extent(12288, 3_137_536, false),
        extent(3_149_824, SIZE - 3_149_824, true),
    ];
    assert_eq!(extents, serde_json::json!(expected));
    assert!(bench.store.allocated(ticket.image).unwrap() < SIZE);
}

#[tokio::test]
async fn progress_counts_bytes_once_and_ends_idle() {
    let bench = Bench::new().await;
    bench.upload("up", Format::Raw);
    for _ in 0..2 {
        bench.send("PUT /images/up", &[], &vec![1; 5 << 20]).await;
    }
    bench.send("PATCH /images/up", &[], br#"{"op": "zero", "offset": 5242880, "size": 100}"#).await;
    let reports = bench.engine.reports.lock().unwrap();
    assert_eq!(reports.last(), Some(&Progress { transferred: (5 << 20) + 100, active: false }));
    let growing: Vec<_> = reports.iter().map(|report| report.transferred).collect();
    assert!(growing.is_sorted() && growing.iter().any(|n| (1..5 << 20).contains(n)), "{growing:?}");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let bench = Bench::new().await;
    bench.upload("up", Format::Raw);
    let body = &b"data"[..];
    let calls: [(&str, &[&str], &[u8], u16); 20] = [
        // With the end of an empty chunked body.
        ("PUT /images/up", &["transfer-encoding: chunked\r\n\r\n0"], b"", 400),
        ("PUT /images/up", &["content-range: bytes x-9/*"], body, 400),
        ("PUT /images/up?flush=maybe", &[], body, 400),
        ("PUT /images/up", &["content-range: bytes 8388605-8388608/*"], body, 416),
        ("PUT /images/up", &["content-range: bytes 18446744073709551615-*/*"], body, 416),
        ("PUT /images/", &[], body, 400),
        ("GET /images/up", &["range: bytes=0-8388608"], b"", 416),
        ("GET /images/up", &["range: bytes=8388609-"], b"", 416),
        ("GET /images/up", &["range: bytes=0-18446744073709551615"], b"", 416),
        ("GET /images/up", &["range: bytes=-5"], b"", 416),
        ("GET /images/up/extents?context=dirty", &[], b"", 404),
        ("GET /images/up/extents?context=wet", &[], b"", 400),
        ("GET /images/up/checksum?algorithm=md5000", &[], b"", 400),
        ("GET /images/up/checksum?block_size=12", &[], b"", 400),
        ("PATCH /images/up", &[], b"{", 400),
        ("PATCH /images/up", &[], br#"{"op":"melt"}"#, 400),
        ("PATCH /images/up", &[], br#"{"op":"zero","size":-1}"#, 400),
        ("PATCH /images/up", &[], br#"{"op":"zero","size":9,"offset":18446744073709551615}"#, 416),
        ("POST /images/up", &[], body, 405),
        ("GET /elsewhere", &[], b"", 404),
    ];
    for (call, headers, body, status) in calls {
        let answer = bench.send(call, headers, body).await;
        assert_eq!(answer.status, status, "{call} {headers:?}: {}", answer.text());
        assert!(answer.headers.contains("content-type: text/plain"), "{call}");
    }
    let past = bench.send("GET /images/up", &["range: bytes=0-8388608"], b"").await;
    assert!(past.headers.contains("content-range: bytes */8388608"), "{}", past.headers);
    let huge = bench.send("PATCH /images/up", &[], &vec![b' '; 1 << 20]).await;
    assert_eq!(huge.status, 400);
}

#[tokio::test]
async fn the_bytes_of_an_image_file_are_taken_as_they_are() {
    let bench = Bench::new().await;
    let ticket = bench.upload("up", Format::Cow);
    let blank = bench.send("GET /images/up", &[], b"").await.body;
    assert_eq!(&blank[..4], b"QFI\xfb");
    let extents = bench.send("GET /images/up/extents", &[], b"").await.json();
    let all = serde_json::json!([{ "start": 0, "length": blank.len(), "zero": false, "hole": false }]);
    assert_eq!(extents, all);

    // A whole-file upload may be longer than the disk, by a tenth and a MiB.
    let most = vec![3; usize::try_from(SIZE + SIZE.div_ceil(10)).unwrap() + (1 << 20)];
    assert_eq!(bench.send("PUT /images/up", &[], &most).await.status, 200);
    assert_eq!(bench.send("GET /images/up", &[], b"").await.body, most);
    assert_eq!(bench.send("PUT /images/up", &["content-range: bytes 1-*/*"], &most).await.status, 416);
    assert!(bench.store.verify(ticket.image, Format::Cow).is_err());
}

#[tokio::test]
async fn checksums_follow_the_bytes() {
    let bench = Bench::new().await;
    bench.upload("up", Format::Raw);
    let blank = bench.send("GET /images/up/checksum", &[], b"").await.json();
    assert_eq!((&blank["algorithm"], &blank["block_size"]), (&"blake2b".into(), &(4 << 20).into()));
    bench.send("PUT /images/up", &[], b"x").await;
    let written = bench.send("GET /images/up/checksum", &[], b"").await.json();
    assert_ne!(blank["checksum"], written["checksum"]);
    bench.send("PATCH /images/up", &[], br#"{"op": "zero", "size": 1}"#).await;
    assert_eq!(bench.send("GET /images/up/checksum", &[], b"").await.json(), blank);
    let names = bench.send("GET /images/up/checksum/algorithms", &[], b"").await.json();
    assert!(names["algorithms"].as_array().unwrap().contains(&"sha256".into()));
}

/// The engine pauses the transfer while a large body is on its way.
#[tokio::test]
async fn a_withdrawn_ticket_stops_an_upload_under_way() {
    let bench = Bench::new().await;
    let ticket = bench.upload("up", Format::Raw);
    let mut stream = TcpStream::connect(bench.server.address()).await.unwrap();
    let head = format!("PUT /images/up HTTP/1.1\r\nhost: test\r\ncontent-length: {SIZE}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![1; 2 << 20]).await.unwrap();
    let started = async {
        while !bench.engine.reports.lock().unwrap().iter().any(|report| report.transferred > 0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), started).await.expect("the upload starts");
    bench.engine.tickets.lock().unwrap().insert("up".to_owned(), Err(Denied::Cancelled(ticket.transfer)));
    stream.write_all(&vec![1; 6 << 20]).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("was canceled"), "{answer}");
}
