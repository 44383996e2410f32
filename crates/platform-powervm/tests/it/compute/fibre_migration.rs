//! Partitions that move with virtual Fibre Channel ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use landfall_platform::error_chain;
use landfall_platform_powervm::client::{Group, Parameter, Path};
use landfall_platform_powervm::compute::{
    Berth, Blueprint, ComingPort, Destination, Fabric, FibrePort, Host, OperationError, assign_fibre_ports,
    await_arrival, depart, destroy, live_migrate, public_key, spawn,
};

use super::inventory;
use super::stage::{Stage, bare, id, run, second};
use crate::scene::JOBS;

const NAME: &str = "node-0";

/// The ports of both hosts on each of two fabrics: the first and the second of each VIOS.
async fn fabrics(hosts: &[&Host]) -> Vec<Vec<String>> {
    let mut fabrics = vec![Vec::new(), Vec::new()];
    for host in hosts {
        for vios in host.vioses().await.unwrap() {
            for (fabric, port) in fabrics.iter_mut().zip(&vios.ports) {
                fabric.push(port.clone());
            }
        }
    }
    fabrics
}

/// A partition that runs, whose guest is connected, with virtual ports on each fabric.
async fn connected(stage: &Stage, on_each: usize) -> Vec<FibrePort> {
    let wish = |ports: Vec<String>| Fabric { ports, wanted: on_each };
    let fabrics: Vec<Fabric> = fabrics(&[&stage.host]).await.into_iter().map(wish).collect();
    let ports = assign_fibre_ports(&stage.host, &fabrics).await.unwrap();
    spawn(&stage.host, &Blueprint { fibre_ports: ports.clone(), ..bare(NAME) }, &run()).await.unwrap();
    stage.force(NAME, serde_json::json!({"ResourceMonitoringControlState": "active"})).await;
    ports
}

/// What VIOSes of a host have of virtual ports: by slot of the partition, the VIOS, its port, the names.
async fn given(host: &Host) -> BTreeMap<u32, (String, String, String)> {
    let feed = Path::feed("VirtualIOServer").with(&[Group::ViosFibreChannelMappings]);
    let mut found = BTreeMap::new();
    for vios in host.client().feed(&feed).await.unwrap() {
        let lists = vios.object.child("VirtualFibreChannelMappings").into_iter();
        for mapping in lists.flat_map(|list| list.all("VirtualFibreChannelMapping")) {
            let text = |path: &str| mapping.text_at(path).unwrap_or_default();
            let slot = text("ClientAdapter/VirtualSlotNumber").parse().unwrap();
            let known =
                found.insert(slot, (vios.text("PartitionName"), text("Port/PortName"), text("ClientAdapter/WWPNs")));
            assert_eq!(known, None, "slot {slot}");
        }
    }
    found
}

/// How many virtual ports the ports of a host take.
async fn room(host: &Host) -> u32 {
    let vioses = host.client().feed(&Path::feed("VirtualIOServer")).await.unwrap();
    let texts = vioses.iter().map(|vios| vios.object.to_string());
    let texts: Vec<String> = texts.collect();
    let numbers = texts.iter().flat_map(|text| text.split("<AvailablePorts").skip(1));
    numbers.map(|rest| rest.split(['>', '<']).nth(1).unwrap().parse::<u32>().unwrap()).sum()
}

/// The same with each pair turned round.
fn turned(ports: &BTreeMap<u32, (String, String, String)>) -> BTreeMap<u32, (String, String, String)> {
    let turn = |names: &str| names.split(' ').rev().collect::<Vec<_>>().join(" ");
    ports.iter().map(|(slot, (vios, port, names))| (*slot, (vios.clone(), port.clone(), turn(names)))).collect()
}

#[tokio::test]
async fn ports_go_with_a_partition_and_use_their_other_names() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let (empty, room_there) = (inventory::list(&stage.scene.hosts), room(&target).await);
    connected(&stage, 2).await;
    let (before, all) = (given(&stage.host).await, fabrics(&[&stage.host, &target]).await);
    assert_eq!(before.len(), 4);
    live_migrate(&stage.host, &target, &id(NAME), &[], &all, None, &run()).await.unwrap();
    // The VIOSes of both hosts have the same names and ports.
    assert_eq!(given(&target).await, turned(&before));
    assert_eq!(given(&stage.host).await, BTreeMap::new());
    assert_eq!((room(&stage.host).await, room(&target).await), (room_there, room_there - 4));
    live_migrate(&target, &stage.host, &id(NAME), &[], &all, None, &run()).await.unwrap();
    assert_eq!(given(&stage.host).await, before, "and back");
    destroy(&stage.host, &id(NAME), &run()).await.unwrap();
    assert_eq!(empty, inventory::list(&stage.scene.hosts));
    assert_eq!(room(&target).await, room_there);
}

/// Those ports, as the host that expects the partition is told about them.
async fn coming(ports: &[FibrePort], target: &Host) -> Vec<ComingPort> {
    let fabrics = fabrics(&[target]).await;
    let each = ports.len() / fabrics.len();
    let port =
        |(number, port): (usize, &FibrePort)| ComingPort { port: port.clone(), fabric: fabrics[number / each].clone() };
    ports.iter().enumerate().map(port).collect()
}

pub(super) fn destination(target: &Host, fibre: Vec<Berth>) -> Destination {
    Destination {
        name: target.name().to_owned(),
        memory_region_mib: target.system().memory_region_mib,
        processor_modes: Vec::new(),
        peer: None,
        vlans: Vec::new(),
        fibre,
    }
}

#[tokio::test]
async fn a_host_that_expects_a_partition_chooses_ports_and_the_other_one_passes_them_on() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let ports = connected(&stage, 1).await;
    let before = given(&stage.host).await;
    let key = public_key(&stage.host).await.unwrap();
    let coming = coming(&ports, &target).await;
    let prepared = await_arrival(&target, &id(NAME), &[], &[], &coming, key.as_deref(), &run()).await.unwrap();
    assert_eq!(given(&target).await, BTreeMap::new(), "a choice changes nothing");
    let names = |port: &FibrePort| (port.wwpns.1.clone(), port.wwpns.0.clone());
    assert_eq!(
        prepared.fibre.iter().map(|berth| berth.port.wwpns.clone()).collect::<Vec<_>>(),
        ports.iter().map(names).collect::<Vec<_>>()
    );
    depart(&stage.host, &id(NAME), &destination(&target, prepared.fibre), &run()).await.unwrap();
    assert_eq!(given(&target).await, turned(&before));
    assert_eq!(given(&stage.host).await, BTreeMap::new());
}

#[tokio::test]
async fn ports_that_have_no_place_keep_a_partition_where_it_is() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage, 1).await;
    let before = inventory::list(&stage.scene.hosts);
    let error = depart(&stage.host, &id(NAME), &destination(&target, Vec::new()), &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
    assert!(error_chain(&error).contains("has no place for its virtual Fibre Channel port"), "{}", error_chain(&error));
    // One fabric is not named, and then none of the other host's.
    let all = fabrics(&[&stage.host, &target]).await;
    let error = live_migrate(&stage.host, &target, &id(NAME), &[], &all[..1], None, &run()).await.unwrap_err();
    assert!(error_chain(&error).contains("on no fabric that is named"), "{}", error_chain(&error));
    let own = fabrics(&[&stage.host]).await;
    let error = live_migrate(&stage.host, &target, &id(NAME), &[], &own, None, &run()).await.unwrap_err();
    assert!(error_chain(&error).contains("free Fibre Channel ports on the same fabrics"), "{}", error_chain(&error));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_migration_that_fails_leaves_ports_where_they_are() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage, 1).await;
    let before = inventory::list(&stage.scene.hosts);
    let all = fabrics(&[&stage.host, &target]).await;
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/Migrate status=400 body=platform");
    let error = live_migrate(&stage.host, &target, &id(NAME), &[], &all, None, &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{}", error_chain(&error));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

/// Servers of which the second has little room for virtual ports, and one VIOS without any.
const NARROW: &str = "settings: { keys_exchanged: true }
hosts:
  - name: power-a
    serial: 78A0001
    vioses: [{ name: vios1 }, { name: vios2 }]
  - name: power-b
    serial: 78A0002
    vioses: [{ name: vios1, fc_ports: 2, npiv_ports: 1 }, { name: vios2, fc_ports: 0 }]
";

/// What the platform says about a migration with mappings that somebody wants.
async fn judged(stage: &Stage, mappings: &str) -> Result<(), String> {
    let mut parameters = vec![("TargetManagedSystemName", Parameter::Text("power-b"))];
    if !mappings.is_empty() {
        parameters.push(("VirtualFCMappings", Parameter::Text(mappings)));
    }
    let path = Path::entry("LogicalPartition", id(NAME).as_str());
    let judged = stage.scene.client().run_job(&path, "MigrateValidate", &parameters, JOBS).await;
    judged.map(drop).map_err(|error| error_chain(&error))
}

async fn narrow() -> (Stage, Arc<Host>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), NARROW).unwrap();
    let stage = Stage::with(&["--inventory", file.path().to_str().unwrap()]).await;
    let target = second(&stage).await;
    (stage, target)
}

#[tokio::test]
async fn the_platform_looks_where_ports_would_go() {
    let (stage, _) = narrow().await;
    connected(&stage, 1).await;
    let slots: Vec<u32> = given(&stage.host).await.into_keys().collect();
    let [first, other] = slots[..] else { panic!("{slots:?}") };
    assert_eq!(judged(&stage, "").await, Ok(()), "there is one of each on vios1");
    assert_eq!(judged(&stage, &format!("{first}/vios1///fcs1,{other}//2/77/fcs0")).await, Ok(()));
    for (mappings, words) in [
        (format!("{first}/vios1"), "is not valid"),
        (format!("{first}//"), "is not valid"),
        ("99/vios1/".to_owned(), "no virtual Fibre Channel adapter in slot 99"),
        (format!("{first}/vios1//,{first}/vios1//"), "mapped twice"),
        (format!("{first}/vios9//"), "has no VIOS for"),
        (format!("{first}/vios1/3"), "has no VIOS for"),
        (format!("{first}/vios2//"), "no port with room"),
        (format!("{first}/vios1///fcs7"), "no port fcs7 with room"),
        (format!("{first}/vios1///fcs0,{other}/vios1///fcs0"), "no port fcs0 with room"),
        (format!("{first}/vios1//77/fcs0,{other}/vios1//77/fcs1"), "slot 77 of the VIOS"),
    ] {
        let error = judged(&stage, &mappings).await.unwrap_err();
        assert!(error.contains(words), "{mappings}: {error}");
    }
}

#[tokio::test]
async fn a_server_without_room_for_ports_is_not_tried() {
    let (stage, target) = narrow().await;
    let ports = connected(&stage, 2).await;
    let before = inventory::list(&stage.scene.hosts);
    let coming = coming(&ports, &target).await;
    let error = await_arrival(&target, &id(NAME), &[], &[], &coming, None, &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
    assert!(error_chain(&error).contains("free Fibre Channel ports"), "{}", error_chain(&error));
    assert!(judged(&stage, "").await.unwrap_err().contains("no port with room"));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
