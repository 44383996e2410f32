//! Attempts to join, until one succeeds.

use std::{path::Path, time::Duration};

use landfall_assets::node::paths;
use landfall_platform::error_chain;
use landfall_wire::{Client, Limits, Request, Trust};
use tokio::time::{Instant, sleep};
use url::Url;

use super::joined::{has_begun, has_joined};
use crate::{Error, kubeadm::Kubeadm, machine::Machine, stored};

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
    stored::write(Path::new(paths::JOIN_DONE), format!("{}\n", jiff::Timestamp::now()))?;
    tracing::info!("this machine has joined the cluster");
    Ok(())
}

async fn join_once(machine: &Machine) -> Result<(), Error> {
    if has_begun() {
        tracing::info!("taking back what an earlier attempt left");
        Kubeadm::reset(false).await?;
    }
    let kubeadm = Kubeadm::prepare(machine, &[]).await?;
    wait_for_api(&machine.facts.api.endpoint).await?;
    kubeadm.join().await
}

/// Waits until the API answers: an attempt without one costs kubeadm a minute. Nothing secret is sent, and kubeadm itself
/// checks who answers, so this does not.
async fn wait_for_api(endpoint: &str) -> Result<(), Error> {
    let url = Url::parse(&format!("https://{endpoint}/readyz")).map_err(|error| Error::NotUnderstood {
        path: paths::NODE_FACTS.into(),
        reason: format!("the endpoint {endpoint} is not a host and a port: {error}"),
    })?;
    let limits = Limits { connect: Duration::from_secs(2), exchange: Duration::from_secs(5), answer: 1 << 20 };
    let client = Client::new(&Trust::Unverified, limits)
        .map_err(|source| Error::Request { attempt: "preparing to call the API".into(), source: Box::new(source) })?;
    let mut told = Instant::now();
    loop {
        let seen = match client.send(Request::get(url.clone())).await {
            Ok(reply) if reply.status() == 200 => return Ok(()),
            Ok(reply) => format!("status {}", reply.status()),
            Err(error) => error_chain(&error),
        };
        if told.elapsed() > REMIND {
            told = Instant::now();
            tracing::info!(endpoint, seen, "still waiting for the API");
        }
        sleep(LOOK).await;
    }
}
