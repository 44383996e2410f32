//! Fleets of machines on a real API server and a simulated engine: time to settle, calls of the platform, and what the controllers cost at rest.
//!
//! The controllers are a process of their own, so that their memory and processor time can be told from the simulator's.
//! `FLEET_SIZES` chooses the numbers of machines.

#![allow(clippy::disallowed_methods, reason = "measurements write what need not survive")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::default_trait_access,
    clippy::too_many_lines,
    missing_docs,
    reason = "a benchmark"
)]

use std::{
    collections::BTreeMap,
    process::{Child, Command},
    time::{Duration, Instant},
};

use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use landfall_machine_api::{Kind, definition, provider};
use landfall_machines::{Access, Arguments, MachineSet, Metrics, connect};
use landfall_platform::MachineProvider;
use landfall_simulator::{core::Running, ovirt};
use landfall_testkit::ControlPlane;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const PASSWORD: &str = "landfall";
const NAMESPACE: &str = "landfall-system";
/// Simulated seconds per second: an engine's own slowness is not what is measured. Not more, since logins of the engine end after half an hour of
/// its time, and at rest they should last as they do in a cluster.
const TIME_SCALE: &str = "50";
/// Between two listings, as in a cluster.
const SYNC_SECONDS: u64 = 30;
/// How long the controllers are watched at rest.
const REST: Duration = Duration::from_secs(2 * SYNC_SECONDS);

#[derive(clap::Parser)]
struct Simulated {
    #[command(flatten)]
    options: ovirt::Options,
}

#[derive(clap::Parser)]
struct Controlling {
    #[command(flatten)]
    arguments: Arguments,
}

fn main() {
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if arguments.get(1).is_some_and(|argument| argument == "controller") {
        return runtime.block_on(controller(&arguments[1..]));
    }
    let sizes = std::env::var("FLEET_SIZES").unwrap_or_else(|_| "1000 10000".to_owned());
    println!(
        "{:>8}  {:>9}  {:>14}  {:>13}  {:>10}  {:>9}",
        "machines", "settle", "calls/machine", "calls/h rest", "RSS", "CPU rest"
    );
    for size in sizes.split_whitespace() {
        runtime.block_on(measure(size.parse().unwrap()));
    }
}

async fn controller(arguments: &[String]) {
    let Controlling { arguments } = <Controlling as clap::Parser>::parse_from(arguments);
    let providers: Vec<std::sync::Arc<dyn MachineProvider>> =
        vec![std::sync::Arc::new(landfall_platform_ovirt::Provider)];
    arguments.run(providers, Metrics::default(), CancellationToken::new()).await.unwrap();
}

async fn measure(machines: usize) {
    let control_plane = tokio::task::block_in_place(ControlPlane::start);
    let engine = engine(machines).await;
    let kubeconfig = control_plane.kubeconfig();
    let client = connect(Access::Kubeconfig(std::fs::read_to_string(&kubeconfig).unwrap(), None)).await.unwrap();
    prepare(&client, &engine).await;
    let set = set(&client, machines).await;
    let begun = Instant::now();
    let mut controllers = Ended(
        Command::new(std::env::current_exe().unwrap())
            .args(["controller", "--infra-id", "bench-x7k2p", "--operations", "100", "--kubeconfig"])
            .arg(&kubeconfig)
            .args(["--sync-interval", &SYNC_SECONDS.to_string()])
            .spawn()
            .unwrap(),
    );
    loop {
        let made = provisioned(&client).await;
        if made == machines {
            break;
        }
        assert!(controllers.0.try_wait().unwrap().is_none(), "the controllers ended");
        // A listing takes the API server longer the more machines there are.
        tokio::time::sleep(Duration::from_millis(500) * u32::try_from(machines / 1000 + 1).unwrap()).await;
    }
    let settled = begun.elapsed();
    let calls = requests(&engine);
    // What follows from the last creations comes to rest first.
    tokio::time::sleep(Duration::from_secs(SYNC_SECONDS)).await;
    let (before, cpu) = (requests(&engine), processor_seconds(controllers.0.id()));
    tokio::time::sleep(REST).await;
    let per_hour = (requests(&engine) - before) as f64 * 3600.0 / REST.as_secs_f64();
    let load = (processor_seconds(controllers.0.id()) - cpu) / REST.as_secs_f64() * 100.0;
    println!(
        "{machines:>8}  {:>8.1}s  {:>14.2}  {per_hour:>13.0}  {:>6} MiB  {load:>8.2}%",
        settled.as_secs_f64(),
        calls as f64 / machines as f64,
        resident_mib(controllers.0.id()),
    );
    drop(set);
}

/// A process that ends with the measurement.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ended = self.0.kill().and_then(|()| self.0.wait().map(drop));
    }
}

/// An engine whose hosts and storage have room.
async fn engine(machines: usize) -> Running<ovirt::Engine> {
    let memory = machines + 100;
    let inventory = ovirt::DEFAULT_INVENTORY.replace("size_gib: 10240", "size_gib: 100000000");
    let inventory = inventory.replace(
        "address: host1.example.com",
        &format!("address: host1.example.com\n            memory_gib: {memory}"),
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("inventory.yaml");
    std::fs::write(&file, inventory).unwrap();
    let arguments = [
        "sim",
        "--password",
        PASSWORD,
        "--time-scale",
        TIME_SCALE,
        "--guests",
        "plain",
        "--inventory",
        file.to_str().unwrap(),
    ];
    let Simulated { options } = <Simulated as clap::Parser>::parse_from(arguments);
    ovirt::start(&options).await.unwrap()
}

async fn prepare(client: &Client, engine: &Running<ovirt::Engine>) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for kind in Kind::ALL {
        let definition = definition(kind, provider::schema("ovirt").as_ref());
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        definitions.patch(&name, &PatchParams::apply("bench"), &Patch::Apply(&definition)).await.unwrap();
    }
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(NAMESPACE.to_owned());
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let credentials = [
        ("ovirt_url", format!("{}/ovirt-engine/api", engine.url())),
        ("ovirt_username", "admin@internal".to_owned()),
        ("ovirt_password", PASSWORD.to_owned()),
        ("ovirt_ca_bundle", engine.ca_pem().unwrap().to_owned()),
    ];
    for (name, keys) in
        [("credentials", credentials.to_vec()), ("worker-user-data", vec![("userData", "{}".to_owned())])]
    {
        let mut secret = Secret::default();
        secret.metadata.name = Some(name.to_owned());
        let keys: BTreeMap<_, _> =
            keys.into_iter().map(|(key, value)| (key.to_owned(), ByteString(value.into_bytes()))).collect();
        secret.data = Some(keys);
        Api::<Secret>::namespaced(client.clone(), NAMESPACE).create(&PostParams::default(), &secret).await.unwrap();
    }
    let trust = landfall_wire::Trust::Only(engine.ca_pem().unwrap().to_owned());
    let http = landfall_wire::Client::new(&trust, landfall_wire::Limits::default()).unwrap();
    let url = format!("{}/ovirt-engine/api/tags", engine.url()).parse().unwrap();
    let tag = landfall_wire::Request::json(landfall_wire::Method::POST, url, &json!({ "name": "bench-x7k2p" }));
    let basic = "Basic YWRtaW5AaW50ZXJuYWw6bGFuZGZhbGw=";
    http.send(tag.accept_json().header("authorization", basic)).await.unwrap();
}

async fn set(client: &Client, machines: usize) -> MachineSet {
    let labels = json!({ "machine.openshift.io/cluster-api-machineset": "bench-x7k2p-worker" });
    let value = json!({
        "kind": "OvirtMachineProviderSpec",
        "userDataSecret": { "name": "worker-user-data" }, "credentialsSecret": { "name": "credentials" },
        "template_name": "fcos", "cluster_id": "7a5b0000-0000-4000-8000-0000000c1a01",
        "cpu": { "sockets": 1, "cores": 1, "threads": 1 }, "memory_mb": 1024, "guaranteed_memory_mb": 256,
        "os_disk": { "size_gb": 10 }, "type": "server", "clone": false,
    });
    let set: MachineSet = serde_json::from_value(json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": { "name": "bench-x7k2p-worker" },
        "spec": {
            "replicas": machines, "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "providerSpec": { "value": value } } },
        },
    }))
    .unwrap();
    let sets: Api<MachineSet> = Api::namespaced(client.clone(), NAMESPACE);
    for attempt in 0.. {
        match sets.create(&PostParams::default(), &set).await {
            Ok(set) => return set,
            Err(error) => assert!(attempt < 60, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    unreachable!("it returns or panics")
}

/// How many machines have an instance. In pages, so that looking does not slow down what is looked at.
async fn provisioned(client: &Client) -> usize {
    let machines: Api<landfall_machines::Machine> = Api::namespaced(client.clone(), NAMESPACE);
    let (mut made, mut page) = (0, ListParams::default().limit(1000));
    loop {
        let list = machines.list(&page).await.unwrap();
        made += list.items.iter().filter(|machine| machine.provider_id().is_some()).count();
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = ListParams::default().limit(1000).continue_token(&token),
            None => return made,
        }
    }
}

fn requests(engine: &Running<ovirt::Engine>) -> u64 {
    engine.request_counts().values().sum()
}

/// User and system time of a process, from its `stat` file.
fn processor_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

fn resident_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
