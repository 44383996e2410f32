//! Bytes of a connection to the config server, once TLS is gone: no panic, and no config without a credential of its role.

#![no_main]

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, LazyLock},
    time::Instant,
};

use bytes::Bytes;
use config_server::{ConfigServer, Configs, Query, Roots, Unreadable};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, header, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use libfuzzer_sys::fuzz_target;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
    runtime::Runtime,
};

// The parts that judge a request alone, without the API and TLS around them, which would have to be built with instruments too.
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../crates/node/src/config_server"]
mod config_server {
    mod answer;
    mod contract;
    mod negotiation;
    mod roots;
    mod throttle;

    pub use answer::{Answer, ConfigServer, Query};
    pub use contract::{Admission, Configs, MachineId, Redemption, Unreadable};
    pub use roots::Roots;
}

const CONFIG: &[u8] = b"{\"ignition\":{\"version\":\"3.3.0\"}}";
/// What `m0` shows: HMAC-SHA256 of its name under `m-root`.
const CREDENTIAL: &[u8] = b"m0.a9d78dc8e0ee28df04c8fef0b4749f5742b03b2015820e9346c6100075be113f";

struct Fixed;

impl Configs for Fixed {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        Ok((role == "master").then_some(Bytes::from_static(CONFIG)))
    }
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made"));

fuzz_target!(|bytes: &[u8]| {
    let roots = Roots::new([("master", "m-root"), ("worker", "w-root")]);
    let server = Arc::new(ConfigServer::new(Arc::new(Fixed), Arc::new(roots)));
    let answer = RUNTIME.block_on(answer(server, bytes));
    if answer.windows(CONFIG.len()).any(|window| window == CONFIG) {
        // Digits may be upper case. Seeds have this one, and no other can be made.
        let shown = bytes.windows(CREDENTIAL.len()).any(|window| window.eq_ignore_ascii_case(CREDENTIAL));
        assert!(shown, "a config without a credential");
    }
});

async fn answer(server: Arc<ConfigServer>, bytes: &[u8]) -> Vec<u8> {
    let (mut client, connection) = duplex(1 << 16);
    let service = service_fn(move |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { Ok::<_, std::convert::Infallible>(respond(&server, &request).await) }
    });
    let serving = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
    let talking = async {
        let _ = client.write_all(bytes).await;
        let _ = client.shutdown().await;
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        answer
    };
    tokio::join!(serving, talking).1
}

/// As the server's own, which hands the same parts of a request on.
async fn respond(server: &ConfigServer, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let query = Query {
        method: request.method().as_str(),
        path: request.uri().path(),
        accept: text(header::ACCEPT),
        authorization: text(header::AUTHORIZATION),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let answer = server.answer(&query, Instant::now()).await;
    Response::builder().status(answer.status).body(Full::new(answer.body)).expect("the status is one")
}
