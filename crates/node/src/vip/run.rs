//! Running keepalived with a configuration that follows the members.

use std::{path::Path, time::Duration};

use landfall_assets::{LocalNode, keepalived_config};
use landfall_platform::error_chain;
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use super::{addresses::remove_leftovers, is_released, members};
use crate::{
    Error,
    daemon::Daemon,
    kube::{ClusterNode, follow},
    machine::Machine,
    stored,
};

const INTERVAL: Duration = Duration::from_secs(2);
/// How soon it is noticed that the addresses are to be given away, and that the machine has got an address of its own.
const LOOK: Duration = Duration::from_millis(250);

/// Before what did not work is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Holds the addresses until `stop`.
pub async fn run(machine: &Machine, stop: CancellationToken) -> Result<(), Error> {
    let vips = machine.vips()?;
    let virtual_addresses = machine.virtual_addresses();
    let mut keepalived = daemon(machine, &vips.keepalived_config);
    let mut known = follow(machine, INTERVAL);
    let mut configured: Option<Vec<ClusterNode>> = None;
    let mut takes_part = false;
    let mut released = false;
    // waits: a service, which ends when it is stopped
    loop {
        let nodes = known.borrow_and_update().nodes.clone();
        if is_released(machine) {
            if !released {
                tracing::info!("the addresses are given away");
                keepalived.stop().await;
                remove_leftovers(&virtual_addresses).await?;
                released = true;
            }
        } else if configured.as_ref() != Some(&nodes) || takes_part != keepalived.is_running() {
            match configure(machine, &nodes, &mut keepalived).await {
                Ok(part) => (configured, takes_part) = (Some(nodes), part),
                Err(error) => {
                    tracing::warn!(error = error_chain(&error), "the addresses cannot be held");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        tokio::select! {
            () = stop.cancelled() => break,
            _ = known.changed() => {}
            _ = keepalived.ended() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    keepalived.stop().await;
    remove_leftovers(&virtual_addresses).await
}

/// Makes keepalived run with the configuration that follows from the nodes, or not run if this machine is not among them.
/// Returns whether it takes part.
async fn configure(machine: &Machine, nodes: &[ClusterNode], keepalived: &mut Daemon) -> Result<bool, Error> {
    let vips = machine.vips()?;
    let own = machine.addresses().await?;
    let members = members(nodes, machine.facts.role, &machine.name, &own.addresses);
    let takes_part = members.iter().any(|member| member.name == machine.name);
    let local = LocalNode { name: machine.name.clone(), interface: own.interface };
    let text = keepalived_config(&machine.facts, vips, takes_part.then_some(&local), &members);
    let changed = stored::write(Path::new(&vips.keepalived_config), text)?;
    if !takes_part {
        keepalived.stop().await;
        return Ok(false);
    }
    if keepalived.is_running() {
        if changed {
            keepalived.reload();
        }
        return Ok(true);
    }
    remove_leftovers(&machine.virtual_addresses()).await?;
    keepalived.start().await?;
    Ok(true)
}

fn daemon(machine: &Machine, config: &str) -> Daemon {
    let pid = |name: &str| machine.runtime.join(name).display().to_string();
    let arguments = [
        "--dont-fork".to_owned(),
        "--vrrp".to_owned(),
        "--log-console".to_owned(),
        format!("--use-file={config}"),
        format!("--pid={}", pid("keepalived.pid")),
        format!("--vrrp_pid={}", pid("keepalived-vrrp.pid")),
    ];
    Daemon::new("keepalived", arguments, Signal::HUP)
}
