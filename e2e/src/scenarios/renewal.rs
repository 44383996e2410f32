//! Certificates that end are renewed, by the program on the machine and kubeadm, without anybody noticing.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use tokio::process::Command;

use crate::cluster::Cluster;
use crate::lab::{Host, output};
use crate::outage::Step;
use crate::probe::Probe;
use crate::waiting::until;

const API_SERVER: &str = "/etc/kubernetes/pki/apiserver";
const CONFIG_SERVER: &str = "/etc/landfall/config-server/tls";
const AUTHORITY: &str = "/etc/kubernetes/pki/ca";

/// Steps of a renewal, in their order.
pub(super) const STEPS: [Step; 5] = [
    Step::File("old certificates are kept", "/etc/kubernetes/landfall-renewal/complete"),
    Step::File("etcd stops", "/etc/kubernetes/landfall-aside/etcd.yaml"),
    Step::File("API server stops", "/etc/kubernetes/landfall-aside/kube-apiserver.yaml"),
    Step::File("controller manager stops", "/etc/kubernetes/landfall-aside/kube-controller-manager.yaml"),
    Step::File("scheduler stops", "/etc/kubernetes/landfall-aside/kube-scheduler.yaml"),
];

/// Has the certificates of a master end at once, and waits until they are new and served.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let master = in_turn(cluster).await?;
    expire(&master).await?;
    let probe = Probe::start(cluster.api()?, "renewal");
    master.run(&["systemctl", "restart", "landfall-certificates"]).await?;
    until("new certificates", Duration::from_mins(2), || are_new(&master)).await?;
    until("the API server with its new certificate", Duration::from_mins(5), || async {
        ensure!(is_restarted(&master).await?, "the programs of {} are being restarted", master.name);
        let answer = cluster.api_at(master.address)?.send("GET", "/readyz", &[], "").await?;
        ensure!(answer.status == 200, "the API server of {} answers {}", master.name, answer.status);
        Ok(())
    })
    .await?;
    let outage = probe.finish().await?;
    Ok(format!("{} renewed its certificates and restarted its control plane; meanwhile: {outage}", master.name))
}

/// The master whose hour it is: masters renew one after the other.
pub(super) async fn in_turn(cluster: &Cluster<'_>) -> anyhow::Result<Host> {
    let mut masters = cluster.masters().await?;
    masters.sort_by(|a, b| a.name.cmp(&b.name));
    let hour = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / 3600;
    let place = usize::try_from(hour)? % masters.len().max(1);
    masters.into_iter().nth(place).context("there are no masters")
}

/// Has the certificates of a master end.
pub(super) async fn expire(master: &Host) -> anyhow::Result<()> {
    for certificate in [API_SERVER, CONFIG_SERVER] {
        end(master, certificate).await?;
        ensure!(!is_valid(&path(master, certificate)?).await, "{certificate}.crt has not ended");
    }
    Ok(())
}

/// Fails if the certificates of a master, which has just been switched on perhaps, are the old ones.
pub(super) async fn renewed(cluster: &Cluster<'_>, name: &str) -> anyhow::Result<()> {
    let masters = cluster.masters().await?;
    are_new(masters.iter().find(|master| master.name == name).with_context(|| format!("{name} is off"))?).await
}

async fn are_new(master: &Host) -> anyhow::Result<()> {
    for certificate in [API_SERVER, CONFIG_SERVER] {
        ensure!(is_valid(&path(master, certificate)?).await, "{certificate}.crt is the old one");
    }
    Ok(())
}

/// Issues a certificate anew with the same names and key, and no time to live.
async fn end(host: &Host, certificate: &str) -> anyhow::Result<()> {
    let root = root(host)?;
    let script = "openssl x509 -x509toreq -in \"$1.crt\" -signkey \"$1.key\" -copy_extensions copyall \
        | openssl x509 -req -CA \"$2.crt\" -CAkey \"$2.key\" -days 0 -copy_extensions copyall -out \"$1.new\" \
        && mv \"$1.new\" \"$1.crt\" && sync \"$1.crt\"";
    let mut command = Command::new("sh");
    command.args(["-ec", script, "sh", &format!("{root}{certificate}"), &format!("{root}{AUTHORITY}")]);
    output(&mut command).await.map(drop)
}

/// Returns true if a certificate has an hour left.
async fn is_valid(certificate: &Path) -> bool {
    let mut command = Command::new("openssl");
    command.args(["x509", "-noout", "-checkend", "3600", "-in"]).arg(certificate);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().await.is_ok_and(|status| status.success())
}

fn path(host: &Host, certificate: &str) -> anyhow::Result<PathBuf> {
    Ok(format!("{}{certificate}.crt", root(host)?).into())
}

/// Whether the program on the machine has said that it is done.
async fn is_restarted(host: &Host) -> anyhow::Result<bool> {
    let said = host.run(&["journalctl", "--unit=landfall-certificates", "--no-pager", "--output=cat"]).await?;
    Ok(said.contains("have new certificates"))
}

/// The files of a host, seen from outside.
fn root(host: &Host) -> anyhow::Result<String> {
    let pid = host.pid.with_context(|| format!("{} is not up", host.name))?;
    Ok(format!("/proc/{pid}/root"))
}
