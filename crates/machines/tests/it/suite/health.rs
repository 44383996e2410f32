//! Health checks.

use std::time::Duration;

use kube::{
    Api,
    api::{DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use landfall_machine_api::Phase;
use landfall_machines::MachineHealthCheck;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, eventually, names},
    worlds::World,
};

/// Makes a check of all workers and masters.
pub(crate) async fn check<W: World>(cluster: &Cluster<W>, max_unhealthy: &str, startup: &str) {
    check_with(cluster, max_unhealthy, startup, &json!({})).await;
}

async fn check_with<W: World>(cluster: &Cluster<W>, max_unhealthy: &str, startup: &str, more: &Value) {
    let mut check = json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineHealthCheck", "metadata": { "name": "check" },
        "spec": {
            "selector": { "matchExpressions": [{ "key": "machine.openshift.io/cluster-api-machine-role", "operator": "Exists" }] },
            "unhealthyConditions": [
                { "type": "Ready", "status": "Unknown", "timeout": "300s" },
                { "type": "Ready", "status": "False", "timeout": "300s" },
            ],
            "maxUnhealthy": max_unhealthy,
            "nodeStartupTimeout": startup,
        },
    });
    for (key, value) in more.as_object().unwrap() {
        check["spec"][key] = value.clone();
    }
    let check: MachineHealthCheck = serde_json::from_value(check).unwrap();
    cluster.checks().create(&PostParams::default(), &check).await.unwrap();
}

pub(crate) async fn a_node_that_is_not_ready_is_fenced_and_replaced<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    cluster.set("worker", 3).await;
    let machines = cluster.settled(3).await;
    for machine in &machines {
        cluster.join(machine).await;
        cluster.phase(machine.name(), Phase::Running).await;
    }
    check(&cluster, "40%", "0").await;
    let victim = machines[0].name().to_owned();
    // Not for long enough yet.
    cluster.ready(&victim, "Unknown", Duration::from_secs(30)).await;
    eventually("the check has looked", || async {
        let status = cluster.checks().get("check").await.unwrap().status.unwrap_or_default();
        if status.expected_machines == 3 && status.current_healthy == 3 { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    cluster.ready(&victim, "Unknown", Duration::from_secs(301)).await;
    cluster.gone(&victim).await;
    let events = cluster.events(&victim).await;
    let position = |reason: &str| {
        events.iter().position(|event| event.starts_with(reason)).unwrap_or_else(|| panic!("{reason}: {events:?}"))
    };
    position("Unhealthy");
    position("Fenced");
    position("Deleted");
    assert!(
        !events.iter().any(|event| event.starts_with("Drain")),
        "a node that does not answer is not drained: {events:?}"
    );
    let machines = cluster.settled(3).await;
    assert!(!names(&machines).contains(&victim));
    controllers.stop().await.unwrap();
}

pub(crate) async fn too_many_unhealthy_are_left_alone<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    cluster.set("worker", 3).await;
    let machines = cluster.settled(3).await;
    for machine in &machines {
        cluster.join(machine).await;
        cluster.phase(machine.name(), Phase::Running).await;
        cluster.ready(machine.name(), "Unknown", Duration::from_secs(999)).await;
    }
    let before = names(&cluster.list().await);
    check(&cluster, "40%", "0").await;
    eventually("the check says so", || async {
        let events = cluster.events("check").await;
        if events.iter().any(|event| event.contains("3 of 3 machines are unhealthy, more than 40%")) {
            Ok(())
        } else {
            Err(format!("{events:?}"))
        }
    })
    .await;
    // Two recover, and the third is within the limit: it alone goes.
    for machine in &machines[1..] {
        cluster.ready(machine.name(), "True", Duration::ZERO).await;
    }
    cluster.gone(&before[0]).await;
    let after = names(&cluster.settled(3).await);
    assert_eq!(after.iter().filter(|name| before.contains(name)).count(), 2);
    controllers.stop().await.unwrap();
}

pub(crate) async fn masters_go_one_at_a_time<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    for number in 0..3 {
        cluster.machine(&format!("master-{number}"), "master", |_| ()).await;
    }
    let masters = cluster.settled(3).await;
    for master in &masters {
        cluster.join(master).await;
        cluster.phase(master.name(), Phase::Running).await;
    }
    // Two of three: etcd has no quorum to lose any more.
    for master in &masters[..2] {
        cluster.ready(master.name(), "Unknown", Duration::from_secs(999)).await;
    }
    check(&cluster, "100%", "0").await;
    for master in &masters[..2] {
        eventually("it waits", || async {
            let events = cluster.events(master.name()).await;
            if events.iter().any(|event| event.starts_with("RemediationWaits")) {
                Ok(())
            } else {
                Err(format!("{events:?}"))
            }
        })
        .await;
    }
    assert_eq!(names(&cluster.list().await), names(&masters));
    // One comes back: the other is replaced.
    cluster.ready(masters[1].name(), "True", Duration::ZERO).await;
    cluster.gone(masters[0].name()).await;
    let after = cluster.settled(3).await;
    let new = after.iter().find(|machine| !names(&masters).contains(&machine.name().to_owned())).unwrap();
    assert!(new.is_master());
    // While the new one has no node, no other goes.
    cluster.ready(masters[1].name(), "Unknown", Duration::from_secs(999)).await;
    eventually("the other is seen to be ill", || async {
        let status = cluster.checks().get("check").await.unwrap().status.unwrap_or_default();
        if status.current_healthy == 2 { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    assert!(names(&cluster.list().await).contains(&masters[1].name().to_owned()));
    cluster.join(new).await;
    cluster.gone(masters[1].name()).await;
    cluster.settled(3).await;
    controllers.stop().await.unwrap();
}

pub(crate) async fn another_program_is_asked<W: World>() {
    let cluster = Cluster::<W>::new().await;
    for (kind, plural) in [("Remedy", "remedies"), ("RemedyTemplate", "remedytemplates")] {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.remedies.example.com") },
            "spec": {
                "group": "remedies.example.com", "scope": "Namespaced",
                "names": { "kind": kind, "plural": plural, "singular": kind.to_lowercase() },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                } } }],
            },
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), definition.to_string()).unwrap();
        cluster.kubectl(&["apply", "-f", file.path().to_str().unwrap()]);
        let name = format!("crd/{plural}.remedies.example.com");
        cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", &name]);
    }
    let resource = |kind: &str| ApiResource::from_gvk(&GroupVersionKind::gvk("remedies.example.com", "v1", kind));
    let templates: Api<DynamicObject> =
        Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &resource("RemedyTemplate"));
    let template = DynamicObject::new("reboot", &resource("RemedyTemplate"))
        .data(json!({ "spec": { "template": { "spec": { "strategy": "reboot" } } } }));
    templates.create(&PostParams::default(), &template).await.unwrap();
    let controllers = cluster.run();
    cluster.set("worker", 1).await;
    let machines = cluster.settled(1).await;
    let name = machines[0].name().to_owned();
    cluster.join(&machines[0]).await;
    cluster.phase(&name, Phase::Running).await;
    cluster.ready(&name, "False", Duration::from_secs(999)).await;
    let reference = json!({ "apiVersion": "remedies.example.com/v1", "kind": "RemedyTemplate", "name": "reboot" });
    check_with(&cluster, "100%", "0", &json!({ "remediationTemplate": reference })).await;
    let remedies: Api<DynamicObject> =
        Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &resource("Remedy"));
    let asked = eventually("the other program is asked", || async {
        remedies.get_opt(&name).await.unwrap().ok_or_else(|| "nothing".to_owned())
    })
    .await;
    assert_eq!(asked.data["spec"]["strategy"], "reboot");
    assert_eq!(asked.metadata.owner_references.unwrap()[0].uid, machines[0].uid());
    assert_eq!(names(&cluster.list().await), [name]);
    controllers.stop().await.unwrap();
}
