//! One machine, from its creation to its removal.

use kube::api::{Patch, PatchParams};
use landfall_machine_api::{FINALIZER, Phase};
use landfall_platform::{MachineSpec, WantedMachine};
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually},
    worlds::World,
};

pub(crate) async fn a_machine_lives_and_goes<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let name = cluster
        .machine("one", "worker", |machine| {
            machine["spec"]["metadata"] = json!({ "labels": { "disk": "fast" } });
            machine["spec"]["taints"] = json!([{ "key": "gpu", "effect": "NoSchedule" }]);
        })
        .await;
    let machine = cluster.phase(&name, Phase::Provisioned).await;
    assert_eq!(machine.metadata.finalizers, Some(vec![FINALIZER.to_owned()]));
    let id = machine.provider_id().unwrap();
    assert!(cluster.world.provider().schemes().iter().any(|scheme| id.starts_with(&format!("{scheme}://"))), "{id}");
    let machine = eventually("it has addresses", || async {
        let machine = cluster.machines().get(&name).await.unwrap();
        let addresses = machine.status.as_ref().unwrap().addresses.iter();
        let found = addresses.filter(|address| address.kind == "InternalIP").count() > 0;
        if found { Ok(machine) } else { Err(format!("{:?}", machine.status)) }
    })
    .await;
    assert!(
        machine
            .status
            .as_ref()
            .unwrap()
            .addresses
            .iter()
            .any(|known| known.kind == "InternalDNS" && known.address == name)
    );
    cluster.join(&machine).await;
    let machine = cluster.phase(&name, Phase::Running).await;
    assert_eq!(machine.node_name(), Some(name.as_str()));
    let node = cluster.nodes().get(&name).await.unwrap();
    assert_eq!(node.metadata.labels.as_ref().unwrap()["disk"], "fast");
    assert_eq!(
        node.metadata.annotations.as_ref().unwrap()["machine.openshift.io/machine"],
        format!("{}/{name}", cluster.namespace)
    );
    assert!(node.spec.unwrap().taints.unwrap().iter().any(|taint| taint.key == "gpu"));
    cluster.delete(&name).await;
    cluster.gone(&name).await;
    assert!(cluster.nodes().get_opt(&name).await.unwrap().is_none(), "the node went too");
    cluster.nothing_left().await;
    let events = cluster.events(&name).await;
    for reason in ["Created", "Drained", "Deleted"] {
        assert!(events.iter().any(|event| event.starts_with(reason)), "{reason}: {events:?}");
    }
    controllers.stop().await.unwrap();
}

pub(crate) async fn volumes_of_others_are_kept<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let name = cluster.machine("one", "worker", |_| ()).await;
    cluster.phase(&name, Phase::Provisioned).await;
    let volume = cluster.world.attach_volume(&name).await;
    cluster.delete(&name).await;
    cluster.gone(&name).await;
    cluster.nothing_left().await;
    assert!(cluster.world.has_volume(&volume).await);
    controllers.stop().await.unwrap();
}

/// The installer makes machines with the same verbs; their objects come later.
pub(crate) async fn an_instance_that_exists_is_taken_on<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let name = cluster.name("worker-0");
    let provider = cluster.world.provider();
    let credentials = cluster.world.credentials().into_iter().map(|(key, value)| (key, value.into())).collect();
    let poll = cluster.options().pace.poll;
    let connection = provider.connect(&credentials, &cluster.infra_id, poll).unwrap();
    let provider_spec = cluster.world.provider_spec();
    let wanted =
        WantedMachine { name: &name, role: "worker", infra_id: &cluster.infra_id, provider_spec: &provider_spec };
    let platform = provider.machine(&wanted).unwrap();
    let spec = MachineSpec { name: name.clone(), user_data: "{}".into(), platform };
    let made = connection.machines.ensure(&spec, &|_| ()).await.unwrap();
    let before = cluster.world.creations();
    let controllers = cluster.run();
    cluster.machine("worker-0", "worker", |_| ()).await;
    let machine = cluster.phase(&name, Phase::Provisioned).await;
    assert_eq!(machine.provider_id(), Some(made.provider_id.as_str()));
    assert_eq!(cluster.world.creations(), before);
    controllers.stop().await.unwrap();
}

pub(crate) async fn hooks_are_waited_for<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let hook = json!([{ "name": "backup", "owner": "somebody" }]);
    let name = cluster
        .machine("one", "worker", |machine| machine["spec"]["lifecycleHooks"] = json!({ "preTerminate": hook }))
        .await;
    cluster.phase(&name, Phase::Provisioned).await;
    cluster.delete(&name).await;
    cluster.phase(&name, Phase::Deleting).await;
    eventually("it is told who holds it", || async {
        let status = cluster.machines().get(&name).await.unwrap().status.unwrap();
        let held = status.conditions.iter().find(|known| known.kind == "Terminable" && known.status == "False");
        match held {
            Some(held) if held.message == "held by backup of somebody" => Ok(()),
            _ => Err(format!("{status:?}")),
        }
    })
    .await;
    // A machine that was made after it shows that the controller had every occasion to go wrong.
    let other = cluster.machine("two", "worker", |_| ()).await;
    cluster.phase(&other, Phase::Provisioned).await;
    assert_eq!(cluster.world.instances(&cluster.infra_id).await, [name.clone(), other]);
    let change = json!({ "spec": { "lifecycleHooks": { "preTerminate": null } } });
    cluster.machines().patch(&name, &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
    cluster.gone(&name).await;
    controllers.stop().await.unwrap();
}
