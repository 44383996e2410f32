use std::net::SocketAddr;

use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use landfall_assets::{
    MachineRole,
    node::{ConfigServerFacts, ServedRole},
};
use landfall_machine_api::Subject;
use tokio_rustls::TlsConnector;

use super::*;
use crate::config_server::{Admission, Bootstrapping, Configs, DiskFiles, Roots, Unreadable};

struct Large;

impl Configs for Large {
    fn config(&self, _: &str) -> Result<Option<Bytes>, Unreadable> {
        Ok(Some(Bytes::from(vec![b' '; 300_000])))
    }
}

struct Lab {
    address: SocketAddr,
    connector: TlsConnector,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<Result<(), ServeError>>,
}

async fn lab() -> Lab {
    lab_with(Arc::new(Roots::new([("master", "root")]))).await
}

async fn lab_with(admission: Arc<dyn Admission>) -> Lab {
    let pair = rcgen::generate_simple_self_signed(["api-int.demo.example.com".to_owned()]).unwrap();
    let tls = Tls { certificates: pair.cert.pem().into_bytes(), key: pair.signing_key.serialize_pem().into_bytes() };
    let mut roots = rustls::RootCertStore::empty();
    roots.add(pair.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Arc::new(ConfigServer::new(Arc::new(Large), admission));
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let task = tokio::spawn(async move { serve(listener, &tls, server, stopping).await });
    Lab { address, connector: TlsConnector::from(Arc::new(client)), stop, served: task }
}

impl Lab {
    async fn get(&self, token: &str) -> (u16, usize) {
        let response = self.response(token).await;
        let status = response.status().as_u16();
        (status, response.into_body().collect().await.unwrap().to_bytes().len())
    }

    async fn response(&self, token: &str) -> Response<Incoming> {
        let stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        let name = "api-int.demo.example.com".try_into().unwrap();
        let stream = self.connector.connect(name, stream).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::get("/config/master")
            .header("host", "api-int.demo.example.com")
            .header("authorization", format!("Bearer {token}"))
            .body(Empty::<Bytes>::new())
            .unwrap();
        sender.send_request(request).await.unwrap()
    }
}

#[tokio::test]
async fn a_thousand_machines_boot_at_once() {
    let lab = Arc::new(lab().await);
    let mut boots = tokio::task::JoinSet::new();
    for number in 0..1000 {
        let lab = Arc::clone(&lab);
        boots.spawn(async move { lab.get(&Subject::named(format!("m{number}")).credential("root")).await });
    }
    while let Some(result) = boots.join_next().await {
        assert_eq!(result.unwrap(), (200, 300_000));
    }
    lab.stop.cancel();
}

#[tokio::test]
async fn who_shall_ask_again_may_reach_another_machine_then() {
    let lab = lab().await;
    let mut last = lab.response("guess").await;
    for _ in 0..20 {
        last = lab.response("guess").await;
    }
    assert_eq!(last.status(), 503);
    assert_eq!(last.headers()[header::CONNECTION], "close");
    assert!(lab.response("guess").await.headers().contains_key(header::RETRY_AFTER));
}

#[tokio::test]
async fn a_wrong_credential_is_refused_and_the_server_stops_cleanly() {
    let lab = lab().await;
    assert_eq!(lab.get("guess").await.0, 401);
    lab.stop.cancel();
    lab.served.await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(lab.address).await.is_err());
}

#[tokio::test]
async fn a_server_that_cannot_read_its_files_keeps_machines_asking() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    // A directory in the place of the file: reading it fails, as it does without a file descriptor to read it by.
    std::fs::create_dir(path("m.root")).unwrap();
    let role = ServedRole { role: MachineRole::Master, config: path("m.ign"), root: path("m.root") };
    let facts = ConfigServerFacts { certificate: path("tls.crt"), key: path("tls.key"), roles: vec![role] };
    let files = Arc::new(DiskFiles::new(&facts, dir.path().join("progress.json")));
    let machine = crate::testing::machine("bootstrap", "demo-x7k2p-bootstrap", dir.path());
    let lab = lab_with(Arc::new(Bootstrapping::new(files, &machine))).await;
    for _ in 0..20 {
        let answer = lab.response(&Subject::named("m0").credential("root")).await;
        assert_eq!(answer.status(), 503, "Ignition gives up for good on 401");
        assert_eq!(answer.headers()[header::CONNECTION], "close");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(body.starts_with(b"this server cannot read its own files"), "not taken for one that guesses: {body:?}");
    }
}
