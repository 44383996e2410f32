//! Sessions, reading, creating, changing.

use std::sync::Arc;

use landfall_platform::ErrorClass;
use landfall_platform_powervm::Error;
use landfall_platform_powervm::client::{ClientNetworkAdapterSpec, Edit, Group, LogicalUnitSpec, Login, Path, Storage};
use landfall_platform_powervm::xml::Element;

use crate::scene::{JOBS, Scene, spec};

#[tokio::test]
async fn both_ways_of_logging_on_work() {
    let scene = Scene::new().await;
    let client = scene.client();
    assert_eq!(client.systems().await.unwrap()[0].name, "power-a");
    client.logoff().await.unwrap();
    assert_eq!(client.systems().await.unwrap().len(), 1, "a session begins again when it is needed");
    let local = scene.client_as(Login::Local { user: "me".to_owned() });
    assert_eq!(local.systems().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_wrong_password_is_said_and_is_no_secret_kept() {
    let scene = Scene::new().await;
    let client = scene.client_as(Login::Password { user: "admin".to_owned(), password: "hunter2".into() });
    let error = client.systems().await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Auth);
    assert!(matches!(&error, Error::Logon { user, .. } if user == "admin"), "{error}");
    assert!(!format!("{error:?} {client:?}").contains("hunter2"));
}

#[tokio::test]
async fn an_expired_session_is_renewed_once() {
    let scene = Scene::new().await;
    let client = scene.client();
    client.systems().await.unwrap();
    scene.fault("GET /rest/api/uom/ManagedSystem* nth=1 token-expired");
    client.systems().await.unwrap();
    assert_eq!(scene.count("PUT /rest/api/web/Logon"), 2);
}

#[tokio::test]
async fn everything_in_the_world_is_read() {
    let scene = Scene::new().await;
    let client = scene.client();
    let system = &client.systems().await.unwrap()[0];
    assert_eq!(system.machine, "9009-42A*78A0001");
    assert!(system.processor_modes.contains(&"POWER9".to_owned()));
    assert!(system.free_memory_mib < system.memory_mib);
    let names: Vec<String> = client.partitions().await.unwrap().into_iter().map(|lpar| lpar.name).collect();
    assert_eq!(names, ["novalink", "web1", "ibmi1"]);
    let vioses = client.vioses(&[Group::ViosStorage]).await.unwrap();
    assert_eq!(vioses.len(), 2);
    assert_eq!((vioses[0].disks.len(), vioses[0].ports.len()), (2, 2));
    assert!(client.vioses(&[]).await.unwrap()[0].disks.is_empty());
    assert_eq!(client.switches(&system.id).await.unwrap().len(), 2);
    assert_eq!(client.bridges(&system.id).await.unwrap()[0].vlans, [1, 100, 101, 4093]);
    assert!(client.networks(&system.id).await.unwrap().iter().any(|network| network.vlan == 100));
    let cluster = &client.clusters().await.unwrap()[0];
    assert_eq!(cluster.nodes.len(), 6);
    let tiers = client.tiers(cluster.pool.as_deref().unwrap()).await.unwrap();
    assert_eq!(tiers.iter().filter(|tier| tier.is_default).count(), 1);
    let groups = client.volume_groups(&vioses[0].partition.id).await.unwrap();
    assert_eq!(groups[0].media.as_deref(), Some(&[][..]));
    assert!(client.network_adapters(&vioses[0].partition.id).await.is_err(), "a VIOS is no logical partition");
}

#[tokio::test]
async fn a_partition_lives_and_dies() {
    let scene = Scene::new().await;
    let client = scene.client();
    let system = client.systems().await.unwrap().remove(0);
    let wanted = spec("a partition & more");
    let made = client.create_partition(&system.id, &wanted).await.unwrap();
    assert_eq!((made.id.as_str(), made.state.as_str()), (wanted.platform_id().as_str(), "not activated"));
    assert_eq!((made.memory_mib, made.processors), (2048, 2));
    let found = client.partition_named("a partition & more").await.unwrap();
    assert_eq!(found.as_ref(), Some(&made));
    assert_eq!(client.partition_named("nobody").await.unwrap(), None);

    let switch = client.switches(&system.id).await.unwrap().remove(0);
    let adapter = ClientNetworkAdapterSpec { vlan: 100, switch: &switch.id, mac: Some("FA1637000001") };
    let adapter = client.create_network_adapter(&system.id, &made.id, &adapter).await.unwrap();
    assert_eq!((adapter.mac.as_str(), adapter.vlan), ("FA1637000001", 100));
    assert_eq!(client.network_adapters(&made.id).await.unwrap(), [adapter]);

    client.power_on(&made.id, JOBS).await.unwrap();
    client.power_on(&made.id, JOBS).await.unwrap();
    assert_eq!(client.partition_state(&made.id).await.unwrap().as_deref(), Some("running"));
    let error = client.delete_partition(&made.id).await.unwrap_err();
    assert!(error.to_string().contains("must be shut down"), "{error}");
    client.power_off(&made.id, JOBS).await.unwrap();
    client.power_off(&made.id, JOBS).await.unwrap();
    client.delete_partition(&made.id).await.unwrap();
    client.delete_partition(&made.id).await.unwrap();
    assert_eq!(client.partition_state(&made.id).await.unwrap(), None);
}

#[tokio::test]
async fn units_are_made_cloned_mapped_and_removed() {
    let scene = Scene::new().await;
    let client = scene.client();
    let system = client.systems().await.unwrap().remove(0);
    let lpar = client.create_partition(&system.id, &spec("one")).await.unwrap();
    let pool = client.pools().await.unwrap().remove(0);
    let tier = client.tiers(&pool.id).await.unwrap().into_iter().find(|tier| tier.is_default).unwrap();
    let image = LogicalUnitSpec { name: "image", gib: 4.0, is_image: true, clone_of: None };
    let image = client.create_logical_unit(&tier.id, &image).await.unwrap();
    let disk = LogicalUnitSpec { name: "boot", gib: 8.5, is_image: false, clone_of: Some(&image.device) };
    let disk = client.create_logical_unit(&tier.id, &disk).await.unwrap();
    assert_eq!(disk.cloned_from.as_deref(), Some(image.device.as_str()));
    let storage = Storage::LogicalUnit(disk.device.clone());
    for vios in client.vioses(&[]).await.unwrap() {
        for _ in 0..2 {
            let vios = client.map(&vios.partition.id, &lpar.id, &storage).await.unwrap();
            assert_eq!(vios.mappings.len(), 1, "mapping twice is mapping once");
            assert_eq!(vios.mappings[0].storage.as_ref(), Some(&storage));
        }
    }
    assert!(client.logical_units(&tier.id).await.unwrap().iter().any(|unit| unit.in_use));
    assert!(client.delete_logical_unit(&tier.id, &disk.id).await.unwrap_err().to_string().contains("is mapped"));
    for vios in client.vioses(&[]).await.unwrap() {
        assert!(client.unmap(&vios.partition.id, &lpar.id, None).await.unwrap().mappings.is_empty());
    }
    client.delete_logical_unit(&tier.id, &disk.id).await.unwrap();
    client.delete_logical_unit(&tier.id, &disk.id).await.unwrap();
}

#[tokio::test]
async fn disks_of_a_volume_group_come_and_go() {
    let scene = Scene::new().await;
    let client = scene.client();
    let vios = client.vioses(&[]).await.unwrap().remove(0).partition.id;
    let group = client.volume_groups(&vios).await.unwrap().into_iter().find(|group| group.name == "datavg").unwrap();
    let made = client.create_disk(&vios, &group.id, "disk1", 12.0).await.unwrap();
    assert_eq!(made.disks.len(), 1);
    assert_eq!(client.create_disk(&vios, &group.id, "disk1", 12.0).await.unwrap(), made);
    assert!(client.delete_disk(&vios, &group.id, "disk1").await.unwrap().disks.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_at_the_same_time_lose_nothing() {
    let scene = Scene::new().await;
    let client = Arc::new(scene.client());
    let system = client.systems().await.unwrap().remove(0);
    let vios = client.vioses(&[]).await.unwrap().remove(0).partition.id;
    let group = client.volume_groups(&vios).await.unwrap().into_iter().find(|group| group.name == "datavg").unwrap();
    let mut writers = Vec::new();
    for number in 0..12 {
        let (client, system, vios, group) = (client.clone(), system.id.clone(), vios.clone(), group.id.clone());
        writers.push(tokio::spawn(async move {
            let name = format!("writer{number}");
            let lpar = client.create_partition(&system, &spec(&name)).await.unwrap();
            client.create_disk(&vios, &group, &name, 1.0).await.unwrap();
            client.map(&vios, &lpar.id, &Storage::VirtualDisk(name)).await.unwrap();
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let vios = client.vioses(&[Group::ViosScsiMappings]).await.unwrap().remove(0);
    let mut names: Vec<String> = vios
        .mappings
        .iter()
        .filter_map(|mapping| match &mapping.storage {
            Some(Storage::VirtualDisk(name)) => Some(name.clone()),
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 12);
}

#[tokio::test]
async fn a_change_keeps_what_it_does_not_know_and_gives_up_at_last() {
    let scene = Scene::new().await;
    let client = scene.client();
    let web = client.partition_named("web1").await.unwrap().unwrap();
    let path = Path::entry("LogicalPartition", &web.id);
    let before = client.entry(&path).await.unwrap();
    let rename = |object: &mut Element| {
        let name = object.child_mut("PartitionName").unwrap();
        name.set_text("web2");
        Ok(Edit::Changed)
    };
    let after = client.edit(&path, rename).await.unwrap();
    let texts = |object: &Element| -> Vec<String> {
        object.elements().filter(|element| element.local_name() != "PartitionName").map(ToString::to_string).collect()
    };
    assert_eq!(texts(&before.object), texts(&after.object));
    assert_eq!(after.text("PartitionName"), "web2");

    scene.fault("POST /rest/api/uom/LogicalPartition* nth=1 status=412 body=platform");
    client.edit(&path, rename).await.unwrap();
    let refused = client.update(&path, &before.object, before.etag.as_deref()).await.unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Locked);
}

#[tokio::test]
async fn the_order_of_the_schema_is_checked_by_the_server() {
    let scene = Scene::new().await;
    let client = scene.client();
    let web = client.partition_named("web1").await.unwrap().unwrap();
    let path = Path::entry("LogicalPartition", &web.id);
    let spoil = |object: &mut Element| {
        object.push(Element::text_of("PartitionName", "late"));
        Ok(Edit::Changed)
    };
    let error = client.edit(&path, spoil).await.unwrap_err();
    assert!(matches!(&error, Error::Fault { fault, .. } if fault.status == 400), "{error}");
    assert!(error.to_string().contains("'PartitionName' in 'LogicalPartition'"), "{error}");
}
