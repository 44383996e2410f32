//! Consoles for viewers with a certificate.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{Blueprint, Consoles, Encryption, spawn};
use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::stage::{Stage, bare, id, run};

const RFB: &[u8; 12] = b"RFB 003.008\n";

/// An authority, and what it has signed, in a directory.
struct Authority {
    home: PathBuf,
}

impl Authority {
    fn new(home: &Path, name: &str) -> Self {
        let home = home.join(name);
        std::fs::create_dir_all(&home).unwrap();
        let authority = landfall_testkit::Authority::new(name);
        std::fs::write(home.join("ca.pem"), authority.pem()).unwrap();
        for name in ["server", "viewer"] {
            let (certificate, key) = authority.identity();
            std::fs::write(home.join(format!("{name}.pem")), certificate).unwrap();
            std::fs::write(home.join(format!("{name}.key")), key).unwrap();
        }
        Self { home }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    fn encryption(&self) -> Encryption {
        Encryption::load(&self.file("ca.pem"), &self.file("server.pem"), &self.file("server.key")).unwrap()
    }

    /// A viewer that trusts this authority, and shows a certificate of another one, or of the same, or none.
    fn viewer(&self, signed_by: Option<&Self>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.file("ca.pem")).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match signed_by {
            Some(authority) => {
                let certificate = CertificateDer::from_pem_file(authority.file("viewer.pem")).unwrap();
                let key = PrivateKeyDer::from_pem_file(authority.file("viewer.key")).unwrap();
                config.with_client_auth_cert(vec![certificate], key).unwrap()
            }
            None => config.with_no_client_auth(),
        };
        TlsConnector::from(Arc::new(config))
    }
}

/// A host with a partition, whose console is served with encryption at an address.
struct Served {
    _stage: Stage,
    home: TempDir,
    authority: Authority,
    address: SocketAddr,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Served {
    async fn new() -> Self {
        let home = TempDir::new().unwrap();
        let authority = Authority::new(home.path(), "ours");
        let stage = Stage::with(&["--tools-dir", home.path().to_str().unwrap()]).await;
        spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
        let consoles =
            Consoles::new(stage.host.clone(), Some(home.path().to_owned())).encrypted(authority.encryption());
        let relay = consoles.relay_to(&id("node-0"), (Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let address = relay.address().unwrap();
        Self { _stage: stage, home, authority, address, serving: tokio::spawn(relay.serve()) }
    }

    /// Goes through all that precedes TLS.
    async fn shake_hands(&self) -> TcpStream {
        let mut viewer = TcpStream::connect(self.address).await.unwrap();
        expect(&mut viewer, RFB).await;
        viewer.write_all(RFB).await.unwrap();
        expect(&mut viewer, &[1, 19]).await;
        viewer.write_all(&[19]).await.unwrap();
        expect(&mut viewer, &[0, 2]).await;
        viewer.write_all(&[0, 2]).await.unwrap();
        expect(&mut viewer, &[0, 1, 0, 0, 1, 4]).await;
        viewer.write_all(&[0, 0, 1, 4]).await.unwrap();
        expect(&mut viewer, &[1]).await;
        viewer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn expect(viewer: &mut TcpStream, wanted: &[u8]) {
    let mut seen = vec![0; wanted.len()];
    viewer.read_exact(&mut seen).await.unwrap();
    assert_eq!(seen, wanted);
}

#[tokio::test]
async fn a_viewer_with_a_certificate_sees_the_screen() {
    let served = Served::new().await;
    for _ in 0..2 {
        let connector = served.authority.viewer(Some(&served.authority));
        let stream = served.shake_hands().await;
        let mut viewer = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        // The console is content, and tells its name when the viewer wants to share it.
        assert_eq!(viewer.read_u32().await.unwrap(), 0);
        viewer.write_all(&[1]).await.unwrap();
        let mut screen = [0; 30];
        viewer.read_exact(&mut screen).await.unwrap();
        assert_eq!(&screen[24..], b"node-0");
    }
}

#[tokio::test]
async fn a_viewer_without_a_certificate_of_the_authority_gets_nothing() {
    let served = Served::new().await;
    let theirs = Authority::new(served.home.path(), "theirs");
    for signed_by in [None, Some(&theirs)] {
        let stream = served.shake_hands().await;
        let connected = served.authority.viewer(signed_by).connect("localhost".try_into().unwrap(), stream).await;
        // With TLS 1.3 a client hears of its certificate's refusal only after its own part is done.
        if let Ok(mut viewer) = connected {
            let mut all = Vec::new();
            let ended = viewer.read_to_end(&mut all).await;
            assert!(ended.is_err(), "{ended:?}");
            assert_eq!(all, b"");
        }
    }
}

#[tokio::test]
async fn a_viewer_that_wants_something_else_is_sent_away() {
    let served = Served::new().await;
    // What it is asked, what it should say, what it says instead, and how that is answered.
    let parts: [[&[u8]; 4]; 4] = [
        [RFB, RFB, b"RFB 003.003\n", &[]],
        [&[1, 19], &[19], &[1], &[]],
        [&[0, 2], &[0, 2], &[0, 1], &[1]],
        [&[0, 1, 0, 0, 1, 4], &[0, 0, 1, 4], &[0, 0, 1, 1], &[0]],
    ];
    for (number, [question, _, other, goodbye]) in parts.iter().enumerate() {
        let mut viewer = TcpStream::connect(served.address).await.unwrap();
        for [question, right, ..] in &parts[..number] {
            expect(&mut viewer, question).await;
            viewer.write_all(right).await.unwrap();
        }
        expect(&mut viewer, question).await;
        viewer.write_all(other).await.unwrap();
        let mut rest = Vec::new();
        viewer.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, *goodbye, "part {number}");
    }
}

#[test]
fn what_cannot_be_used_is_said_with_its_file() {
    let home = TempDir::new().unwrap();
    let (ours, theirs) = (Authority::new(home.path(), "ours"), Authority::new(home.path(), "theirs"));
    let nonsense = home.path().join("nonsense.pem");
    std::fs::write(&nonsense, "nonsense").unwrap();
    let broken = home.path().join("broken.pem");
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n").unwrap();
    let missing = home.path().join("missing.pem");
    let (ca, certificate, key) = (ours.file("ca.pem"), ours.file("server.pem"), ours.file("server.key"));
    for (ca, certificate, key, at_fault) in [
        (&missing, &certificate, &key, &missing),
        (&nonsense, &certificate, &key, &nonsense),
        (&broken, &certificate, &key, &broken),
        (&ca, &missing, &key, &missing),
        (&ca, &broken, &key, &broken),
        (&ca, &certificate, &missing, &missing),
        (&ca, &certificate, &certificate, &certificate),
        (&ca, &certificate, &theirs.file("server.key"), &certificate),
    ] {
        let error = error_chain(&Encryption::load(ca, certificate, key).unwrap_err());
        assert!(error.contains(at_fault.to_str().unwrap()), "{error}");
    }
}
