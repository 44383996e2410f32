//! Partitions are made with all that they have, and go without a trace.

use landfall_platform_powervm::compute::{
    Disk, DiskPlace, OperatingSystem, OperationError, Power, destroy, list, power, spawn,
};

use super::inventory;
use super::stage::{Stage, bare, id, run};

#[tokio::test]
async fn a_partition_is_made_and_goes_without_a_trace() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    let made = inventory::list(&stage.scene.hosts);
    for line in [
        "power-a: partition node-0 running 'demo-x7k2p' 2048 MB",
        "power-a: vios1 shows 'boot_node-0_64652d30' to node-0",
        "power-a: vios2 shows 'boot_node-0_64652d30' to node-0",
    ] {
        assert!(made.iter().any(|found| found.starts_with(line)), "{line} is missing in {made:#?}");
    }
    let partitions = list(&stage.host).await.unwrap();
    assert!(partitions.iter().any(|partition| partition.name == "node-0" && partition.state == "running"));
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
}

#[tokio::test]
async fn one_update_of_each_vios_maps_everything() {
    let stage = Stage::new().await;
    let mut blueprint = stage.blueprint("node-0");
    let data = Disk { name: "data".to_owned(), gib: 5.0, image: None, ..blueprint.disks[0].clone() };
    blueprint.disks.push(data);
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    assert_eq!(stage.scene.count("POST /rest/api/uom/VirtualIOServer/{id}"), 2);
}

#[tokio::test]
async fn a_disk_in_a_volume_group_gets_its_image_too() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let mut blueprint = stage.blueprint("node-0");
    blueprint.disks[0].place = DiskPlace::VolumeGroup { vios: "vios1".to_owned(), group: "datavg".to_owned() };
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    let made = inventory::list(&stage.scene.hosts);
    assert!(made.iter().any(|line| line.contains("vios1 shows 'd00")), "{made:#?}");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn two_partitions_share_an_image_and_the_last_takes_nothing_of_the_first() {
    let stage = Stage::new().await;
    let (one, two) = (stage.blueprint("node-0"), stage.blueprint("node-1"));
    let run = run();
    let made = tokio::join!(spawn(&stage.host, &one, &run), spawn(&stage.host, &two, &run));
    made.0.unwrap();
    made.1.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert_eq!(lines.iter().filter(|line| line.contains("unit image_rhcos-4.19")).count(), 1, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("unit part")), "{lines:#?}");
    destroy(&stage.host, &id("node-1"), &run).await.unwrap();
    let left = inventory::list(&stage.scene.hosts);
    assert!(left.iter().any(|line| line.contains("shows 'boot_node-0")), "{left:#?}");
    assert!(!left.iter().any(|line| line.contains("node-1")), "{left:#?}");
}

#[tokio::test]
async fn an_image_that_somebody_has_put_into_the_pool_outlives_the_disks_that_are_made_from_it() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    assert!(before.iter().any(|line| line.contains("unit fcos ")), "{before:#?}");
    let mut blueprint = stage.blueprint("node-0");
    blueprint.disks[0].image = Some(stage.image("fcos"));
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    // Nor does one that fails take it away.
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn nth=1 status=400 body=platform");
    spawn(&stage.host, &blueprint, &run()).await.unwrap_err();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_name_that_is_taken_is_an_error_and_its_owner_is_left_alone() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let error = spawn(&stage.host, &bare("web1"), &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{error}");
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn ibm_i_is_told_where_to_load_itself_from() {
    let stage = Stage::new().await;
    let mut blueprint = stage.blueprint("node-0");
    blueprint.partition.system = OperatingSystem::IbmI;
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    let path = landfall_platform_powervm::client::Path::entry("LogicalPartition", id("node-0").as_str());
    let entry = stage.scene.client().entry(&path).await.unwrap();
    assert_eq!(entry.text("PartitionType"), "OS400");
    assert!(entry.number::<u32>("PartitionIOConfiguration/TaggedIO/LoadSource").unwrap() > 1, "{}", entry.object);
}

#[tokio::test]
async fn power_goes_on_and_off_and_round() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let is_now = async || stage.scene.client().partition_state(id("node-0").as_str()).await.unwrap().unwrap();
    for (wish, word) in [
        (Power::On, "running"),
        (Power::ShutDown, "not activated"),
        (Power::Off, "not activated"),
        (Power::Reboot, "running"),
        (Power::Reboot, "running"),
        (Power::Reset, "running"),
        (Power::Off, "not activated"),
        (Power::Reset, "running"),
    ] {
        power(&stage.host, &id("node-0"), wish).await.unwrap();
        assert_eq!(is_now().await, word, "after {wish:?}");
    }
    assert!(power(&stage.host, &id("nobody"), Power::Reboot).await.is_err());
}
