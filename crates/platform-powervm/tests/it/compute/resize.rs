//! Another shape of a partition, and what a server has.

use landfall_platform_powervm::compute::{
    DiskPlace, Growth, Memory, OperationError, Processors, Shape, adopt, resize, resources, spawn,
};
use landfall_simulator::core::Simulation as _;

use super::inventory;
use super::stage::{Stage, bare, id, run, second, shape};

#[tokio::test]
async fn a_partition_gets_another_shape_and_runs_again() {
    let stage = Stage::new().await;
    let free = resources(&stage.host).await.unwrap();
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let larger = Shape { memory: Memory::fixed(4096), processors: Processors::dedicated(2), ..shape() };
    resize(&stage.host, &id("node-0"), &larger, &[], &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.contains(&"power-a: partition node-0 running 'demo-x7k2p' 4096 MB".to_owned()), "{lines:#?}");
    let used = resources(&stage.host).await.unwrap();
    assert_eq!(used.memory_used_mib - free.memory_used_mib, 4096);
    assert!((used.processors_used - free.processors_used - 2.0).abs() < 1e-6, "{used:?}");
    assert!(used.storage_gib > 0.0);
}

#[tokio::test]
async fn a_shape_that_does_not_fit_is_undone() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let huge = Shape { memory: Memory::fixed(1 << 30), ..shape() };
    let error = resize(&stage.host, &id("node-0"), &huge, &[], &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{}", landfall_platform::error_chain(&error));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    // One that fits, but then it does not start.
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn nth=1 status=400 body=platform");
    let larger = Shape { memory: Memory::fixed(4096), ..shape() };
    resize(&stage.host, &id("node-0"), &larger, &[], &run()).await.unwrap_err();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

fn boot_disk(gib: f64) -> Growth {
    Growth {
        number: 0,
        name: "boot".to_owned(),
        place: DiskPlace::Pool { pool: None, tier: None },
        gib,
        or_larger: false,
    }
}

/// How large the disk in the pool is, once for the pool itself and once for everything that shows it.
fn sizes(stage: &Stage) -> Vec<String> {
    let world = stage.scene.hosts.world().view(|hosts, _| hosts.snapshot());
    let mut sizes = Vec::new();
    let mut open = vec![&world];
    while let Some(value) = open.pop() {
        let field = |name: &str| {
            let mut all = value["c"].as_array().into_iter().flatten();
            all.find(|child| child["n"] == name).and_then(|child| child["t"].as_str()).unwrap_or_default()
        };
        if value["n"] == "LogicalUnit" && field("UnitName").starts_with("boot_") {
            sizes.push(field("UnitCapacity").to_owned());
        }
        open.extend(value.as_object().into_iter().flat_map(|fields| fields.values()));
        open.extend(value.as_array().into_iter().flatten());
    }
    sizes
}

#[tokio::test]
async fn a_disk_in_a_pool_grows() {
    let stage = Stage::new().await;
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    assert_eq!(vec!["10"; 3], sizes(&stage), "the pool and two VIOSes");
    resize(&stage.host, &id("node-0"), &shape(), &[boot_disk(12.5)], &run()).await.unwrap();
    assert_eq!(vec!["12.5"; 3], sizes(&stage));
    let jobs = stage.scene.count("PUT /rest/api/uom/Cluster/{id}/do/GrowLogicalUnit");
    resize(&stage.host, &id("node-0"), &shape(), &[boot_disk(12.5)], &run()).await.unwrap();
    assert_eq!(jobs, stage.scene.count("PUT /rest/api/uom/Cluster/{id}/do/GrowLogicalUnit"), "it is as large");
}

#[tokio::test]
async fn a_disk_that_would_become_smaller_is_refused_before_anything_is_changed() {
    let stage = Stage::new().await;
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let writes = stage.scene.writes();
    let larger = Shape { memory: Memory::fixed(4096), ..shape() };
    let missing = Growth { name: "data".to_owned(), number: 1, ..boot_disk(12.0) };
    for (growth, reason) in [(boot_disk(9.5), "it has 10 GiB"), (missing, "there is no logical unit data_node-0")] {
        let error = resize(&stage.host, &id("node-0"), &larger, &[growth], &run()).await.unwrap_err();
        let text = landfall_platform::error_chain(&error);
        assert!(matches!(error, OperationError::Refused { .. }) && text.contains(reason), "{text}");
    }
    assert_eq!((before, writes), (inventory::list(&stage.scene.hosts), stage.scene.writes()));
    // Unless a larger one is as good: one that has grown and whose partition was given its old shape again.
    let growth = Growth { or_larger: true, ..boot_disk(9.5) };
    resize(&stage.host, &id("node-0"), &larger, &[growth], &run()).await.unwrap();
    assert_eq!(vec!["10"; 3], sizes(&stage));
}

#[tokio::test]
async fn a_disk_grows_when_it_is_adopted() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let mut blueprint = stage.blueprint("node-0");
    blueprint.power_on = false;
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    blueprint.disks[0].gib = 20.0;
    adopt(&target, &blueprint, &run()).await.unwrap();
    assert_eq!(vec!["20"; 5], sizes(&stage), "the pool, and two VIOSes of each server");
    blueprint.disks[0].gib = 5.0;
    adopt(&target, &blueprint, &run()).await.unwrap();
    assert_eq!(vec!["20"; 5], sizes(&stage), "no disk becomes smaller");
}
