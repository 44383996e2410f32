//! What goes wrong on the platform.

use kube::api::{Patch, PatchParams};
use landfall_machine_api::{ErrorReason, Phase};
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually, names},
    worlds::{Trouble, World},
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
    stranger.machines.delete(&victim, &|_| ()).await.unwrap();
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
