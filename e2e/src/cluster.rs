//! The cluster under test: how it is made and removed, and ways to ask it.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::client::Client;
use crate::kubeconfig::Credentials;
use crate::lab::{Host, Lab, output};

/// The API's address in the install-config that the simulator writes.
pub(crate) const API_VIP: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 5));
const API_PORT: u16 = 6443;
const CONFIG_SERVER_PORT: u16 = 22623;

/// A cluster of three masters and a worker.
pub(crate) struct Cluster<'a> {
    pub(crate) lab: &'a Lab,
    directory: PathBuf,
}

impl<'a> Cluster<'a> {
    /// A cluster that is to be made, in an install directory of this name.
    pub(crate) fn new(lab: &'a Lab, name: &str) -> Self {
        Self { lab, directory: lab.home().join(name) }
    }

    /// A file in the install directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Runs the installer; what it says goes into a log.
    pub(crate) async fn landfall(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let directory = self.directory.file_name().unwrap_or_default().display();
        let log = self.lab.logs.join(format!("{directory}-{}.log", arguments.get(..2).unwrap_or(arguments).join("-")));
        let file = File::create(&log)?;
        let status = Command::new(&self.lab.landfall)
            .args(arguments)
            .arg("--dir")
            .arg(&self.directory)
            .env("OVIRT_CONFIG", self.lab.home().join("ovirt-config.yaml"))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true)
            .status()
            .await?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        ensure!(status.success(), "landfall {} failed ({status}): {}", arguments.join(" "), last(&said()));
        Ok(())
    }

    /// What the installer says about the cluster, for programs.
    pub(crate) async fn status(&self) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.lab.landfall);
        command.args(["status", "--output", "json", "--dir"]).arg(&self.directory);
        Ok(serde_json::from_str(&output(&mut command).await?)?)
    }

    pub(crate) async fn kubectl(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(self.lab.program("kubectl"));
        command.arg("--kubeconfig").arg(self.file("auth/kubeconfig"));
        command.arg(format!("--server=https://{API_VIP}:{API_PORT}")).arg("--request-timeout=20s");
        output(command.args(arguments)).await
    }

    /// Applies a manifest.
    pub(crate) async fn apply(&self, manifest: &str) -> anyhow::Result<()> {
        let path = self.lab.home().join("manifest.yaml");
        std::fs::write(&path, manifest)?;
        self.kubectl(&["apply", "--filename", &path.display().to_string()]).await.map(drop)
    }

    /// Objects of a kind.
    pub(crate) async fn list(&self, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
        let text = self.kubectl(&[&["get", "--output=json"], arguments].concat()).await?;
        let list: Value = serde_json::from_str(&text)?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Names of nodes that are ready.
    pub(crate) async fn ready_nodes(&self) -> anyhow::Result<Vec<String>> {
        let nodes = self.list(&["nodes"]).await?;
        let is_ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
        };
        Ok(nodes
            .iter()
            .filter(is_ready)
            .filter_map(|node| Some(node["metadata"]["name"].as_str()?.to_owned()))
            .collect())
    }

    /// The administrator's credentials.
    pub(crate) fn credentials(&self) -> anyhow::Result<Credentials> {
        Credentials::read(&self.file("auth/kubeconfig"))
    }

    /// A client of the API, at its virtual address.
    pub(crate) fn api(&self) -> anyhow::Result<Client> {
        self.api_at(API_VIP)
    }

    /// A client of the API server of one machine.
    pub(crate) fn api_at(&self, address: IpAddr) -> anyhow::Result<Client> {
        let credentials = self.credentials()?;
        Client::new(SocketAddr::new(address, API_PORT), &credentials.authority, Some(&credentials))
    }

    pub(crate) async fn masters(&self) -> anyhow::Result<Vec<Host>> {
        let hosts = self.lab.hosts().await?;
        Ok(hosts.into_iter().filter(|host| host.name.contains("-master-") && host.pid.is_some()).collect())
    }

    /// Masters that have the API's address. A host that is frozen cannot be asked, and is not in `among`.
    pub(crate) async fn holders(&self, among: &[Host]) -> Vec<Host> {
        let mut holders = Vec::new();
        for host in among {
            if host.has(API_VIP).await {
                holders.push(host.clone());
            }
        }
        holders
    }

    /// The one master that has the API's address.
    pub(crate) async fn holder(&self) -> anyhow::Result<Host> {
        let mut holders = self.holders(&self.masters().await?).await;
        let names: Vec<_> = holders.iter().map(|host| host.name.clone()).collect();
        ensure!(holders.len() == 1, "{API_VIP} is held by {names:?}");
        holders.pop().context("one was counted")
    }
}

/// A client of the config server, which trusts an authority that may or may not be the server's.
pub(crate) fn config_server(authority: &str) -> anyhow::Result<Client> {
    Client::new(SocketAddr::new(API_VIP, CONFIG_SERVER_PORT), authority, None)
}

/// The end of a text, which says what went wrong.
fn last(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join(" | ")
}
