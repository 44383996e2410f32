//! Machines lose their power at each step of what they do, and with it everything that was not synced.
//!
//! Whatever the step, the cluster must become healthy again by itself, etcd must have the members that it had, and no write that was
//! acknowledged may be lost.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use futures::future::BoxFuture;

use super::{etcd, install, machines, remove, renewal};
use crate::cluster::Cluster;
use crate::outage::{Step, cut_at};
use crate::register::Register;
use crate::waiting::until;

/// How long a cluster may take to become healthy after the last loss of power.
const RECOVERY: Duration = Duration::from_mins(8);

/// Steps of a master that joins, in their order.
const JOIN: [Step; 9] = [
    Step::File("the join is noted", "/var/lib/landfall/join.begun"),
    Step::File("certificates", "/etc/kubernetes/pki/front-proxy-client.crt"),
    Step::File("administrator's identity", "/etc/kubernetes/admin.conf"),
    Step::File("manifests", "/etc/kubernetes/manifests/kube-scheduler.yaml"),
    Step::File("kubelet's configuration", "/var/lib/kubelet/config.yaml"),
    Step::File("etcd's manifest", "/etc/kubernetes/manifests/etcd.yaml"),
    ETCD_DATA,
    Step::File("kubelet's identity", "/etc/kubernetes/kubelet.conf"),
    Step::File("joined", "/var/lib/landfall/join.done"),
];
/// The worst: the machine has a part of etcd's data, and the cluster does not know it as a master yet.
const ETCD_DATA: Step = Step::File("etcd's data", "/var/lib/etcd/member/wal");

/// Steps of the bootstrap machine, in their order. The first start of the first etcd is not among them: without power between the creation of its log
/// and the first entry in it, etcd 3.6 never elects a leader, and the installation has to be repeated.
const PIVOT: [Step; 11] = [
    Step::Bootstrap("vip"),
    Step::Bootstrap("preflight"),
    Step::Bootstrap("control-plane"),
    Step::File("certificates", "/etc/kubernetes/pki/apiserver-etcd-client.crt"),
    Step::Bootstrap("manifests"),
    Step::Bootstrap("masters"),
    Step::Bootstrap("revoke-master-token"),
    Step::Bootstrap("release-vip"),
    Step::Bootstrap("etcd-member"),
    Step::Bootstrap("reset"),
    Step::Bootstrap("complete"),
];

/// Installs a cluster, one of whose masters loses its power at each step of its join.
pub(crate) async fn join(first: &Cluster<'_>) -> anyhow::Result<String> {
    let cluster = Cluster::new(first.lab, "power-loss-join");
    installation(&cluster, "join", |cluster| Box::pin(at_each_step(cluster, "-master-0", &JOIN))).await
}

/// Installs a cluster whose bootstrap machine loses its power at each of its steps.
pub(crate) async fn pivot(first: &Cluster<'_>) -> anyhow::Result<String> {
    let cluster = Cluster::new(first.lab, "power-loss-pivot");
    installation(&cluster, "pivot", |cluster| Box::pin(at_each_step(cluster, "-bootstrap", &PIVOT))).await
}

/// Replaces a master; the new one loses its power at each step of its join.
pub(crate) async fn replacement(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    replaced(cluster, "replacement", &JOIN).await
}

/// Replaces a master; the new one loses its power at the worst step of its join.
pub(crate) async fn replacement_at_its_worst(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    replaced(cluster, "replacement-once", &[ETCD_DATA]).await
}

async fn replaced(cluster: &Cluster<'_>, trial: &str, steps: &[Step]) -> anyhow::Result<String> {
    let before = etcd::members(cluster).await?;
    let register = Register::start(cluster.api()?, trial, &cluster.lab.logs).await?;
    let began = Instant::now();
    let replacement = machines::Replacement::begin(cluster).await?;
    let told = at_each_step(cluster, &replacement.new, steps).await?;
    replacement.end(cluster, RECOVERY).await?;
    let took = began.elapsed().as_secs_f64();
    let after = until("etcd's members", RECOVERY, || etcd::members(cluster)).await?;
    let gone = etcd::lost(&before, &after);
    ensure!(
        gone == [replacement.old.clone()],
        "etcd lost the members of {gone:?}, and {} was replaced",
        replacement.old
    );
    let judgement = register.finish().await?;
    Ok(format!("{} lost its power {told} and joined within {took:.0} s; {judgement}", replacement.new))
}

/// Has the certificates of masters end at once; the one that renews them loses its power at each step.
pub(crate) async fn renewal(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let before = etcd::members(cluster).await?;
    let register = Register::start(cluster.api()?, "renewal", &cluster.lab.logs).await?;
    let mut slowest = 0.0_f64;
    for (number, step) in renewal::STEPS.iter().enumerate() {
        early_in_the_hour().await;
        let master = renewal::in_turn(cluster).await?;
        renewal::expire(&master).await?;
        let since = SystemTime::now();
        master.run(&["systemctl", "restart", "landfall-certificates"]).await?;
        cut_at(cluster, &master.name, *step, since).await?;
        let on_again = Instant::now();
        healthy(cluster, &format!("after the loss of power at step {number} ({})", step.name())).await?;
        until("new certificates", RECOVERY, || renewal::renewed(cluster, &master.name)).await?;
        slowest = slowest.max(on_again.elapsed().as_secs_f64());
        let after = until("etcd's members", RECOVERY, || etcd::members(cluster)).await?;
        ensure!(after == before, "etcd's members were {before:?} and are {after:?}");
    }
    let judgement = register.finish().await?;
    let names: Vec<&str> = renewal::STEPS.iter().map(|step| step.name()).collect();
    Ok(format!(
        "a master lost its power {} times ({}) and had new certificates at most {slowest:.0} s later; {judgement}",
        names.len(),
        names.join(", ")
    ))
}

/// A machine is on again after each of these losses of power; what happens to it then is judged by others.
async fn at_each_step(cluster: &Cluster<'_>, name: &str, steps: &[Step]) -> anyhow::Result<String> {
    let began = Instant::now();
    let mut told = Vec::new();
    for step in steps {
        cut_at(cluster, name, *step, SystemTime::now()).await?;
        told.push(format!("{} ({:.0} s)", step.name(), began.elapsed().as_secs_f64()));
    }
    Ok(format!("{} times: {}", steps.len(), told.join(", ")))
}

/// Installs a cluster while something goes on, judges it, and destroys it.
async fn installation(
    cluster: &Cluster<'_>,
    trial: &str,
    faults: impl for<'a> FnOnce(&'a Cluster<'_>) -> BoxFuture<'a, anyhow::Result<String>>,
) -> anyhow::Result<String> {
    install::configure(cluster).await?;
    let began = Instant::now();
    let installed = async {
        let register = async {
            let api = until("the administrator's credentials", RECOVERY, async || cluster.api()).await?;
            Register::start(api, trial, &cluster.lab.logs).await
        };
        let create = ["create", "cluster"];
        let ((), told, register) = futures::try_join!(cluster.landfall(&create), faults(cluster), register)?;
        let took = began.elapsed().as_secs_f64();
        until("a healthy cluster", RECOVERY, || install::judge(cluster)).await?;
        until("etcd's members", RECOVERY, || etcd::members(cluster)).await?;
        let judgement = register.finish().await?;
        anyhow::Ok(format!("power was lost {told}; cluster ready after {took:.0} s; {judgement}"))
    }
    .await;
    // The next scenario wants the addresses, also if this one failed.
    let removed = remove::run(cluster).await;
    let installed = installed?;
    removed.map(|_| installed)
}

/// Returns when all nodes are ready and etcd is healthy.
async fn healthy(cluster: &Cluster<'_>, when: &str) -> anyhow::Result<()> {
    until(&format!("a healthy cluster {when}"), RECOVERY, || async {
        let ready = cluster.ready_nodes().await?;
        ensure!(ready.len() == 4, "ready: {ready:?}");
        etcd::members(cluster).await.map(drop)
    })
    .await
}

/// Masters renew in hours of their own. Waits for the next hour if this one is nearly over.
async fn early_in_the_hour() {
    const MARGIN: u64 = 6 * 60;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let left = 3600 - now % 3600;
    if left < MARGIN {
        tokio::time::sleep(Duration::from_secs(left + 1)).await;
    }
}
