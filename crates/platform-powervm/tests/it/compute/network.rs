//! Network adapters of every kind.

use landfall_platform_powervm::compute::{Blueprint, Mac, Network, Nic, OperationError, destroy, spawn};

use super::inventory;
use super::stage::{Stage, bare, bridged, id, run};

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
