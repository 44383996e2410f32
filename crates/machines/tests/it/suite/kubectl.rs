//! What people do with kubectl, and what the controllers may do.

use landfall_machine_api::Phase;

use crate::{
    cluster::{Cluster, client, eventually},
    worlds::World,
};

pub(crate) async fn columns_scale_and_delete<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let set = cluster.set("worker", 1).await;
    cluster.kubectl(&["scale", "machineset", &set, "--replicas=2"]);
    let machines = cluster.settled(2).await;
    for machine in &machines {
        cluster.join(machine).await;
        cluster.phase(machine.name(), Phase::Running).await;
    }
    let table = eventually("the table is full", || async {
        let table = cluster.kubectl(&["get", "machines"]);
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        if rows[1..].iter().all(|row| row.len() == 6) { Ok(table) } else { Err(table) }
    })
    .await;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "PHASE", "NODE", "ADDRESS", "STATE", "AGE"]);
    for (row, machine) in rows[1..].iter().zip(&machines) {
        assert_eq!(row[..3], [machine.name(), "Running", machine.name()], "{table}");
        row[3].parse::<std::net::IpAddr>().unwrap();
    }
    eventually("the set's table says so", || async {
        let table = cluster.kubectl(&["get", "machinesets"]);
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        if row[..5] == [set.as_str(), "2", "2", "2", "2"] { Ok(()) } else { Err(table) }
    })
    .await;
    cluster.kubectl(&["delete", "machine", machines[0].name(), "--wait"]);
    // The set makes another.
    let after = cluster.settled(2).await;
    assert!(after.iter().all(|machine| machine.uid() != machines[0].uid()));
    let explained = cluster.kubectl(&["explain", "machineset.spec.template.spec.providerSpec.value"]);
    assert!(explained.contains("FIELDS"), "{explained}");
    controllers.stop().await.unwrap();
}

/// The controllers do all of their work with the permissions that the installer gives them.
pub(crate) async fn least_privilege_is_enough<W: World>() {
    let mut cluster = Cluster::<W>::new().await;
    let rules = landfall_machine_api::permissions("machines", &cluster.namespace, true);
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": rules });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), list.to_string()).unwrap();
    let admin = std::fs::read_to_string(cluster.control_plane.lock().unwrap().kubeconfig()).unwrap();
    Cluster::<W>::kubectl_as(&admin, &["apply", "-f", file.path().to_str().unwrap()]);
    let token = cluster.kubectl(&["create", "token", "machines"]);
    let kubeconfig = {
        let plane = cluster.control_plane.lock().unwrap();
        let admin = plane.kubeconfig_for("nobody", None);
        let (head, _) = admin.split_once("users:").unwrap();
        format!("{head}users:\n- name: user\n  user:\n    token: {}\n", token.trim())
    };
    cluster.controller_client = client(&kubeconfig).await;
    let mut options = cluster.options();
    options.lease = Some(Cluster::<W>::lease("account"));
    let controllers = cluster.run_with(options);
    cluster.set("worker", 2).await;
    let machines = cluster.settled(2).await;
    for machine in &machines {
        cluster.join(machine).await;
        cluster.phase(machine.name(), Phase::Running).await;
    }
    super::health::check(&cluster, "100%", "0").await;
    cluster.ready(machines[0].name(), "Unknown", std::time::Duration::from_secs(999)).await;
    cluster.gone(machines[0].name()).await;
    cluster.settled(2).await;
    cluster.delete(machines[1].name()).await;
    cluster.gone(machines[1].name()).await;
    let events = cluster.events(machines[1].name()).await;
    assert!(events.iter().any(|event| event.starts_with("Drained")), "{events:?}");
    cluster.settled(2).await;
    // And with no more than that: other Secrets of the cluster, for one, are out of reach.
    let refused =
        Cluster::<W>::kubectl_as(&kubeconfig, &["auth", "can-i", "get", "secrets", "--namespace", "kube-system"]);
    assert!(refused.contains("no"), "{refused}");
    let refused =
        Cluster::<W>::kubectl_as(&kubeconfig, &["auth", "can-i", "list", "secrets", "--namespace", &cluster.namespace]);
    assert!(refused.contains("no"), "{refused}");
    controllers.stop().await.unwrap();
}
