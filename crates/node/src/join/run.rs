//! Attempts to join, until one succeeds.

use std::{path::Path, time::Duration};

use landfall_assets::node::paths;
use landfall_platform::error_chain;
use tokio::time::{Instant, sleep};

use super::{
    authorities,
    joined::{has_begun, has_joined},
};
use crate::{Error, kubeadm::Kubeadm, machine::Machine, probe::Probe, stored};

/// Between two looks at the API.
const LOOK: Duration = Duration::from_millis(500);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(3);
/// How often somebody who reads the log is told that the machine still waits.
const REMIND: Duration = Duration::from_mins(1);

/// Joins, however long it takes.
pub async fn run(machine: &Machine) -> Result<(), Error> {
    if !has_joined(machine).await {
        let mut attempt = 1_u32;
        while let Err(error) = join_once(machine).await {
            tracing::warn!(attempt, error = error_chain(&error), "joining failed; trying again");
            attempt += 1;
            sleep(PAUSE).await;
        }
    }
    authorities::remove(Path::new(paths::AUTHORITIES))?;
    stored::write(Path::new(paths::JOIN_DONE), format!("{}\n", jiff::Timestamp::now()))?;
    tracing::info!("this machine has joined the cluster");
    Ok(())
}

async fn join_once(machine: &Machine) -> Result<(), Error> {
    if has_begun() {
        tracing::info!("taking back what an earlier attempt left");
        Kubeadm::reset(false).await?;
    }
    authorities::put_in_place(Path::new(paths::AUTHORITIES), Path::new(paths::KUBERNETES_PKI))?;
    let kubeadm = Kubeadm::prepare(machine, &[]).await?;
    wait_for_api(&machine.facts.api.endpoint).await?;
    kubeadm.join().await
}

/// Waits until the API answers: an attempt without one costs kubeadm a minute. kubeadm itself checks who answers.
async fn wait_for_api(endpoint: &str) -> Result<(), Error> {
    let probe = Probe::new(Duration::from_secs(5))?;
    let url = format!("https://{endpoint}/readyz");
    let mut told = Instant::now();
    loop {
        let seen = match probe.status(&url).await {
            Ok(200) => return Ok(()),
            Ok(status) => format!("status {status}"),
            Err(error) => error_chain(&error),
        };
        if told.elapsed() > REMIND {
            told = Instant::now();
            tracing::info!(endpoint, seen, "still waiting for the API");
        }
        sleep(LOOK).await;
    }
}
