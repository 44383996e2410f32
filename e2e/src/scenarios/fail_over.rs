//! What clients of the API notice when something on the machine that has its address dies.

use std::time::Duration;

use anyhow::ensure;

use crate::cluster::{API_VIP, Cluster};
use crate::lab::Host;
use crate::probe::{Outage, Probe};
use crate::register::Register;
use crate::waiting::until;

/// How long the API must have been served before a trial begins, and after it before it ends.
const CALM: Duration = Duration::from_secs(5);
/// How long an outage may last before a trial counts as failed. Not an aim: the outage itself is reported.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) async fn haproxy(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    killed(cluster, "haproxy").await
}

pub(crate) async fn api_server(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    killed(cluster, "kube-apiserver").await
}

pub(crate) async fn keepalived(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    killed(cluster, "keepalived").await
}

/// Every process on the holder stops where it stands, and goes on later.
pub(crate) async fn freeze(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let holder = calm(cluster).await?;
    let probe = Probe::start(cluster.api()?, "freeze");
    tokio::time::sleep(CALM).await;
    holder.freeze(true)?;
    let result = recovered(&probe).await;
    holder.freeze(false)?;
    result?;
    let outage = settled(cluster, probe).await?;
    Ok(format!("{outage}; {} was frozen, then went on", holder.name))
}

/// The holder's cable is cut and mended: both sides of the partition have lived on meanwhile.
pub(crate) async fn cut(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let holder = calm(cluster).await?;
    let probe = Probe::start(cluster.api()?, "cut");
    tokio::time::sleep(CALM).await;
    holder.plug(false).await?;
    let result = recovered(&probe).await;
    holder.plug(true).await?;
    result?;
    let outage = settled(cluster, probe).await?;
    Ok(format!("{outage}; {} was cut off, then mended, and one machine has the address", holder.name))
}

/// The holder loses its power, and gets it back.
pub(crate) async fn switch_off(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let holder = calm(cluster).await?;
    let probe = Probe::start(cluster.api()?, "power");
    let register = Register::start(cluster.api()?, "switch-off", &cluster.lab.logs).await?;
    tokio::time::sleep(CALM).await;
    cluster.lab.act(&holder, "stop").await?;
    until("the machine to be off", LIMIT, || async {
        let hosts = cluster.lab.hosts().await?;
        ensure!(!hosts.iter().any(|host| host.id == holder.id), "{} is on", holder.name);
        Ok(())
    })
    .await?;
    recovered(&probe).await?;
    let outage = probe.finish().await?;
    until("the machine to be switched on", LIMIT, || cluster.lab.act(&holder, "start")).await?;
    let back = std::time::Instant::now();
    // Its node may have been missed by nobody yet, so its own API server is asked.
    until("the machine to be back", Duration::from_mins(3), || async {
        let answer = cluster.api_at(holder.address)?.send("GET", "/readyz", &[], "").await?;
        ensure!(answer.status == 200, "the API server of {} answers {}", holder.name, answer.status);
        Ok(())
    })
    .await?;
    let back = back.elapsed().as_secs_f64();
    calm(cluster).await?;
    let judgement = register.finish().await?;
    Ok(format!(
        "{outage}; {} lost its power, and its API server was ready {back:.0} s after it was switched on; {judgement}",
        holder.name
    ))
}

/// Kills all processes of a program on the holder.
async fn killed(cluster: &Cluster<'_>, program: &str) -> anyhow::Result<String> {
    let holder = calm(cluster).await?;
    let probe = Probe::start(cluster.api()?, program);
    tokio::time::sleep(CALM).await;
    holder.run(&["pkill", "-9", "-x", program.get(..15).unwrap_or(program)]).await?;
    recovered(&probe).await?;
    let outage = settled(cluster, probe).await?;
    let after = cluster.holder().await?;
    Ok(format!("{outage}; was on {}, now on {}", holder.name, after.name))
}

/// The holder, once all nodes are ready and one machine has the address.
async fn calm(cluster: &Cluster<'_>) -> anyhow::Result<Host> {
    until("a calm cluster", Duration::from_mins(3), || async {
        let ready = cluster.ready_nodes().await?;
        ensure!(ready.len() == 4, "ready: {ready:?}");
        for master in cluster.masters().await? {
            for (unit, what) in [("landfall-load-balancer", "haproxy"), ("landfall-vip", "keepalived")] {
                ensure!(master.run(&["pgrep", "-x", what]).await.is_ok(), "{} has no {what} ({unit})", master.name);
            }
        }
        cluster.holder().await
    })
    .await
}

/// Returns when the API has been served for a while after the fault.
async fn recovered(probe: &Probe) -> anyhow::Result<()> {
    // The fault must have shown before calm counts, if it shows at all.
    tokio::time::sleep(CALM).await;
    until("the API to be served again", LIMIT, || async {
        let served = probe.served_for();
        ensure!(served >= CALM, "served for {served:?} only");
        Ok(())
    })
    .await
}

/// Ends a trial when the fault is gone: one machine has the address, and keeps it.
async fn settled(cluster: &Cluster<'_>, probe: Probe) -> anyhow::Result<Outage> {
    until("one machine to have the address", LIMIT, || async { cluster.holder().await.map(drop) }).await?;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let masters = cluster.masters().await?;
        let holders = cluster.holders(&masters).await;
        ensure!(holders.len() <= 1, "{API_VIP} is on {:?}", holders.iter().map(|host| &host.name).collect::<Vec<_>>());
    }
    recovered(&probe).await?;
    probe.finish().await
}
