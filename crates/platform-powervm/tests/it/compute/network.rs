//! Network adapters of every kind.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use landfall_platform_powervm::client::{Edit, Path};
use landfall_platform_powervm::compute::{Blueprint, Host, Mac, Network, Nic, OperationError, destroy, spawn};

use super::inventory;
use super::stage::{Stage, bare, bridged, id, run};
use crate::scene::JOBS;

fn with_nics(networks: &[Network]) -> Blueprint {
    let nic =
        |(number, network): (usize, &Network)| Nic { mac: Mac::of(&id("node-0"), number), network: network.clone() };
    Blueprint { nics: networks.iter().enumerate().map(nic).collect(), ..bare("node-0") }
}

#[tokio::test]
async fn a_vlan_that_is_not_bridged_is_added_to_both_adapters() {
    let stage = Stage::new().await;
    let carrying = || {
        inventory::list(&stage.scene.hosts).iter().filter(|line| line.contains("trunk") && line.contains("777")).count()
    };
    assert_eq!(carrying(), 0);
    spawn(&stage.host, &with_nics(&[bridged(777), bridged(100)]), &run()).await.unwrap();
    assert_eq!(carrying(), 2);
    let lines = inventory::list(&stage.scene.hosts);
    assert_eq!(lines.iter().filter(|line| line.contains("of node-0 VLAN")).count(), 2, "{lines:#?}");
}

#[tokio::test]
async fn open_vswitch_links_are_on_vlans_of_their_own() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let port =
        |port: &str| Network::OpenVSwitch { bridge: "br-int".to_owned(), port: port.to_owned(), mtu: Some(1450) };
    spawn(&stage.host, &with_nics(&[port("4b1f0000-0000-1"), port("4b1f0000-0000-2")]), &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    let trunks: Vec<&String> = lines.iter().filter(|line| line.contains("ovs 'br-int'")).collect();
    assert_eq!(trunks.len(), 2, "{lines:#?}");
    assert!(trunks[0].contains("iface-status=active"), "{trunks:?}");
    let vlan = |line: &str| line.split("VLAN ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_ne!(vlan(trunks[0]), vlan(trunks[1]));
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    let mut after = inventory::list(&stage.scene.hosts);
    // The switch of such links stays for the next one.
    after.retain(|line| !line.contains("switch NovaLinkVEABridge"));
    let mut before = before;
    before.retain(|line| !line.contains("switch NovaLinkVEABridge"));
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_virtual_nic_is_backed_by_different_adapters() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let share = |redundancy| Network::Sriov {
        physical_network: "physnet1".to_owned(),
        vlan: Some(100),
        redundancy,
        capacity_percent: Some(4.0),
    };
    spawn(&stage.host, &with_nics(&[share(2)]), &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.iter().any(|line| line.contains("vnic") && line.ends_with("of node-0 on 2")), "{lines:#?}");
    for vios in ["vios1", "vios2"] {
        let ports = lines.iter().filter(|line| line.ends_with(&format!("logical port of {vios}"))).count();
        assert_eq!(ports, 1, "{lines:#?}");
    }
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    // More than there are.
    let error = spawn(&stage.host, &with_nics(&[share(9)]), &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{error}");
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

/// A program that remembers which VLANs it has added.
async fn tidy(stage: &Stage) -> Arc<Host> {
    let host = Host::connect(Arc::new(stage.scene.client()), None, JOBS).await.unwrap();
    Arc::new(host.remembering_vlans(stage.scene.home.path().join("vlans.json")))
}

fn on_vlan(name: &str, vlan: u16) -> Blueprint {
    let nic = Nic { mac: Mac::of(&id(name), 0), network: bridged(vlan) };
    Blueprint { nics: vec![nic], power_on: false, ..bare(name) }
}

/// How many trunks of the first host carry a VLAN.
fn carrying(stage: &Stage, vlan: u16) -> usize {
    let carries = |line: &String| {
        let vlans = line.strip_prefix("power-a: trunk ").and_then(|line| line.split_once(" with "));
        vlans.is_some_and(|(_, vlans)| vlans.split(' ').any(|number| number == vlan.to_string()))
    };
    inventory::list(&stage.scene.hosts).iter().filter(|line| carries(line)).count()
}

/// Somebody takes a VLAN from all trunks.
async fn unbridge(stage: &Stage, vlan: u16) {
    let client = stage.scene.client();
    let feed = Path::entry("ManagedSystem", &stage.host.system().id).child("NetworkBridge");
    for bridge in client.feed(&feed).await.unwrap() {
        let path = feed.item(&bridge.id);
        let edited = client.edit(&path, |object| {
            let adapters = object.child_mut("SharedEthernetAdapters").unwrap().elements_mut();
            for list in adapters.filter_map(|adapter| adapter.child_mut("TrunkAdapters")) {
                for tagged in list.elements_mut().filter_map(|trunk| trunk.child_mut("TaggedVLANIDs")) {
                    let others: Vec<String> =
                        tagged.text().split(' ').filter(|one| *one != vlan.to_string()).map(str::to_owned).collect();
                    tagged.set_text(&others.join(" "));
                }
            }
            Ok(Edit::Changed)
        });
        edited.await.unwrap();
    }
}

#[tokio::test]
async fn a_vlan_that_was_added_goes_with_the_last_partition_on_it() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let host = tidy(&stage).await;
    for name in ["node-0", "node-1"] {
        spawn(&host, &on_vlan(name, 777), &run()).await.unwrap();
    }
    destroy(&host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(carrying(&stage, 777), 2, "one uses it still");
    // Another process with the same file.
    destroy(&tidy(&stage).await, &id("node-1"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    assert_eq!(std::fs::read(stage.scene.home.path().join("vlans.json")).unwrap(), b"[]");
}

#[tokio::test]
async fn a_vlan_that_several_need_at_once_is_remembered_all_the_same() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let host = tidy(&stage).await;
    // All of them have seen that nobody carries it before the first has added it.
    stage.scene.fault("POST /rest/api/uom/ManagedSystem/*/NetworkBridge/* nth=1 latency=250s");
    let names = ["node-0", "node-1", "node-2"];
    let blueprints = names.map(|name| on_vlan(name, 777));
    for made in join_all(blueprints.iter().map(async |blueprint| spawn(&host, blueprint, &run()).await)).await {
        made.unwrap();
    }
    for name in names {
        destroy(&host, &id(name), &run()).await.unwrap();
    }
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_vlan_that_somebody_else_added_stays() {
    let stage = Stage::new().await;
    let host = tidy(&stage).await;
    // One that was there from the beginning, and one that a program has added that remembers nothing.
    spawn(&stage.host, &on_vlan("node-0", 777), &run()).await.unwrap();
    spawn(&host, &on_vlan("node-1", 777), &run()).await.unwrap();
    spawn(&host, &on_vlan("node-2", 100), &run()).await.unwrap();
    for name in ["node-0", "node-1", "node-2"] {
        destroy(&host, &id(name), &run()).await.unwrap();
    }
    assert_eq!((carrying(&stage, 777), carrying(&stage, 100)), (2, 2));
}

#[tokio::test]
async fn who_begins_to_use_a_vlan_while_it_is_removed_keeps_it() {
    const AGES: Duration = Duration::from_secs(1_000_000);
    let stage = Stage::new().await;
    let host = tidy(&stage).await;
    spawn(&host, &on_vlan("node-0", 777), &run()).await.unwrap();
    // The removal has looked for users, found none, and is on its way.
    stage.scene.fault("POST /rest/api/uom/ManagedSystem/*/NetworkBridge/* nth=1 latency=1000000s");
    let removing = "POST /rest/api/uom/ManagedSystem/{id}/NetworkBridge/{id}";
    let before = stage.scene.count(removing);
    let destruction = tokio::spawn(async move { destroy(&host, &id("node-0"), &run()).await });
    while stage.scene.count(removing) == before {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // Another program has a partition on it meanwhile, and finds it carried.
    spawn(&stage.host, &on_vlan("node-1", 777), &run()).await.unwrap();
    assert_eq!((stage.scene.count(removing) - before, carrying(&stage, 777)), (1, 2), "it had nothing to add");
    stage.scene.hosts.world().step(AGES);
    destruction.await.unwrap().unwrap();
    assert_eq!(carrying(&stage, 777), 2, "it was removed, and came back");
    // It is still known to be ours.
    destroy(&tidy(&stage).await, &id("node-1"), &run()).await.unwrap();
    assert_eq!(carrying(&stage, 777), 0);
}

#[tokio::test]
async fn a_removal_that_was_cut_off_is_finished_or_taken_back() {
    let stage = Stage::new().await;
    let host = tidy(&stage).await;
    let file = stage.scene.home.path().join("vlans.json");
    spawn(&host, &on_vlan("node-0", 777), &run()).await.unwrap();
    spawn(&host, &on_vlan("node-1", 100), &run()).await.unwrap();
    spawn(&host, &on_vlan("node-2", 100), &run()).await.unwrap();
    // One that died when it had removed it, though somebody uses it.
    let noted = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, noted.replace("needed", "leaving")).unwrap();
    unbridge(&stage, 777).await;
    assert_eq!(carrying(&stage, 777), 0);
    destroy(&host, &id("node-1"), &run()).await.unwrap();
    assert_eq!(carrying(&stage, 777), 2, "it is there again");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), noted);
    // One that died before it had removed it.
    std::fs::write(&file, noted.replace("needed", "leaving")).unwrap();
    stage.host.client().delete_partition(id("node-0").as_str()).await.unwrap();
    destroy(&host, &id("node-2"), &run()).await.unwrap();
    assert_eq!(carrying(&stage, 777), 0);
}
