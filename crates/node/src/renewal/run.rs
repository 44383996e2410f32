//! Looking every few minutes, acting in this machine's own hours.

use std::{path::Path, time::Duration};

use jiff::Timestamp;
use landfall_assets::MachineRole;
use landfall_platform::error_chain;
use tokio_util::sync::CancellationToken;

use super::{certificate_files, config_server, copy, is_due, restart};
use crate::{
    Error, approval,
    kube::{Access, ClusterNode, remembered},
    kubeadm,
    machine::Machine,
    program::Program,
};

const KUBERNETES: &str = "/etc/kubernetes";
const INTERVAL: Duration = Duration::from_mins(10);
const HOUR: i64 = 3600;

/// Renews what is due, and approves what kubelets ask for, until `stop`.
pub async fn run(machine: &Machine, stop: CancellationToken) -> Result<(), Error> {
    let kubernetes = Path::new(KUBERNETES);
    put_back(kubernetes)?;
    let access = Access::of(machine);
    tokio::select! {
        () = stop.cancelled() => {}
        () = approval::keep_approving_alone(machine, &access) => {}
        () = approval::keep_withdrawn(&access) => {}
        () = keep_renewing(machine, kubernetes) => {}
    }
    // A renewal may have been cut off.
    put_back(kubernetes)
}

/// Puts back what an earlier renewal replaced or took away.
fn put_back(kubernetes: &Path) -> Result<(), Error> {
    copy::put_back(kubernetes)?;
    restart::put_back(kubernetes)
}

async fn keep_renewing(machine: &Machine, kubernetes: &Path) {
    // waits: a service, which goes on for as long as its future is polled
    loop {
        let now = Timestamp::now();
        if let Some(facts) = &machine.facts.config_server
            && let Err(error) = config_server::renew(facts, now)
        {
            tracing::error!(error = error_chain(&error), "the config server's certificate is not renewed");
        }
        if is_own_hour(&machine.name, &remembered(machine), now)
            && let Err(error) = renew(kubernetes, now).await
        {
            tracing::error!(error = error_chain(&error), "the control plane's certificates are not renewed");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn renew(kubernetes: &Path, now: Timestamp) -> Result<(), Error> {
    let due: Vec<String> = certificate_files(kubernetes)
        .into_iter()
        .filter(|file| file.expiry.as_ref().is_ok_and(|expiry| is_due(expiry, now)))
        .map(|file| file.path.display().to_string())
        .collect();
    if due.is_empty() {
        return Ok(());
    }
    tracing::info!(files = due.join(" "), "renewing the control plane's certificates");
    copy::keep(kubernetes)?;
    let renewed = Program::new("kubeadm", ["certs", "renew", "all"]).limit(Duration::from_mins(5)).run().await;
    if let Err(error) = renewed {
        copy::put_back(kubernetes)?;
        return Err(error.into());
    }
    kubeadm::store()?;
    copy::discard(kubernetes)?;
    restart::restart_all(kubernetes).await?;
    tracing::info!("all programs of the control plane have new certificates");
    Ok(())
}

/// Whether this hour is the machine's own: with three masters every third one, and never that of another master.
fn is_own_hour(name: &str, nodes: &[ClusterNode], now: Timestamp) -> bool {
    let mut masters: Vec<&str> =
        nodes.iter().filter(|node| node.role == MachineRole::Master).map(|node| node.name.as_str()).collect();
    masters.sort_unstable();
    let count = i64::try_from(masters.len()).unwrap_or(i64::MAX).max(1);
    let place = masters.iter().position(|master| *master == name).and_then(|place| i64::try_from(place).ok());
    place.is_some_and(|place| (now.as_second() / HOUR).rem_euclid(count) == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_masters_restart_in_one_hour() {
        let nodes: Vec<ClusterNode> = ["m-0", "m-1", "m-2"]
            .map(|name| ClusterNode {
                name: name.to_owned(),
                role: MachineRole::Master,
                addresses: Vec::new(),
                pod_networks: Vec::new(),
            })
            .into();
        for hour in 0..24 {
            let now = Timestamp::from_second(hour * HOUR + 1).unwrap();
            let acting = nodes.iter().filter(|node| is_own_hour(&node.name, &nodes, now)).count();
            assert_eq!(acting, 1, "in hour {hour}");
        }
        assert!(!is_own_hour("stranger", &nodes, Timestamp::UNIX_EPOCH));
    }
}
