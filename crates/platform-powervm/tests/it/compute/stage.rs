//! A simulated host with a connection to it, and partitions to be made there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use landfall_engine::RetryPolicy;
use landfall_platform_powervm::Client;
use landfall_platform_powervm::client::{ConsoleUrl, JobLimits, Login};
use landfall_platform_powervm::compute::{
    Blueprint, ConfigDrive, Disk, DiskPlace, Host, Image, Mac, Memory, Network, Nic, OperatingSystem, PartitionId,
    PartitionSpec, Processors, Run, Shape,
};
use landfall_wire::{Limits, Request, Trust};
use serde_json::json;

use crate::scene::{JOBS, Scene};

/// The image that partitions are made from, under a name that says that it is a copy in a cache.
pub(crate) const IMAGE: &str = "image_rhcos-4.19_0123456789abcdef0123456789abcdef";

/// A host, and the scene that it is in.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) host: Arc<Host>,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(flags: &[&str]) -> Self {
        let scene = Scene::with(flags).await;
        let host = Host::connect(Arc::new(scene.client()), None, JOBS).await.unwrap();
        Self { scene, host: Arc::new(host) }
    }

    /// With a connection that gives jobs two seconds, which is a hundred times as long as they take.
    pub(crate) async fn impatient() -> Self {
        let scene = Scene::new().await;
        let jobs = JobLimits { timeout: Duration::from_secs(2), ..JOBS };
        let host = Host::connect(Arc::new(scene.client()), None, jobs).await.unwrap();
        Self { scene, host: Arc::new(host) }
    }

    /// Sets elements of a partition that no client can set.
    pub(crate) async fn force(&self, name: &str, fields: serde_json::Value) {
        force(self.scene.hosts.admin_url(), name, fields).await;
    }

    /// A program dies with what it does, while the platform has a call of it.
    pub(crate) async fn dies_at<T>(&self, call: &str, doing: impl Future<Output = T>) {
        self.scene.fault(&format!("{} latency=1000000s", call.replace("{id}", "*")));
        let before = self.scene.count(call);
        let reached = async {
            while self.scene.count(call) == before {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let dies = async {
            tokio::select! {
                _ = doing => panic!("it never called {call}"),
                () = reached => {}
            }
        };
        tokio::time::timeout(Duration::from_mins(5), dies).await.unwrap();
        self.scene.hosts.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }

    /// An image of some mebibytes.
    pub(crate) fn image(&self, name: &str) -> Image {
        image(self.scene.home.path(), name)
    }

    /// A partition with a disk from an image in the pool, a network adapter and a config drive.
    pub(crate) fn blueprint(&self, name: &str) -> Blueprint {
        blueprint(self.scene.home.path(), name)
    }
}

/// Sets elements of a partition of the first host that no client can set.
pub(crate) async fn force(admin: &str, name: &str, fields: serde_json::Value) {
    administer(&format!("{admin}/powervm/hosts/0/partitions/{name}"), fields.to_string()).await;
}

/// Adds a fault.
pub(crate) async fn fault(admin: &str, rule: &str) {
    administer(&format!("{admin}/faults"), json!({"rule": rule}).to_string()).await;
}

pub(crate) async fn administer(url: &str, body: String) {
    let client = landfall_wire::Client::new(&Trust::System, Limits::default()).unwrap();
    let request = Request::post(url.parse().unwrap(), body.into()).header("content-type", "application/json");
    let reply = client.send(request).await.unwrap();
    assert!(reply.status() < 300, "{url}: {}", reply.status());
}

/// The second host of a scene, which has an address of its own.
pub(crate) async fn second(stage: &Stage) -> Arc<Host> {
    let url = stage.scene.hosts.ready()["hosts"][1]["url"].as_str().map(str::to_owned);
    let url = url.unwrap_or_else(|| panic!("{}", stage.scene.hosts.ready()));
    let trust = stage.scene.hosts.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
    let login = Login::Password { user: "admin".to_owned(), password: "landfall".into() };
    let client = Client::new(ConsoleUrl::parse(&url).unwrap(), &trust, Limits::default(), login).unwrap();
    Arc::new(Host::connect(Arc::new(client), None, JOBS).await.unwrap())
}

fn image(home: &Path, name: &str) -> Image {
    let file: PathBuf = home.join(name);
    if !file.exists() {
        std::fs::write(&file, vec![9; 2 << 20]).unwrap();
    }
    Image { name: name.to_owned(), file }
}

/// A partition with a disk from an image in the pool, a network adapter and a config drive.
pub(crate) fn blueprint(home: &Path, name: &str) -> Blueprint {
    let id = id(name);
    let boot = Disk {
        name: "boot".to_owned(),
        gib: 10.0,
        place: DiskPlace::Pool { pool: None, tier: None },
        image: Some(image(home, IMAGE)),
    };
    Blueprint {
        nics: vec![Nic { mac: Mac::of(&id, 0), network: bridged(100) }],
        disks: vec![boot],
        config_drive: Some(drive(name)),
        ..bare(name)
    }
}

/// The id of the partition of a name: always the same.
pub(crate) fn id(name: &str) -> PartitionId {
    let mut bytes = [0x11; 16];
    for (byte, letter) in bytes.iter_mut().rev().zip(name.bytes().rev()) {
        *byte = letter;
    }
    uuid::Uuid::from_bytes(bytes).into()
}

/// A partition with nothing, which is not switched on.
pub(crate) fn bare(name: &str) -> Blueprint {
    Blueprint {
        partition: PartitionSpec {
            id: id(name),
            name: name.to_owned(),
            mark: Some("demo-x7k2p".to_owned()),
            shape: shape(),
            system: OperatingSystem::AixLinux,
        },
        disks: Vec::new(),
        nics: Vec::new(),
        volumes: Vec::new(),
        fibre_ports: Vec::new(),
        config_drive: None,
        power_on: true,
    }
}

pub(crate) fn shape() -> Shape {
    Shape {
        memory: Memory::fixed(2048),
        processors: Processors::shared(2, 0.1),
        compatibility_mode: None,
        availability_priority: None,
        remote_restart: None,
    }
}

pub(crate) fn drive(name: &str) -> ConfigDrive {
    ConfigDrive::Files {
        meta_data: json!({"uuid": id(name).as_str(), "hostname": name}),
        network_data: Some(json!({"links": [], "networks": [], "services": []})),
        user_data: Some(r#"{"ignition":{"version":"3.4.0"}}"#.into()),
    }
}

pub(crate) fn bridged(vlan: u16) -> Network {
    Network::Bridged { switch: "ETHERNET0".to_owned(), vlan }
}

/// Patience that fits a simulated host.
pub(crate) fn run() -> Run {
    let mut run = Run::default();
    run.options.retry = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };
    run
}
