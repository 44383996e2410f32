//! Light guests in the simulated IBM Cloud: a virtual server gets its config from object storage, its address from a DHCP
//! server, and its connections through a load balancer and a transit gateway.

use std::net::SocketAddr;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use landfall_simulator::core::Running;
use landfall_simulator::powervs;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::network::Network;
use crate::rig::until;

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

struct Account {
    running: Running<powervs::Cloud>,
    token: String,
    workspace: String,
}

const VERSION: &str = "version=2024-01-01&generation=2";

async fn start(flags: &[&str]) -> Running<powervs::Cloud> {
    let common = ["sim", "--http", "--time-scale=1000", "--token-lifetime=1000h"];
    let Flags { options } = Flags::parse_from([&common, flags].concat());
    powervs::start(&options).await.unwrap()
}

impl Account {
    async fn open(flags: &[&str]) -> Self {
        let running = start(flags).await;
        let token = token(&running).await;
        let mut account = Self { running, token, workspace: String::new() };
        let group = account.running.ready()["resource_group_id"].clone();
        let plan = "f165dd34-3a40-423b-9d95-e90a23f724dd";
        let wanted = json!({ "name": "demo", "target": "dal10", "resource_group": group, "resource_plan_id": plan });
        let made = account.post("/resource-controller/v2/resource_instances", &wanted).await;
        account.workspace = made["guid"].as_str().unwrap().to_owned();
        let path = format!("/power/v1/workspaces/{}", account.workspace);
        account.until(&path, "/details/powerEdgeRouter/state", "active").await;
        account
    }

    /// One exchange, with the headers that any of the services wants.
    async fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let url = Url::parse(&format!("{}{path}", self.running.url())).unwrap();
        let crn = format!("crn:v1:staging:public:power-iaas:dal10:a/x:{}::", self.workspace);
        let headers = [("authorization", format!("Bearer {}", self.token)), ("crn", crn)];
        exchange(method, &url, &headers, body).await
    }

    async fn get(&self, path: &str) -> Value {
        self.call("GET", path, "").await.1
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call("POST", path, &body.to_string()).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// A path within the workspace.
    fn within(&self, rest: &str) -> String {
        format!("/power/pcloud/v1/cloud-instances/{}/{rest}", self.workspace)
    }

    async fn until(&self, path: &str, pointer: &str, value: &str) -> Value {
        until(&format!("{value} at {path}"), async || {
            let seen = self.get(path).await;
            if seen.pointer(pointer).and_then(Value::as_str) == Some(value) { Ok(seen) } else { Err(seen.to_string()) }
        })
        .await
    }
}

async fn token(running: &Running<powervs::Cloud>) -> String {
    let url = Url::parse(&format!("{}/iam/identity/token", running.url())).unwrap();
    let key = running.ready()["api_key"].as_str().unwrap().to_owned();
    let form = format!("grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey={key}");
    let (_, answer) = exchange("POST", &url, &[], &form).await;
    answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn exchange(method: &str, url: &Url, headers: &[(&str, String)], body: &str) -> (u16, Value) {
    let server = url.socket_addrs(|| None).unwrap()[0];
    let stream = TcpStream::connect(server).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(&url[url::Position::BeforePath..]);
    request = request.header("host", server.to_string());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let response = sender.send_request(request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into()))
}

/// Puts a config into object storage, and returns where it is.
async fn store(account: &Account, config: &Value) -> String {
    let group = account.running.ready()["resource_group_id"].clone();
    let plan = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87";
    let wanted = json!({ "name": "demo-cos", "target": "Global", "resource_group": group, "resource_plan_id": plan });
    let made = account.post("/resource-controller/v2/resource_instances", &wanted).await;
    let url = |path: &str| Url::parse(&format!("{}/cos{path}", account.running.url())).unwrap();
    let headers = [
        ("authorization", format!("Bearer {}", account.token)),
        ("ibm-service-instance-id", made["crn"].as_str().unwrap().to_owned()),
    ];
    let (status, answer) = exchange("PUT", &url("/demo-ign"), &headers, "").await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = exchange("PUT", &url("/demo-ign/bootstrap"), &headers, &config.to_string()).await;
    assert_eq!(status, 200, "{answer}");
    url("/demo-ign/bootstrap").to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_is_reached_through_a_load_balancer() {
    let network = Network::claim();
    let account = Account::open(&["--guest-network", &network.cidr()]).await;

    // Its config is in object storage, which lets nobody in without a token.
    let files = json!([{ "path": "/etc/hostname", "contents": { "source": "data:,from-storage" } }]);
    let source = store(&account, &json!({ "ignition": { "version": "3.3.0" }, "storage": { "files": files } })).await;
    let header = json!({ "name": "Authorization", "value": format!("Bearer {}", account.token) });
    let pointer = json!({
        "ignition": { "version": "3.3.0", "config": { "replace": { "source": source, "httpHeaders": [header] } } },
    });

    let dhcp =
        account.post(&account.within("services/dhcp"), &json!({ "name": "demo", "cidr": "192.168.9.0/24" })).await;
    let dhcp_path = account.within(&format!("services/dhcp/{}", dhcp["id"].as_str().unwrap()));
    account.until(&dhcp_path, "/status", "ACTIVE").await;
    let image = json!({
        "imageName": "rhcos", "bucketName": "rhcos-powervs-images-us-south", "region": "us-south", "imageFilename": "a.ova.gz",
    });
    let job = account.post(&account.within("cos-images"), &image).await;
    let job = account.within(&format!("jobs/{}", job["id"].as_str().unwrap()));
    account.until(&job, "/status/state", "completed").await;
    let images = account.get(&account.within("images")).await;
    let wanted = json!({
        "serverName": "demo-bootstrap",
        "imageID": images["images"][0]["imageID"],
        "memory": 8,
        "processors": 0.5,
        "procType": "shared",
        "networks": [{ "networkID": dhcp["network"]["id"] }],
        "userData": STANDARD.encode(pointer.to_string()),
    });
    let made = account.post(&account.within("pvm-instances"), &wanted).await;
    let id = made[0]["pvmInstanceID"].as_str().unwrap();
    let server = account.until(&account.within(&format!("pvm-instances/{id}")), "/status", "ACTIVE").await;
    let mac = server["networks"][0]["macAddress"].as_str().unwrap();
    let address = until("the lease", async || {
        let leases = account.get(&dhcp_path).await["leases"].clone();
        let lease = leases.as_array().unwrap().iter().find(|lease| lease["instanceMacAddress"] == mac);
        lease.map(|lease| lease["instanceIP"].as_str().unwrap().to_owned()).ok_or_else(|| leases.to_string())
    })
    .await;
    until("the guest", async || {
        let url = Url::parse(&format!("{}/guests/{id}/console", account.running.admin_url())).unwrap();
        let (_, lines) = exchange("GET", &url, &[], "").await;
        let up = format!("from-storage is up at {address}");
        if lines.to_string().contains(&up) { Ok(()) } else { Err(lines.to_string()) }
    })
    .await;

    // What the machine serves is reached at the load balancer, once everything in between is there.
    let listener = TcpListener::bind(format!("{address}:6443")).await.unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"hello").await.ok();
        }
    });
    let (balancer, hostname) = balance(&account, &address).await;
    assert_eq!(greeting(balancer).await, "");
    join(&account).await;
    until("a connection", async || {
        let seen = greeting(balancer).await;
        if seen == "hello" { Ok(()) } else { Err(seen) }
    })
    .await;

    // Names lead there, too.
    let ready = account.running.ready();
    let zones = format!(
        "/cis/v1/{}/zones",
        url::form_urlencoded::byte_serialize(ready["cis_crn"].as_str().unwrap().as_bytes()).collect::<String>()
    );
    let zone = account.get(&zones).await["result"][0]["id"].as_str().unwrap().to_owned();
    let record = json!({ "type": "CNAME", "name": "api-int.demo.example.com", "content": hostname, "ttl": 60 });
    account.post(&format!("{zones}/{zone}/dns_records"), &record).await;
    let resolver: SocketAddr = ready["name_server"].as_str().unwrap().parse().unwrap();
    let found =
        landfall_node::dns::lookup(resolver, "api-int.demo.example.com", landfall_node::dns::Family::Four).await;
    assert_eq!(found, [balancer.ip()]);
    account.running.stop().await;
}

/// A load balancer for a member; the answer is where it listens, and its name.
async fn balance(account: &Account, address: &str) -> (SocketAddr, String) {
    let vpc = account.post(&format!("/vpc/v1/vpcs?{VERSION}"), &json!({ "name": "demo" })).await;
    let id = vpc["id"].as_str().unwrap();
    account.until(&format!("/vpc/v1/vpcs/{id}?{VERSION}"), "/status", "available").await;
    let wanted = json!({ "name": "demo-1", "vpc": { "id": id }, "zone": { "name": "us-south-1" } });
    let subnet = account.post(&format!("/vpc/v1/subnets?{VERSION}"), &wanted).await["id"].as_str().unwrap().to_owned();
    account.until(&format!("/vpc/v1/subnets/{subnet}?{VERSION}"), "/status", "available").await;
    let group = vpc["default_security_group"]["id"].as_str().unwrap();
    let rule = json!({ "direction": "inbound", "protocol": "tcp", "port_min": 6443, "port_max": 6443 });
    account.post(&format!("/vpc/v1/security_groups/{group}/rules?{VERSION}"), &rule).await;
    let wanted = json!({
        "name": "demo-int",
        "is_public": false,
        "subnets": [{ "id": subnet }],
        "pools": [{
            "name": "api",
            "algorithm": "round_robin",
            "protocol": "tcp",
            "health_monitor": { "delay": 5, "max_retries": 2, "timeout": 2, "type": "tcp" },
            "members": [{ "port": 6443, "target": { "address": address } }],
        }],
        "listeners": [{ "port": 6443, "protocol": "tcp", "default_pool": { "name": "api" } }],
    });
    let made = account.post(&format!("/vpc/v1/load_balancers?{VERSION}"), &wanted).await;
    let path = format!("/vpc/v1/load_balancers/{}?{VERSION}", made["id"].as_str().unwrap());
    account.until(&path, "/provisioning_status", "active").await;
    let address = made["private_ips"][0]["address"].as_str().unwrap();
    (format!("{address}:6443").parse().unwrap(), made["hostname"].as_str().unwrap().to_owned())
}

/// Joins the only VPC and the only workspace.
async fn join(account: &Account) {
    let version = "version=2024-01-01";
    let wanted = json!({ "name": "demo-tg", "location": "us-south" });
    let gateway = account.post(&format!("/transit/v1/transit_gateways?{version}"), &wanted).await;
    let gateway = format!("/transit/v1/transit_gateways/{}", gateway["id"].as_str().unwrap());
    account.until(&format!("{gateway}?{version}"), "/status", "available").await;
    let vpc = account.get(&format!("/vpc/v1/vpcs?{VERSION}")).await["vpcs"][0]["crn"].clone();
    let path = format!("/resource-controller/v2/resource_instances/{}", account.workspace);
    let workspace = account.get(&path).await["crn"].clone();
    for (kind, network) in [("vpc", vpc), ("power_virtual_server", workspace)] {
        let wanted = json!({ "network_type": kind, "network_id": network, "name": kind });
        account.post(&format!("{gateway}/connections?{version}"), &wanted).await;
    }
    for number in 0..2 {
        account
            .until(&format!("{gateway}/connections?{version}"), &format!("/connections/{number}/status"), "attached")
            .await;
    }
}

/// What is said to whoever connects; nothing if nobody is there.
async fn greeting(server: SocketAddr) -> String {
    let Ok(mut stream) = TcpStream::connect(server).await else { return String::new() };
    let mut said = [0; 5];
    match stream.read_exact(&mut said).await {
        Ok(_) => String::from_utf8_lossy(&said).into_owned(),
        Err(_) => String::new(),
    }
}

#[tokio::test]
async fn an_account_is_the_same_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    let flags = ["--guests=plain", "--state", file.to_str().unwrap()];
    let account = Account::open(&flags).await;
    let wanted = json!({ "name": "demo", "cidr": "192.168.9.0/24" });
    let made = account.post(&account.within("services/dhcp"), &wanted).await;
    let (workspace, token) = (account.workspace.clone(), account.token.clone());
    account.running.stop().await;

    let account = Account { running: start(&flags).await, token, workspace };
    let path = account.within(&format!("services/dhcp/{}", made["id"].as_str().unwrap()));
    let server = account.until(&path, "/status", "ACTIVE").await;
    assert_eq!(server["network"], made["network"]);
    account.running.stop().await;
}
