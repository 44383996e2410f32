use std::sync::{Arc, Mutex};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use landfall_assets::MachineRole;
use rustls_pki_types::{PrivateKeyDer, pem::PemObject as _};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{listener, testing};

#[test]
fn what_was_known_last_survives_a_reboot() {
    let dir = tempfile::tempdir().unwrap();
    let machine = testing::machine("master", "demo-x7k2p-master-0", dir.path());
    assert_eq!(remembered(&machine), []);
    let node = ClusterNode {
        name: "demo-x7k2p-master-0".to_owned(),
        role: MachineRole::Master,
        addresses: vec!["198.51.100.21".parse().unwrap()],
        pod_networks: vec!["10.128.0.0/23".parse().unwrap()],
    };
    remember(&machine, std::slice::from_ref(&node));
    assert_eq!(remembered(&machine), std::slice::from_ref(&node));
    remember(&machine, &[]);
    assert_eq!(remembered(&machine), [node], "nobody forgets everything");
    fs::write(file(&machine), "{broken").unwrap();
    assert_eq!(remembered(&machine), [], "a damaged file is as good as none");
}

#[test]
fn one_command_of_a_machine_asks_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let machine = testing::machine("worker", "demo-x7k2p-worker-0", dir.path());
    let within = Duration::from_mins(1);
    assert_eq!(just_remembered(&machine, within), None);
    let node = ClusterNode {
        name: "demo-x7k2p-worker-0".to_owned(),
        role: MachineRole::Worker,
        addresses: Vec::new(),
        pod_networks: Vec::new(),
    };
    remember(&machine, std::slice::from_ref(&node));
    assert_eq!(just_remembered(&machine, within), Some(vec![node.clone()]));
    for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + within] {
        fs::File::options().append(true).open(file(&machine)).unwrap().set_modified(time).unwrap();
        assert_eq!(just_remembered(&machine, within), None, "{time:?}");
    }
    remember(&machine, std::slice::from_ref(&node));
    assert!(just_remembered(&machine, within).is_some(), "the same answer is fresh again");
}

#[test]
fn the_more_machines_the_fewer_questions_of_each() {
    let interval = Duration::from_secs(2);
    assert_eq!(wait(interval, 5), interval);
    assert_eq!(wait(interval, 1000), Duration::from_secs(40));
}

/// An API server that lists what it is told to, to whoever comes with the certificate of its CA.
struct Api {
    list: Arc<Mutex<serde_json::Value>>,
    kubeconfig: std::path::PathBuf,
    stop: CancellationToken,
}

async fn api(directory: &std::path::Path) -> Api {
    let pair = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let kubeconfig = directory.join("kubelet.conf");
    let (port, data) = (listener.local_addr().unwrap().port(), STANDARD.encode(&certificate));
    let text = format!(
        "clusters: [{{cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority-data: {data}}}}}]\n\
         users: [{{user: {{client-certificate-data: {data}, client-key-data: {}}}}}]\n",
        STANDARD.encode(&key)
    );
    fs::write(&kubeconfig, text).unwrap();
    let list = Arc::new(Mutex::new(serde_json::json!({ "items": [] })));
    let (served, stop) = (Arc::clone(&list), CancellationToken::new());
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(listener::serve(listener, acceptor, stop.clone(), move |request, _| {
        assert_eq!(request.uri().path(), "/api/v1/nodes");
        let body = Full::new(Bytes::from(served.lock().unwrap().to_string()));
        std::future::ready(Response::builder().header("content-type", "application/json").body(body).unwrap())
    }));
    Api { list, kubeconfig, stop }
}

fn object(name: &str) -> serde_json::Value {
    serde_json::json!({
        "metadata": { "name": name },
        "spec": { "podCIDRs": ["10.128.0.0/23"] },
        "status": { "addresses": [{ "type": "InternalIP", "address": "198.51.100.31" }] },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_followed_and_the_last_ones_hold_when_the_api_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let machine = testing::machine("worker", "demo-x7k2p-worker-0", dir.path());
    let api = api(dir.path()).await;
    let interval = Duration::from_millis(50);
    let access = || Access::only(&machine, &api.kubeconfig, false);
    let mut known = follow_by(access(), &machine, interval);
    assert_eq!(*known.borrow(), Known::default());

    let limit = Duration::from_secs(30);
    *api.list.lock().unwrap() = serde_json::json!({ "items": [object("a")] });
    let first = timeout(limit, known.wait_for(|known| known.fresh && known.nodes.len() == 1)).await.unwrap().unwrap();
    assert_eq!(first.nodes[0].name, "a");
    drop(first);
    *api.list.lock().unwrap() = serde_json::json!({ "items": [object("a"), object("b")] });
    timeout(limit, known.wait_for(|known| known.nodes.len() == 2)).await.unwrap().unwrap();

    // A list of nobody is not believed, and neither is silence.
    *api.list.lock().unwrap() = serde_json::json!({ "items": [] });
    api.stop.cancel();
    let after = follow_by(access(), &machine, interval);
    assert_eq!(after.borrow().nodes.len(), 2, "also after a restart");
    assert_eq!(known.borrow().nodes.len(), 2);
}
