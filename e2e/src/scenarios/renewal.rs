//! Certificates that end are renewed, by the program on the machine and kubeadm, without anybody noticing.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use tokio::process::Command;

use crate::cluster::Cluster;
use crate::lab::{Host, output};
use crate::probe::Probe;
use crate::waiting::until;

const API_SERVER: &str = "/etc/kubernetes/pki/apiserver";
const CONFIG_SERVER: &str = "/etc/landfall/config-server/tls";
const AUTHORITY: &str = "/etc/kubernetes/pki/ca";

/// Has the certificates of a master end at once, and waits until they are new and served.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let master = in_turn(cluster).await?;
    for certificate in [API_SERVER, CONFIG_SERVER] {
        end(&master, certificate).await?;
        ensure!(!is_valid(&master, certificate).await?, "{certificate}.crt has not ended");
    }
    let probe = Probe::start(cluster.api()?, "renewal");
    master.run(&["systemctl", "restart", "landfall-certificates"]).await?;
    until("new certificates", Duration::from_mins(2), || async {
        for certificate in [API_SERVER, CONFIG_SERVER] {
            ensure!(is_valid(&master, certificate).await?, "{certificate}.crt is the old one");
        }
        Ok(())
    })
    .await?;
    until("the API server with its new certificate", Duration::from_mins(2), || async {
        let answer = cluster.api_at(master.address)?.send("GET", "/readyz", &[], "").await?;
        ensure!(answer.status == 200, "the API server of {} answers {}", master.name, answer.status);
        Ok(())
    })
    .await?;
    let outage = probe.finish().await?;
    Ok(format!("{} renewed its certificates and restarted its control plane; meanwhile: {outage}", master.name))
}

/// The master whose hour it is: masters renew one after the other.
async fn in_turn(cluster: &Cluster<'_>) -> anyhow::Result<Host> {
    let mut masters = cluster.masters().await?;
    masters.sort_by(|a, b| a.name.cmp(&b.name));
    let hour = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / 3600;
    let place = usize::try_from(hour)? % masters.len().max(1);
    masters.into_iter().nth(place).context("there are no masters")
}

/// Issues a certificate anew with the same names and key, and no time to live.
async fn end(host: &Host, certificate: &str) -> anyhow::Result<()> {
    let root = root(host)?;
    let script = "openssl x509 -x509toreq -in \"$1.crt\" -signkey \"$1.key\" -copy_extensions copyall \
        | openssl x509 -req -CA \"$2.crt\" -CAkey \"$2.key\" -days 0 -copy_extensions copyall -out \"$1.new\" \
        && mv \"$1.new\" \"$1.crt\"";
    let mut command = Command::new("sh");
    command.args(["-ec", script, "sh", &format!("{root}{certificate}"), &format!("{root}{AUTHORITY}")]);
    output(&mut command).await.map(drop)
}

async fn is_valid(host: &Host, certificate: &str) -> anyhow::Result<bool> {
    let path = format!("{}{certificate}.crt", root(host)?);
    let status = Command::new("openssl")
        .args(["x509", "-noout", "-checkend", "86400", "-in", &path])
        .stdout(std::process::Stdio::null())
        .status()
        .await?;
    Ok(status.success())
}

/// The files of a host, seen from outside.
fn root(host: &Host) -> anyhow::Result<String> {
    let pid = host.pid.with_context(|| format!("{} is not up", host.name))?;
    Ok(format!("/proc/{pid}/root"))
}
