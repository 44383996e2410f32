//! Attempts to join, until one succeeds or time is up.

use std::{path::Path, time::Duration};

use landfall_assets::node::paths;
use landfall_platform::error_chain;
use tokio::time::{Instant, sleep, timeout_at};

use super::{
    authorities,
    decision::{Decision, decide},
    material,
    remains::Remains,
    state::State,
    take_back::{leave_etcd, take_back},
    word::Word,
};
use crate::{
    Error,
    kubeadm::{self, Kubeadm},
    machine::Machine,
    probe::Probe,
    stored,
};

/// Between two looks at the API.
const LOOK: Duration = Duration::from_millis(500);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(3);
/// After this the program ends and systemd starts it anew, so that nothing it holds can be what keeps it from joining.
const LIMIT: Duration = Duration::from_hours(1);
/// An API that has not come by then may have moved: the attempt ends, and what to join with is fetched again.
const API_LIMIT: Duration = Duration::from_mins(10);

/// Joins, or fails with what was seen last.
pub async fn run(machine: &Machine) -> Result<(), Error> {
    let deadline = Instant::now() + LIMIT;
    let mut state = State::of(machine);
    loop {
        let seen = match attempt(machine).await {
            Ok(None) => break,
            Ok(Some(reason)) => reason,
            Err(error) => error_chain(&error),
        };
        state.tell(&seen);
        if Instant::now() > deadline {
            return Err(Error::Timeout {
                awaited: "this machine's place in the cluster",
                limit: LIMIT,
                evidence: seen,
            });
        }
        sleep(PAUSE).await;
    }
    // From then on nobody makes what is missing.
    kubeadm::store()?;
    authorities::remove(Path::new(paths::AUTHORITIES))?;
    stored::mark(Path::new(paths::JOIN_DONE), format!("{}\n", jiff::Timestamp::now()))?;
    stored::remove(Path::new(paths::CREDENTIAL))?;
    stored::remove(Path::new(paths::CONFIG_SOURCE))?;
    state.end();
    tracing::info!("this machine has joined the cluster");
    Ok(())
}

/// Makes one attempt. Returns the reason if there is something to wait for first.
async fn attempt(machine: &Machine) -> Result<Option<String>, Error> {
    let remains = Remains::look(Path::new("/"))?;
    match decide(remains, &Word::ask(machine, remains).await) {
        Decision::Done => return Ok(None),
        Decision::Wait(reason) => return Ok(Some(reason)),
        Decision::Join => {}
        Decision::Reset => take_back().await?,
        Decision::LeaveAndReset => {
            leave_etcd(machine).await?;
            take_back().await?;
        }
    }
    let joined = join_once(machine).await;
    if joined.is_err() {
        // What it joins with may have ended or been revoked.
        if let Err(error) = material::refresh(machine).await {
            tracing::warn!(error = error_chain(&error), "cannot fetch anew what to join with");
        }
    }
    joined.map(|()| None)
}

async fn join_once(machine: &Machine) -> Result<(), Error> {
    authorities::put_in_place(Path::new(paths::AUTHORITIES), Path::new(paths::KUBERNETES_PKI))?;
    wait_for_api(&machine.facts.api.endpoint, API_LIMIT).await?;
    // Stored first: whatever kubeadm has done when the power is lost, it is known to come from here.
    stored::mark(Path::new(paths::JOIN_BEGUN), format!("{}\n", jiff::Timestamp::now()))?;
    Kubeadm::join(machine).await
}

/// Waits until the API answers: an attempt without one costs kubeadm a minute. kubeadm itself checks who answers.
async fn wait_for_api(endpoint: &str, limit: Duration) -> Result<(), Error> {
    let probe = Probe::new(Duration::from_secs(5))?;
    let url = format!("https://{endpoint}/readyz");
    let mut evidence = "nothing".to_owned();
    let deadline = Instant::now() + limit;
    loop {
        match timeout_at(deadline, probe.status(&url)).await {
            Ok(Ok(200)) => return Ok(()),
            Ok(Ok(status)) => evidence = format!("{url} answers with status {status}"),
            Ok(Err(error)) => evidence = error_chain(&error),
            Err(_) => {}
        }
        if Instant::now() >= deadline {
            return Err(Error::Timeout { awaited: "the API of the cluster", limit, evidence });
        }
        sleep(LOOK.min(deadline - Instant::now())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_api_that_does_not_come_is_not_awaited_for_ever() {
        // A port that was free a moment ago: nothing listens there.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = wait_for_api(&free.to_string(), Duration::from_millis(700)).await.unwrap_err().to_string();
        assert!(error.starts_with("the API of the cluster did not come within"), "{error}");
        assert!(error.contains(&format!("https://{free}/readyz")), "what was seen last: {error}");
    }
}
