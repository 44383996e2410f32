//! What is whose, and what is left when something goes wrong.

use std::time::{Duration, Instant};

use landfall_engine::Options;
use landfall_platform::{
    Discover as _, ErrorClass, MachineRef, MachineSpec, Machines as _, Power, PowerState, error_chain,
};
use landfall_platform_powervm::{
    Discovery, Partition,
    client::{Client, Edit, LogicalUnitSpec, Path},
    xml::Element,
};
use serde_json::{Value, json};

use crate::cluster::{Cluster, config, options};
use crate::scene::spec;

pub(crate) fn worker(cluster: &Cluster, name: &str, changes: &Value) -> MachineSpec {
    let hosts: Vec<&str> =
        cluster.config.platform.powervm().unwrap().hosts.iter().map(|host| host.name.as_str()).collect();
    let mut platform = json!({
        "name": name, "role": "worker", "hosts": hosts, "processors": 2, "processingUnits": 0.5, "sharing": "uncapped",
        "memoryMib": 16_384, "compatibilityMode": null, "diskGib": 120, "storage": { "sharedStoragePool": {} },
        "image": "fcos", "network": { "sharedEthernet": { "vlan": 100, "virtualSwitch": "ETHERNET0" } },
        "ignition": "worker.ign",
    });
    for (key, value) in changes.as_object().unwrap() {
        platform[key] = value.clone();
    }
    MachineSpec { name: name.to_owned(), user_data: "{}".into(), platform }
}

async fn foreign(client: &Client, name: &str) {
    let system = client.systems().await.unwrap().remove(0);
    client.create_partition(&system.id, &spec(name)).await.unwrap();
}

#[tokio::test]
async fn machines_of_a_role_are_kept_apart_and_found_on_all_servers() {
    let cluster = Cluster::new(1, json!({})).await;
    let before = cluster.list();
    let machines = cluster.binder().machines();
    for letter in ["a", "b", "c"] {
        let name = format!("demo-x7k2p-worker-{letter}");
        let made = machines.ensure(&worker(&cluster, &name, &json!({})), &|_| ()).await.unwrap();
        assert_eq!((made.name.as_str(), made.power), (name.as_str(), PowerState::On));
        assert_eq!(made.provider_id, format!("powervm://{}", made.id));
    }
    let on: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("partition demo-")).collect();
    for host in ["power-a", "power-b", "power-c"] {
        assert_eq!(on.iter().filter(|line| line.starts_with(host)).count(), 1, "{on:?}");
    }
    assert_eq!(machines.list().await.unwrap().machines.len(), 3);
    machines.power("demo-x7k2p-worker-b".into(), Power::Off).await.unwrap();
    assert_eq!(machines.get("demo-x7k2p-worker-b".into()).await.unwrap().unwrap().power, PowerState::Off);
    for letter in ["a", "b", "c"] {
        machines.delete(format!("demo-x7k2p-worker-{letter}").as_str().into(), &|_| ()).await.unwrap();
    }
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_partition_that_was_renamed_is_known_by_its_id_and_its_double_is_not() {
    let cluster = Cluster::new(1, json!({})).await;
    let before = cluster.list();
    let machines = cluster.binder().machines();
    // The one server that the client below speaks to.
    let spec = worker(&cluster, "demo-x7k2p-worker-a", &json!({ "hosts": ["power-a"] }));
    let made = machines.ensure(&spec, &|_| ()).await.unwrap();
    let client = cluster.scene.client();
    let path = Path::entry("LogicalPartition", &made.id.to_uppercase());
    let rename = |partition: &mut Element| {
        partition.child_mut("PartitionName").unwrap().set_text("other");
        Ok(Edit::Changed)
    };
    client.edit(&path, rename).await.unwrap();
    foreign(&client, "demo-x7k2p-worker-a").await;
    let known = MachineRef::known(&made.name, Some(&made.provider_id));
    assert_eq!(machines.get(known).await.unwrap().unwrap().name, "other");
    machines.power(known, Power::Off).await.unwrap();
    assert_eq!(machines.get(known).await.unwrap().unwrap().power, PowerState::Off);
    let titles: Vec<String> = landfall_platform::Discover::discover(&Discovery::new(cluster.site()))
        .await
        .unwrap()
        .into_iter()
        .map(|step| step.title)
        .collect();
    assert_eq!(titles, ["partition other on power-a"]);
    cluster.destroy_without_files().await.unwrap();
    let mut after = cluster.list();
    after.retain(|line| !line.contains("partition demo-x7k2p-worker-a"));
    assert_eq!(after, before);
}

/// An image of another user that has the name of the cluster's own: it is in the way, and stays.
#[tokio::test]
async fn an_image_of_another_user_with_the_name_is_neither_listed_nor_removed() {
    let disk = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(disk.path(), vec![7; 1 << 20]).unwrap();
    let cluster = Cluster::new(1, json!({ "image": { "disk": disk.path() } })).await;
    let client = cluster.scene.client();
    let pool = client.pools().await.unwrap().remove(0);
    let tier = client.tiers(&pool.id).await.unwrap().into_iter().find(|tier| tier.is_default).unwrap();
    let before = cluster.list();
    let image = LogicalUnitSpec { name: "demo-x7k2p-image", gib: 1.0, is_image: true, clone_of: None };
    let unit = client.create_logical_unit(&tier.id, &image).await.unwrap();
    let theirs = cluster.list();
    let error = error_chain(&cluster.install().await.unwrap_err());
    assert!(error.contains("image demo-x7k2p-image on power-a exists and does not belong"), "{error}");
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), theirs, "without a journal");
    // That of the cluster is known without one.
    client.delete_logical_unit(&tier.id, &unit.id).await.unwrap();
    cluster.install().await.unwrap();
    let titles = Discovery::new(cluster.site()).discover().await.unwrap().into_iter().map(|step| step.title);
    assert!(titles.into_iter().any(|title| title == "image demo-x7k2p-image"));
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_partition_of_somebody_else_is_never_touched() {
    let cluster = Cluster::new(1, json!({})).await;
    foreign(&cluster.scene.client(), "demo-x7k2p-worker-a").await;
    let before = cluster.list();
    let machines = cluster.binder().machines();
    let error = machines.ensure(&worker(&cluster, "demo-x7k2p-worker-a", &json!({})), &|_| ()).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Invalid);
    assert!(error.to_string().contains("does not belong to the cluster"), "{error}");
    machines.delete("demo-x7k2p-worker-a".into(), &|_| ()).await.unwrap();
    assert!(machines.list().await.unwrap().machines.is_empty());
    assert!(landfall_platform::Discover::discover(&Discovery::new(cluster.site())).await.unwrap().is_empty());
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_machine_that_can_never_be_made_leaves_nothing_behind() {
    let cluster = Cluster::new(1, json!({})).await;
    let before = cluster.list();
    let machines = cluster.binder().machines();
    for (changes, class, words) in [
        (json!({ "memoryMib": 1 << 30 }), ErrorClass::Capacity, "no server has room"),
        (json!({ "image": "rhcos" }), ErrorClass::Invalid, "no image rhcos"),
        (json!({ "hosts": ["power-x"] }), ErrorClass::Invalid, "there is no server power-x"),
        (
            json!({ "network": { "sharedEthernet": { "vlan": 100, "virtualSwitch": "NOWHERE" } } }),
            ErrorClass::NotFound,
            "virtual switch NOWHERE",
        ),
    ] {
        let error = machines.ensure(&worker(&cluster, "demo-x7k2p-worker-a", &changes), &|_| ()).await.unwrap_err();
        assert_eq!(error.class(), class, "{error}");
        assert!(landfall_platform::error_chain(&error).contains(words), "{error}");
        assert_eq!(cluster.list(), before, "{error}");
    }
}

#[tokio::test]
async fn what_was_made_for_a_partition_that_somebody_deletes_meanwhile_goes() {
    let cluster = Cluster::new(1, json!({})).await;
    let before = cluster.list();
    let machines = cluster.binder().machines();
    let spec = worker(&cluster, "demo-x7k2p-worker-a", &json!({ "hosts": ["power-a"] }));
    cluster.scene.fault("POST /rest/api/uom/VirtualIOServer/* latency=1000000s");
    let stranger = async {
        while cluster.scene.count("POST /rest/api/uom/VirtualIOServer/{id}") == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert!(cluster.list().iter().any(|line| line.contains("unit boot_demo-x7k2p-worker-a")));
        let made = machines.get("demo-x7k2p-worker-a".into()).await.unwrap().unwrap();
        cluster.scene.client().delete_partition(&made.id).await.unwrap();
        cluster.scene.hosts.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
        cluster.scene.hosts.step(Duration::from_secs(1_000_000));
    };
    let (made, ()) = tokio::join!(machines.ensure(&spec, &|_| ()), stranger);
    made.unwrap_err();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_cluster_goes_by_its_mark_alone_and_its_neighbour_stays() {
    let cluster = Cluster::new(3, json!({})).await;
    let scene = std::sync::Arc::clone(&cluster.scene);
    let other = Cluster::on(&scene, "demo-x7k2q", config(&scene, 1, json!({})));
    other.install().await.unwrap();
    let before = cluster.list();
    cluster.install().await.unwrap();
    let masters: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("demo-x7k2p-master")).collect();
    for host in ["power-a", "power-b", "power-c"] {
        assert_eq!(masters.iter().filter(|line| line.starts_with(host)).count(), 1, "{masters:?}");
    }
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_never_taken_for_an_empty_one() {
    let cluster = Cluster::new(1, json!({})).await;
    cluster.install().await.unwrap();
    cluster.scene.fault("GET /rest/api/uom/LogicalPartition* status=503");
    let error = landfall_platform::Discover::discover(&Discovery::new(cluster.site())).await.unwrap_err();
    assert!(error.class().is_retryable(), "{error}");
}

#[tokio::test]
async fn what_was_on_a_server_that_is_silent_for_a_while_is_not_forgotten() {
    let cluster = Cluster::new(3, json!({})).await;
    cluster.install().await.unwrap();
    let machines = cluster.binder().machines();
    let names = async || {
        let mut all = machines.list().await?.machines;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok::<_, landfall_platform::StepError>(all)
    };
    // An address is told some time after the power is on.
    let begun = Instant::now();
    let known = loop {
        let known = names().await.unwrap();
        if known.iter().all(|machine| !machine.addresses.is_empty()) {
            break known;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{known:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(known.len() == 4 && known.iter().all(|machine| machine.power == PowerState::On), "{known:?}");
    // One of the three servers does not answer.
    cluster.scene.fault("GET /rest/api/uom/LogicalPartition* nth=2 status=503");
    let listed = names().await.unwrap();
    let same = |machines: &[landfall_platform::Machine]| machines.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    assert_eq!(same(&listed), same(&known));
    let unknown: Vec<_> = listed.iter().filter(|machine| machine.power == PowerState::Unknown).collect();
    assert!((1..=2).contains(&unknown.len()), "{listed:?}");
    assert!(unknown.iter().all(|machine| machine.state.ends_with(" does not answer")), "{unknown:?}");
    assert_eq!(names().await.unwrap(), known);
    // If none does, there is nothing to tell.
    cluster.scene.fault("GET /rest/api/uom/LogicalPartition* status=503");
    assert!(names().await.unwrap_err().class().is_retryable());
}

#[tokio::test]
async fn a_program_that_has_just_begun_lists_what_it_can_and_says_who_is_silent() {
    let mut cluster = Cluster::new(3, json!({})).await;
    cluster.install().await.unwrap();
    let names = |listing: &landfall_platform::Listing| {
        let mut names: Vec<String> = listing.machines.iter().map(|machine| machine.name.clone()).collect();
        names.sort();
        names
    };
    let whole = cluster.binder().machines().list().await.unwrap();
    assert_eq!((whole.machines.len(), whole.silent.len()), (4, 0));
    let there: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("partition demo-")).collect();
    let elsewhere = there.iter().filter(|line| !line.starts_with("power-b")).count();
    let address = cluster.move_host("power-b", "https://127.0.0.1:9");
    let machines = cluster.binder().machines();
    let listed = machines.list().await.unwrap();
    assert_eq!((listed.machines.len(), &*listed.silent), (elsewhere, &["power-b".to_owned()][..]), "{listed:?}");
    assert!(elsewhere < 4 && names(&listed).iter().all(|name| names(&whole).contains(name)), "{listed:?}");
    // What is not listed is not said to be gone.
    let hidden = names(&whole).into_iter().find(|name| !names(&listed).contains(name)).unwrap();
    machines.get(hidden.as_str().into()).await.unwrap_err();
    cluster.move_host("power-b", &address);
    assert_eq!(names(&cluster.binder().machines().list().await.unwrap()), names(&whole));
}

#[tokio::test]
async fn a_server_that_is_not_asked_keeps_a_cluster_from_being_gone_and_nothing_else() {
    let mut cluster = Cluster::new(3, json!({})).await;
    let before = cluster.list();
    cluster.install().await.unwrap();
    let address = cluster.move_host("power-b", "https://127.0.0.1:9");
    let impatient = Options { removal_timeout: Some(Duration::from_secs(15)), ..options() };
    let error = cluster.destroy_without_files_as(&impatient).await.unwrap_err();
    let told = landfall_platform::error_chain(&error);
    assert!(told.contains("whatever is on power-b, which does not answer"), "{told}");
    let left: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("partition demo-")).collect();
    assert!(left.len() == 1 && left[0].starts_with("power-b"), "{left:?}");
    cluster.move_host("power-b", &address);
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[test]
fn what_a_plan_holds_can_be_read_back() {
    let value = json!({
        "name": "a", "role": "master", "hosts": [], "processors": 1, "processingUnits": 0.1, "sharing": "capped",
        "memoryMib": 4096, "compatibilityMode": "POWER9", "diskGib": 10, "storage": { "volumeGroup": { "name": "datavg" } },
        "image": "https://example.com/a.raw", "network": { "openVswitch": { "bridge": "br" } }, "ignition": "master.ign",
    });
    let machine: Partition = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(machine).unwrap(), value);
}
