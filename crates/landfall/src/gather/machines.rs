//! What machines say, over ssh.

use std::{path::PathBuf, process::Stdio, time::Duration};

use anyhow::Context as _;
use futures::future::join_all;
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

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

/// The system's own ssh, with a private file of known hosts: the machines are new, and their keys are of no use later.
pub(super) struct Shell {
    key: Option<PathBuf>,
    home: TempDir,
}

impl Shell {
    pub(super) fn new(key: Option<PathBuf>) -> anyhow::Result<Self> {
        Ok(Self { key, home: tempfile::tempdir().context("cannot make a directory for the known hosts")? })
    }

    /// Asks all machines side by side. Returns what they said by the name of the file, or why they did not.
    pub(super) async fn ask(&self, machines: &[(String, Option<String>)]) -> Vec<(String, anyhow::Result<Vec<u8>>)> {
        let questions = machines.iter().flat_map(|machine| LOGS.map(|log| (machine, log)));
        join_all(questions.map(async |((name, address), (file, command))| {
            let output = match address {
                Some(address) => self.run(address, command).await,
                None => Err(anyhow::anyhow!("the platform does not know the machine's address")),
            };
            (format!("machines/{name}/{file}"), output)
        }))
        .await
    }

    async fn run(&self, address: &str, command: &str) -> anyhow::Result<Vec<u8>> {
        let known_hosts = format!("UserKnownHostsFile={}", self.home.path().join("known_hosts").display());
        let mut ssh = Command::new("ssh");
        for option in
            ["BatchMode=yes", "ConnectTimeout=10", "StrictHostKeyChecking=accept-new", "LogLevel=ERROR", &known_hosts]
        {
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
        anyhow::bail!("ssh to {address}: {}", said.trim().lines().last().unwrap_or("no reason was given"))
    }
}
