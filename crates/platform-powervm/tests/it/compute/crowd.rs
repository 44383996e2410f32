//! Many at once, over two VIOSes that others change too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use landfall_platform::error_chain;
use landfall_platform_powervm::client::Storage;
use landfall_platform_powervm::compute::{Blueprint, Disk, DiskPlace, Host, Volume, attach_volume, spawn};

use super::inventory;
use super::stage::{Stage, bare, drive, run};
use crate::scene::JOBS;

const COUNT: u64 = 50;
/// Files that are sent to a console at once, at most.
const UPLOADS: u64 = 3;
const TARGETS: [&str; 2] = ["500507680B11AAAA", "500507680B22AAAA"];

/// A host with fifty volumes.
fn world() -> String {
    let volumes: Vec<String> = (1..=COUNT)
        .map(|number| {
            format!("{{ name: volume-{number}, wwpns: [{}, {}], lun: {number}, size_gb: 1 }}", TARGETS[0], TARGETS[1])
        })
        .collect();
    format!(
        "hosts:\n  - name: power-a\n    serial: 78A0001\n    memory_mb: 1048576\n    vlans: [100]\n    vioses:\n      - {{ name: vios1, disks_gb: [300] }}\n      - {{ name: vios2, disks_gb: [300] }}\n    volumes: [{}]\n    partitions:\n      - {{ name: web1, memory_mb: 8192, processors: 2 }}\nshared_storage_pool: {{ name: pool1, cluster: cluster1, capacity_gb: 2000 }}\n",
        volumes.join(", ")
    )
}

fn with_disk(name: &str) -> Blueprint {
    let place = DiskPlace::Pool { pool: None, tier: None };
    let disk = Disk { name: "data".to_owned(), gib: 1.0, place, image: None };
    let mut blueprint = Blueprint { disks: vec![disk], power_on: false, ..bare(name) };
    blueprint.partition.shape.memory = landfall_platform_powervm::compute::Memory::fixed(1024);
    blueprint
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_partitions_and_fifty_volumes_at_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), world()).unwrap();
    let stage = Stage::with(&["--inventory", file.path().to_str().unwrap()]).await;
    // A second program, as far as the host can tell: what the two do is in no common order.
    let second = Arc::new(Host::connect(Arc::new(stage.scene.client()), None, JOBS).await.unwrap());
    let host = |number: u64| if number.is_multiple_of(2) { &stage.host } else { &second };
    let client = stage.scene.client();
    let vioses = client.vioses(&[]).await.unwrap();
    let web = client.partition_named("web1").await.unwrap().unwrap();
    client.map(&vioses[0].partition.id, &web.id, &Storage::PhysicalVolume("hdisk0".to_owned())).await.unwrap();
    let owners = join_all((1..=COUNT).map(|number| {
        let (blueprint, run) = (Blueprint { disks: Vec::new(), ..with_disk(&format!("old-{number}")) }, run());
        async move { spawn(host(number), &blueprint, &run).await }
    }));
    for made in owners.await {
        made.unwrap();
    }

    stage.scene.fault("POST /rest/api/uom/VirtualIOServer/* probability=0.1 status=412 body=platform");
    let done = AtomicBool::new(false);
    // Somebody else maps and unmaps all the time.
    let disturber = async {
        let disk = Storage::PhysicalVolume("hdisk0".to_owned());
        while !done.load(Ordering::Relaxed) {
            client.map(&vioses[1].partition.id, &web.id, &disk).await.unwrap();
            client.unmap(&vioses[1].partition.id, &web.id, Some(&disk)).await.unwrap();
        }
    };
    let spawns = join_all((1..=COUNT).map(|number| {
        let (blueprint, run) = (with_disk(&format!("new-{number}")), run());
        async move { spawn(host(number), &blueprint, &run).await }
    }));
    let volumes = join_all((1..=COUNT).map(|number| {
        let partition = super::stage::id(&format!("old-{number}"));
        let targets = TARGETS.map(str::to_owned).to_vec();
        let volume = Volume { id: format!("volume-{number}"), targets, lun: number, device: None };
        let run = run();
        async move { attach_volume(host(number), &partition, &volume, &run).await }
    }));
    let work = async {
        let outcome = tokio::join!(spawns, volumes);
        done.store(true, Ordering::Relaxed);
        outcome
    };
    let ((new, attached), ()) = tokio::join!(work, disturber);
    for result in new {
        result.unwrap_or_else(|error| panic!("{}", error_chain(&error)));
    }
    for result in attached {
        let device = result.unwrap_or_else(|error| panic!("{}", error_chain(&error)));
        assert!(device.starts_with("01"), "{device}");
    }

    let lines = inventory::list(&stage.scene.hosts);
    for number in 1..=COUNT {
        for (vios, words) in [("vios1", format!("to new-{number}")), ("vios2", format!("to new-{number}"))] {
            let shown =
                |line: &&String| line.contains(&format!("{vios} shows 'data_new-{number}_")) && line.ends_with(&words);
            assert_eq!(lines.iter().filter(shown).count(), 1, "{vios} {words}");
        }
        let owned = |line: &&String| line.ends_with(&format!("to old-{number}"));
        assert_eq!(lines.iter().filter(owned).count(), 2, "old-{number}");
    }
    assert!(lines.contains(&"power-a: vios1 shows 'hdisk0' to web1".to_owned()));
    let updates = stage.scene.count("POST /rest/api/uom/VirtualIOServer/{id}");
    assert!(updates > 0);
}

#[tokio::test]
async fn a_console_gets_no_more_files_at_once_than_it_takes() {
    let stage = Stage::with(&["--time-scale", "100"]).await;
    stage.scene.fault("PUT /rest/api/web/File/contents/* latency=10s");
    let spawns = join_all((0..8).map(|number| {
        let (name, run) = (format!("node-{number}"), run());
        let config_drive = Some(drive(&name));
        let blueprint = Blueprint { config_drive, power_on: false, ..bare(&name) };
        let host = &stage.host;
        async move { spawn(host, &blueprint, &run).await.unwrap() }
    }));
    let mut most = 0;
    let watch = async {
        loop {
            let counts = stage.scene.hosts.request_counts();
            let count = |call: &str| counts.get(call).copied().unwrap_or_default();
            // Whoever uploads a file deletes the note of it afterwards.
            let (begun, ended) =
                (count("PUT /rest/api/web/File/contents/{id}"), count("DELETE /rest/api/web/File/{id}"));
            most = most.max(begun.saturating_sub(ended));
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = spawns => {}
        () = watch => {}
    }
    assert!((1..=UPLOADS).contains(&most), "{most} at once");
    assert_eq!(stage.scene.count("PUT /rest/api/web/File/contents/{id}"), 8);
}
