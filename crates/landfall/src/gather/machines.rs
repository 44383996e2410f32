//! What machines say, over ssh.

use std::{path::PathBuf, process::Stdio, time::Duration};

use anyhow::Context as _;
use futures::future::join_all;
use landfall_platform::InfraId;
use tokio::{process::Command, time::timeout};

use super::known_hosts::KnownHosts;

/// The user that Ignition gives the key of the install-config to.
const USER: &str = "core";
/// For connecting and for all that a machine has to say.
const PATIENCE: Duration = Duration::from_mins(1);
/// Files of a machine, and the commands that print them.
const LOGS: [(&str, &str); 3] = [
    ("landfall.log", "sudo journalctl --no-pager --output=short-iso --unit='landfall-*'"),
    ("kubelet.log", "sudo journalctl --no-pager --output=short-iso --unit=kubelet --unit=containerd --lines=5000"),
    ("failed-units.txt", "systemctl list-units --no-pager --failed"),
];

/// The system's own ssh. Machines make their keys when they boot. A machine that has told its keys over a channel that is verified must show
/// one of them; of another the first connection takes what it is shown, and one that shows another key later is refused. The cluster's own
/// file of known hosts has both.
pub(super) struct Shell {
    key: Option<PathBuf>,
    known_hosts: KnownHosts,
    infra_id: InfraId,
}

impl Shell {
    pub(super) fn new(key: Option<PathBuf>, known_hosts: KnownHosts, infra_id: &InfraId) -> Self {
        Self { key, known_hosts, infra_id: infra_id.clone() }
    }

    /// Asks all machines side by side. Returns what they said by the name of the file, or why they did not.
    pub(super) async fn ask(&self, machines: &[(String, Option<String>)]) -> Vec<(String, anyhow::Result<Vec<u8>>)> {
        let questions = machines.iter().flat_map(|machine| LOGS.map(|log| (machine, log)));
        join_all(questions.map(async |((name, address), (file, command))| {
            let output = match address {
                Some(address) => self.run(name, address, command).await,
                None => Err(anyhow::anyhow!("the platform does not know the machine's address")),
            };
            (format!("machines/{name}/{file}"), output)
        }))
        .await
    }

    async fn run(&self, name: &str, address: &str, command: &str) -> anyhow::Result<Vec<u8>> {
        // ssh takes a list of files here, so a path with spaces needs quotes.
        let known_hosts = format!("UserKnownHostsFile=\"{}\"", self.known_hosts.path().display());
        // The user's own names, such as `bootstrap`, are those of any cluster.
        let alias = if name.starts_with(self.infra_id.as_str()) {
            name.to_owned()
        } else {
            format!("{}-{name}", self.infra_id)
        };
        let checking =
            format!("StrictHostKeyChecking={}", if self.known_hosts.has_told(&alias) { "yes" } else { "accept-new" });
        let alias = format!("HostKeyAlias={alias}");
        let mut ssh = Command::new("ssh");
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=10",
            &checking,
            "UpdateHostKeys=no",
            "GlobalKnownHostsFile=/dev/null",
            "LogLevel=ERROR",
            &known_hosts,
            &alias,
        ] {
            ssh.args(["-o", option]);
        }
        if let Some(key) = &self.key {
            ssh.args(["-o", "IdentitiesOnly=yes", "-i"]).arg(key);
        }
        ssh.args(["-l", USER, "--", address, command]).stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(PATIENCE, ssh.output())
            .await
            .with_context(|| format!("{address} did not answer within {} s", PATIENCE.as_secs()))?
            .context("cannot run ssh")?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") || said.contains("Host key verification failed") {
            anyhow::bail!(
                "ssh to {address}: {name} shows a host key that is not one of those known of it; if the machine was made anew, delete its lines in {}",
                self.known_hosts.path().display()
            );
        }
        anyhow::bail!("ssh to {address}: {}", said.trim().lines().last().unwrap_or("no reason was given"))
    }
}
