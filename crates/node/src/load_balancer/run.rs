//! Running haproxy with backends that follow the members.

use std::{path::Path, time::Duration};

use landfall_assets::haproxy_config;
use landfall_platform::error_chain;
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use super::redirect::Redirect;
use crate::{
    Error,
    daemon::Daemon,
    kube::{ClusterNode, follow},
    machine::Machine,
    probe::Probe,
    program::Program,
    stored,
};

const INTERVAL: Duration = Duration::from_secs(2);
/// How soon it is noticed that haproxy has lost its last API server.
const LOOK: Duration = Duration::from_millis(500);
/// Looks without an answer after which the redirect goes. One may be lost on a busy machine.
const MISSED: u32 = 2;

/// Balances until `stop`.
pub async fn run(machine: &Machine, stop: CancellationToken) -> Result<(), Error> {
    let vips = machine.vips()?;
    std::fs::create_dir_all(&machine.runtime).map_err(Error::file("create", &machine.runtime))?;
    let mut haproxy = Daemon::new("haproxy", ["-W", "-db", "-f", &vips.haproxy_config], Signal::USR2);
    let mut redirect = Redirect::new(vips, machine.facts.api.port);
    let probe = Probe::new(LOOK)?;
    let backends = format!("http://127.0.0.1:{}/ready", vips.balancer_backends_port);
    let mut known = follow(machine, INTERVAL);
    let mut configured: Option<Vec<ClusterNode>> = None;
    let mut missed = 0;
    // What an earlier run left behind leads nowhere until haproxy runs.
    redirect.set(false).await?;
    // waits: a service, which ends when it is stopped
    loop {
        let nodes = known.borrow_and_update().nodes.clone();
        if configured.as_ref() != Some(&nodes) || !haproxy.is_running() {
            match configure(machine, &nodes, &mut haproxy).await {
                Ok(()) => configured = Some(nodes),
                Err(error) => tracing::warn!(error = error_chain(&error), "the balancer is not as it should be"),
            }
        }
        tokio::select! {
            () = stop.cancelled() => break,
            _ = known.changed() => continue,
            // At once: until it runs again, the local API server serves.
            _ = haproxy.ended() => missed = MISSED,
            () = tokio::time::sleep(LOOK) => missed = if probe.is_well(&backends).await { 0 } else { missed + 1 },
        }
        let wanted = if missed == 0 { Some(true) } else { (missed >= MISSED).then_some(false) };
        if let Some(wanted) = wanted
            && let Err(error) = redirect.set(wanted).await
        {
            tracing::warn!(error = error_chain(&error), "cannot change the redirect to the balancer");
        }
    }
    redirect.set(false).await?;
    haproxy.stop().await;
    Ok(())
}

/// Makes haproxy run with the configuration that follows from the nodes. One that haproxy refuses is not put in place, since
/// it would end the balancing that works.
async fn configure(machine: &Machine, nodes: &[ClusterNode], haproxy: &mut Daemon) -> Result<(), Error> {
    let vips = machine.vips()?;
    let members: Vec<_> = nodes.iter().map(ClusterNode::member).collect();
    let text = haproxy_config(&machine.facts, vips, &members);
    let candidate = machine.runtime.join("haproxy.cfg.new");
    stored::write(&candidate, &text)?;
    Program::new("haproxy", ["-c", "-q", "-f", &candidate.display().to_string()]).run().await?;
    let changed = stored::write(Path::new(&vips.haproxy_config), text)?;
    if haproxy.is_running() {
        if changed {
            haproxy.reload();
        }
    } else {
        haproxy.start().await?;
    }
    Ok(())
}
