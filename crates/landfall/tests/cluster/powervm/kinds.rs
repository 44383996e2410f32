//! Every kind of storage and network, as whole clusters.

use landfall_testkit::WebServer;
use serde_json::{Value, json};

use super::{Scene, Wish};

/// Installs and removes; `look` sees what there is in between.
fn whole(change: impl Fn(&mut Value), look: impl Fn(&[String])) {
    let scene = Scene::new();
    let before = scene.holds();
    let install = scene.install_with(Wish { workers: 1, ..Wish::default() }, change);
    let made = install.ok(&["create", "cluster"]).stdout;
    assert!(made.contains("-master-0") && made.contains("-worker-"), "{made}");
    let standing = scene.holds();
    look(&standing.iter().cloned().collect::<Vec<_>>());
    install.ok(&["create", "cluster"]);
    scene.still_holds(&standing);
    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
}

#[test]
fn disks_in_volume_groups() {
    let server = WebServer::start(vec![7; 3 << 20]);
    whole(
        |config| {
            let platform = &mut config["platform"]["powervm"];
            platform["storage"] = json!({"volumeGroup": {"name": "datavg"}});
            platform["image"] = json!({"disk": server.url()});
        },
        |standing| {
            let disks = standing.iter().filter(|line| line.starts_with("DiskName d00")).count();
            assert_eq!(disks, 2, "{standing:#?}");
        },
    );
    assert!(server.asked() > 0);
}

#[test]
fn clones_of_an_image_of_the_clusters_own() {
    let server = WebServer::start(vec![7; 3 << 20]);
    whole(
        |config| config["platform"]["powervm"]["image"] = json!({"disk": server.url()}),
        |standing| {
            let own = |line: &&String| line.starts_with("UnitName ") && line.ends_with("-image");
            // The image, and the seal that marks it as the cluster's own.
            assert_eq!(standing.iter().filter(own).count(), 2, "{standing:#?}");
        },
    );
    assert!(server.asked() > 0);
}

#[test]
fn adapters_that_end_in_open_vswitch() {
    whole(
        |config| config["platform"]["powervm"]["network"] = json!({"openVswitch": {"bridge": "br-int"}}),
        |standing| {
            let trunks = standing.iter().filter(|line| line.starts_with("DeviceName nic")).count();
            assert_eq!(trunks, 2, "{standing:#?}");
        },
    );
}
