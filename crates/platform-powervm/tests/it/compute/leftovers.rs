//! What programs left that died, and whose journals are lost.

use landfall_platform_powervm::compute::{Blueprint, destroy, spawn};

use super::inventory;
use super::stage::{IMAGE, Stage, id, run};

fn has_image(stage: &Stage) -> bool {
    inventory::list(&stage.scene.hosts).iter().any(|line| line.contains(&format!("unit {IMAGE} ")))
}

#[tokio::test]
async fn an_image_whose_last_clone_is_gone_goes_with_the_partition() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    spawn(&stage.host, &Blueprint { power_on: false, ..stage.blueprint("node-0") }, &run()).await.unwrap();
    stage.scene.fault("DELETE /rest/api/uom/Tier/*/LogicalUnit/* nth=2 status=400 body=platform");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap_err();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(has_image(&stage) && !lines.iter().any(|line| line.contains("unit boot_node-0")), "{lines:#?}");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

const SENDING: &str = "PUT /rest/api/web/File/contents/{id}";
const MAKING: &str = "PUT /rest/api/uom/Tier/{id}/LogicalUnit";

#[tokio::test]
async fn what_was_uploaded_goes_with_the_partition() {
    // Of an image, of the unit that it goes into, and of a config drive.
    for (call, with_disk) in [(SENDING, true), (MAKING, true), (SENDING, false)] {
        let stage = Stage::new().await;
        let before = inventory::list(&stage.scene.hosts);
        let (mut blueprint, run) = (stage.blueprint("node-0"), run());
        if with_disk {
            blueprint.config_drive = None;
        } else {
            blueprint.disks.clear();
        }
        stage.dies_at(call, spawn(&stage.host, &blueprint, &run)).await;
        assert_ne!(before, inventory::list(&stage.scene.hosts), "{call}");
        destroy(&stage.host, &id("node-0"), &run).await.unwrap();
        assert_eq!(before, inventory::list(&stage.scene.hosts), "{call}");
    }
}

#[tokio::test]
async fn an_image_that_somebody_else_uses_or_uploads_stays() {
    let stage = Stage::new().await;
    let with_disk = |name| Blueprint { power_on: false, config_drive: None, ..stage.blueprint(name) };
    let without = |name| Blueprint { disks: Vec::new(), ..with_disk(name) };
    spawn(&stage.host, &with_disk("node-0"), &run()).await.unwrap();
    spawn(&stage.host, &without("node-1"), &run()).await.unwrap();
    destroy(&stage.host, &id("node-1"), &run()).await.unwrap();
    assert!(has_image(&stage));
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert!(!has_image(&stage));

    spawn(&stage.host, &without("node-1"), &run()).await.unwrap();
    let (blueprint, patience) = (with_disk("node-0"), run());
    stage.dies_at(SENDING, spawn(&stage.host, &blueprint, &patience)).await;
    destroy(&stage.host, &id("node-1"), &run()).await.unwrap();
    assert!(has_image(&stage));
}
