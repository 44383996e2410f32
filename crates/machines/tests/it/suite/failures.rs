//! What goes wrong on the platform.

use std::time::{Duration, Instant};

use kube::api::{Patch, PatchParams};
use landfall_machine_api::{ErrorReason, Phase};
use landfall_machines::Machine;
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually, names},
    worlds::{LATE, Trouble, World},
};

pub(crate) async fn lost_replies_make_no_second_instance<W: World>() {
    let cluster = Cluster::<W>::new().await;
    cluster.world.trouble(Trouble::LostReplies);
    let controllers = cluster.run();
    let set = cluster.set("worker", 6).await;
    cluster.settled(6).await;
    cluster.scale(&set, 0).await;
    cluster.settled(0).await;
    cluster.world.calm();
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}

/// The request of a controller that was killed has its effect while its successor is at work.
pub(crate) async fn late_creations_make_no_second_instance<W: World>() {
    let cluster = Cluster::<W>::new().await;
    cluster.world.trouble(Trouble::LateCreations);
    let mut options = cluster.options();
    options.pace.in_flight = 2 * LATE;
    let controllers = cluster.run_with(options.clone());
    cluster.machine("one", "worker", |_| ()).await;
    asked_for(&cluster).await;
    controllers.kill().await;
    let controllers = cluster.run_with(options);
    cluster.settled(1).await;
    tokio::time::sleep(2 * LATE).await;
    cluster.settled(1).await;
    controllers.stop().await.unwrap();
}

/// A machine is deleted while the request that makes its instance is under way.
pub(crate) async fn a_creation_on_its_way_leaves_nothing_behind<W: World>() {
    let cluster = Cluster::<W>::new().await;
    cluster.world.trouble(Trouble::LateCreations);
    let mut options = cluster.options();
    options.pace.in_flight = 2 * LATE;
    let controllers = cluster.run_with(options);
    let name = cluster.machine("one", "worker", |_| ()).await;
    asked_for(&cluster).await;
    cluster.delete(&name).await;
    cluster.gone(&name).await;
    tokio::time::sleep(2 * LATE).await;
    cluster.world.calm();
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}

/// And the controller that sent the request dies before it is answered.
pub(crate) async fn a_creation_of_a_killed_controller_leaves_nothing_behind<W: World>() {
    let cluster = Cluster::<W>::new().await;
    cluster.world.trouble(Trouble::LateCreations);
    let mut options = cluster.options();
    options.pace.in_flight = 2 * LATE;
    let controllers = cluster.run_with(options.clone());
    let name = cluster.machine("one", "worker", |_| ()).await;
    asked_for(&cluster).await;
    controllers.kill().await;
    cluster.delete(&name).await;
    let controllers = cluster.run_with(options);
    cluster.gone(&name).await;
    tokio::time::sleep(2 * LATE).await;
    cluster.world.calm();
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}

/// Waits until a request for an instance has reached the platform.
async fn asked_for<W: World>(cluster: &Cluster<W>) {
    eventually("an instance is asked for", || async {
        if cluster.world.creations() > 0 { Ok(()) } else { Err(format!("{:?}", cluster.list().await)) }
    })
    .await;
}

pub(crate) async fn what_can_never_be_is_marked_failed<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let stranger = cluster
        .machine("stranger", "worker", |machine| {
            machine["metadata"]["name"] = json!(format!("x{}", machine["metadata"]["name"].as_str().unwrap()));
        })
        .await;
    let stranger = format!("x{stranger}");
    let machine = cluster.phase(&stranger, Phase::Failed).await;
    let status = machine.status.unwrap();
    assert_eq!(status.error_reason, Some(ErrorReason::InvalidConfiguration));
    assert!(status.error_message.unwrap().contains(cluster.infra_id.as_str()));
    cluster.delete(&stranger).await;
    cluster.gone(&stranger).await;
    assert_eq!(cluster.world.creations(), 0);
    controllers.stop().await.unwrap();
}

pub(crate) async fn an_instance_that_vanished_is_replaced_by_a_check<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    cluster.set("worker", 2).await;
    let machines = cluster.settled(2).await;
    let victim = machines[0].name().to_owned();
    let credentials = cluster.world.credentials().into_iter().map(|(key, value)| (key, value.into())).collect();
    let poll = cluster.options().pace.poll;
    let stranger = cluster.world.provider().connect(&credentials, &cluster.infra_id, poll).unwrap();
    stranger.machines.delete(victim.as_str().into(), &|_| ()).await.unwrap();
    // Without a check it is told, and nothing more: whoever deleted it may have had a reason.
    let machine = cluster.phase(&victim, Phase::Failed).await;
    assert_eq!(machine.status.unwrap().error_reason, Some(ErrorReason::InstanceMissing));
    assert_eq!(cluster.world.instances(&cluster.infra_id).await.len(), 1);
    super::health::check(&cluster, "100%", "0").await;
    let machines = cluster.settled(2).await;
    assert!(!names(&machines).contains(&victim));
    controllers.stop().await.unwrap();
}

pub(crate) async fn new_credentials_are_taken_up<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let secrets: kube::Api<k8s_openapi::api::core::v1::Secret> =
        kube::Api::namespaced(cluster.client.clone(), &cluster.namespace);
    let good = secrets.get("credentials").await.unwrap();
    secrets.delete("credentials", &Default::default()).await.unwrap();
    let controllers = cluster.run();
    let name = cluster.machine("one", "worker", |_| ()).await;
    eventually("it is told", || async {
        let events = cluster.events(&name).await;
        if events.iter().any(|event| event.contains("the Secret credentials does not exist")) {
            Ok(())
        } else {
            Err(format!("{events:?}"))
        }
    })
    .await;
    let mut again = k8s_openapi::api::core::v1::Secret::default();
    again.metadata.name = good.metadata.name;
    again.data = good.data;
    secrets.patch("credentials", &PatchParams::apply("test"), &Patch::Apply(&again)).await.unwrap();
    cluster.phase(&name, Phase::Provisioned).await;
    controllers.stop().await.unwrap();
}

/// Fifty machines and no room for any: the platform is asked by one after the other, ever more seldom, and each machine says why it waits.
pub(crate) async fn a_platform_without_room_is_asked_seldom<W: World>() {
    const MACHINES: i32 = 50;
    const LONGEST: Duration = Duration::from_millis(500);
    let cluster = Cluster::<W>::new().await;
    cluster.world.trouble(Trouble::NoRoom);
    let mut options = cluster.options();
    options.pace.longest_retry = LONGEST;
    let controllers = cluster.run_with(options);
    let set = cluster.set("worker", MACHINES).await;
    eventually("each machine says why it waits", || async {
        let machines = cluster.list().await;
        let waits = |machine: &&Machine| {
            let conditions = machine.status.iter().flat_map(|status| &status.conditions);
            conditions.into_iter().any(|known| {
                known.kind == "InstanceCreated" && known.status == "False" && known.reason == "OutOfCapacity"
            })
        };
        let waiting = machines.iter().filter(waits).count();
        let last = machines.iter().find(|machine| !waits(machine)).map(|machine| format!("{:?}", machine.status));
        if waiting == usize::try_from(MACHINES).unwrap() { Ok(()) } else { Err(format!("{waiting} wait; {last:?}")) }
    })
    .await;
    let metrics = controllers.metrics.text();
    let refused = metrics.lines().find(|line| line.contains(r#"machines_refused{reason="OutOfCapacity"}"#)).unwrap();
    assert!(!refused.ends_with(" 0"), "{refused}");
    // Twenty milliseconds have doubled to the longest pause after so many refusals.
    let asked = |more: u64| {
        let before = cluster.world.creations();
        let cluster = &cluster;
        async move {
            eventually(&format!("the platform is asked {more} more times"), || async {
                let now = cluster.world.creations();
                if now >= before + more { Ok(()) } else { Err(format!("{before}, then {now}")) }
            })
            .await;
        }
    };
    asked(6).await;
    let (begun, requests) = (Instant::now(), cluster.world.requests());
    asked(4).await;
    let (took, requests) = (begun.elapsed(), cluster.world.requests() - requests);
    assert!(took >= 3 * LONGEST, "asked four times within {took:?}");
    // The fleet is listed five times a second, and a creation that fails takes some calls; 50 machines would take hundreds.
    let ticks = u64::try_from(took.as_millis()).unwrap() / 200 + 2;
    let bound = 4 * 30 + ticks * 2 * W::CALLS_PER_LISTING;
    assert!(requests <= bound, "{requests} requests within {took:?}, of {bound} at most");
    // With room again, those that wait are made.
    cluster.scale(&set, 3).await;
    eventually("47 are gone", || async {
        let left = cluster.list().await.len();
        if left == 3 { Ok(()) } else { Err(left.to_string()) }
    })
    .await;
    cluster.world.calm();
    cluster.settled(3).await;
    controllers.stop().await.unwrap();
}
