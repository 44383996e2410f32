//! Light guests in the oVirt simulator: a VM gets its config through the engine's API.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use landfall_simulator::core::Running;
use landfall_simulator::ovirt;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use url::Url;

use crate::client::Client;
use crate::cluster::Assets;
use crate::network::Network;
use crate::rig::until;

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: ovirt::Options,
}

pub(crate) struct Engine(Running<ovirt::Engine>);

impl Engine {
    pub(crate) async fn start(network: &Network, flags: &[&str]) -> Self {
        let cidr = network.cidr();
        let common = ["sim", "--http", "--time-scale=200", "--guest-network", &cidr];
        let Flags { options } = Flags::parse_from([&common, flags].concat());
        Self(ovirt::start(&options).await.unwrap())
    }

    pub(crate) async fn api(&self, method: &str, path: &str, body: &Value) -> Value {
        let password = self.0.ready()["password"].as_str().unwrap().to_owned();
        let credentials = STANDARD.encode(format!("admin@internal:{password}"));
        let url = format!("{}/ovirt-engine/api{path}", self.0.url());
        call(method, &url, Some(&credentials), body).await
    }

    pub(crate) async fn admin(&self, method: &str, path: &str, body: &Value) -> Value {
        call(method, &format!("{}{path}", self.0.admin_url()), None, body).await
    }

    /// Makes a VM that boots with an Ignition config, and returns its id.
    pub(crate) async fn vm(&self, name: &str, config: &str) -> String {
        let clusters = self.api("GET", "/clusters", &Value::Null).await;
        let vm = json!({
            "name": name,
            "cluster": { "id": clusters["cluster"][0]["id"] },
            "template": { "name": "fcos" },
            "os": { "type": "rhcos_x64" },
            "initialization": { "custom_script": config },
        });
        let vm = self.api("POST", "/vms", &vm).await;
        let id = vm["id"].as_str().unwrap_or_else(|| panic!("{vm}")).to_owned();
        self.until(&id, "down").await;
        let interface = json!({ "name": "nic1", "vnic_profile": { "id": self.profile().await } });
        self.api("POST", &format!("/vms/{id}/nics"), &interface).await;
        self.api("POST", &format!("/vms/{id}/start"), &json!({})).await;
        id
    }

    pub(crate) async fn stop(self) {
        self.0.stop().await;
    }

    async fn profile(&self) -> Value {
        self.api("GET", "/vnicprofiles", &Value::Null).await["vnic_profile"][0]["id"].clone()
    }

    pub(crate) async fn until(&self, id: &str, status: &str) {
        until(&format!("status {status}"), async || {
            let vm = self.api("GET", &format!("/vms/{id}"), &Value::Null).await;
            if vm["status"] == status { Ok(()) } else { Err(vm["status"].to_string()) }
        })
        .await;
    }

    pub(crate) async fn console(&self, id: &str) -> String {
        self.admin("GET", &format!("/guests/{id}/console"), &Value::Null).await.to_string()
    }
}

async fn call(method: &str, url: &str, credentials: Option<&str>, body: &Value) -> Value {
    let url = Url::parse(url).unwrap();
    let server = url.socket_addrs(|| None).unwrap()[0];
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(TcpStream::connect(server).await.unwrap())).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(&url[url::Position::BeforePath..])
        .header("host", server.to_string())
        .header("accept", "application/json")
        .header("content-type", "application/json");
    if let Some(credentials) = credentials {
        request = request.header("authorization", format!("Basic {credentials}"));
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vms_become_the_cluster_that_their_configs_describe() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let engine = Engine::start(&network, &[]).await;
    let bootstrap = engine.vm("demo-x7k2p-bootstrap", &assets.bootstrap()).await;
    let mut machines = Vec::new();
    for name in ["master-0", "master-1", "master-2", "worker-0"] {
        let name = format!("{}-{name}", assets.infra_id);
        let (_, role) =
            name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-').rsplit_once('-').unwrap();
        machines.push(engine.vm(&name, &assets.pointer(role, &name)).await);
    }
    let admin = Client::admin(&assets);
    until("all nodes", async || match admin.ready_nodes().await {
        Ok(ready) if ready.len() == 4 && !ready.iter().any(|name| name.ends_with("bootstrap")) => Ok(()),
        other => Err(format!("{other:?}, {}", engine.console(&bootstrap).await)),
    })
    .await;
    for id in &machines {
        engine.until(id, "up").await;
    }
    let devices = engine.api("GET", &format!("/vms/{}/reporteddevices", machines[0]), &Value::Null).await;
    let address =
        devices["reported_device"][0]["ips"]["ip"][0]["address"].as_str().unwrap_or_else(|| panic!("{devices}"));
    assert!(address.starts_with("127."), "{address}");

    engine.api("POST", &format!("/vms/{bootstrap}/stop"), &json!({})).await;
    engine.until(&bootstrap, "down").await;
    engine.api("DELETE", &format!("/vms/{bootstrap}"), &Value::Null).await;
    until("the API without the bootstrap machine", async || admin.get("/readyz").await.map(drop)).await;
    let listed = engine.admin("GET", "/guests", &Value::Null).await;
    assert_eq!(listed["guests"].as_array().map(Vec::len), Some(4), "{listed}");
    assert!(
        engine.console(&bootstrap).await.contains("landfall-node bootstrap: complete"),
        "consoles outlive machines"
    );

    engine.0.stop().await;
    until("silence", async || match admin.get("/readyz").await {
        Err(_) => Ok(()),
        Ok(answer) => Err(format!("{answer:?}")),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guests_misbehave_by_option_and_by_admin_call() {
    let network = Network::claim();
    let engine = Engine::start(&network, &["--guest-fault", "dead never-boots"]).await;
    let empty = r#"{"ignition":{"version":"3.3.0"}}"#;
    let dead = engine.vm("dead", empty).await;
    until("its console", async || {
        let console = engine.console(&dead).await;
        if console.contains("finds nothing that boots") { Ok(()) } else { Err(console) }
    })
    .await;

    let wrong = engine.admin("PUT", "/guests/faults", &json!(["mute"])).await;
    assert!(wrong["error"].as_str().unwrap().contains("a part of a name and an effect"), "{wrong}");
    let set = engine.admin("PUT", "/guests/faults", &json!(["mute silent-agent"])).await;
    assert_eq!(set["faults"], json!([{ "name": "mute", "effect": "silent-agent" }]));
    let mute = engine.vm("mute", empty).await;
    let loud = engine.vm("loud", empty).await;
    for id in [&mute, &loud] {
        engine.until(id, "up").await;
    }
    let devices = async |id: &str| engine.api("GET", &format!("/vms/{id}/reporteddevices"), &Value::Null).await;
    until("what the agent of one says", async || {
        let said = devices(&loud).await;
        if said["reported_device"].is_array() { Ok(()) } else { Err(said.to_string()) }
    })
    .await;
    assert!(devices(&mute).await["reported_device"].is_null());
}
