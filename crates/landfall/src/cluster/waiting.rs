//! Waiting for the cluster itself.

use std::net::IpAddr;

use anyhow::Context as _;
use landfall_cluster::{Api, Kubeconfig, Node, wait_for_api, wait_for_bootstrap, wait_for_nodes};
use landfall_config::InstallConfig;
use landfall_workdir::WorkDir;
use tokio_util::sync::CancellationToken;

use super::{ClusterError, KUBECONFIG, Progress};
use crate::error::Error;

/// Waits for one cluster.
pub(crate) struct Waiter<'a> {
    api: Api,
    config: &'a InstallConfig,
    progress: &'a Progress,
    cancel: CancellationToken,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(
        dir: &WorkDir,
        config: &'a InstallConfig,
        progress: &'a Progress,
        cancel: CancellationToken,
    ) -> anyhow::Result<Self> {
        let file = dir.read(KUBECONFIG)?.with_context(|| format!("there is no {KUBECONFIG} to reach the cluster with"))?;
        let kubeconfig = Kubeconfig::read(&String::from_utf8_lossy(&file.contents))?;
        let address: Option<IpAddr> = config.api_vips().first().copied();
        Ok(Self { api: Api::new(&kubeconfig, address)?, config, progress, cancel })
    }

    /// Waits until the control plane is on the masters.
    pub(crate) async fn bootstrap(&self) -> anyhow::Result<()> {
        let (api, progress) = (&self.api, |seen: &str| self.progress.say(&format!("  {seen}")));
        self.progress.say("waiting for the API");
        self.until(wait_for_api(api, self.config.timeouts.api.duration(), &progress), ClusterError::Bootstrap).await?;
        self.progress.say("waiting until the control plane is on the masters");
        self.until(wait_for_bootstrap(api, self.config.timeouts.bootstrap.duration(), &progress), ClusterError::Bootstrap).await
    }

    /// Waits until all nodes are ready.
    pub(crate) async fn nodes(&self) -> anyhow::Result<Vec<Node>> {
        let progress = |seen: &str| self.progress.say(&format!("  {seen}"));
        let machines = self.config.control_plane.replicas + self.config.compute.iter().map(|pool| pool.replicas).sum::<u32>();
        self.progress.say("waiting for all nodes");
        let wait = wait_for_nodes(&self.api, machines as usize, self.config.timeouts.install.duration(), &progress);
        self.until(wait, ClusterError::Initialisation).await
    }

    async fn until<T>(
        &self,
        wait: impl Future<Output = Result<T, landfall_cluster::Error>>,
        failed: impl Fn(landfall_cluster::Error) -> ClusterError,
    ) -> anyhow::Result<T> {
        tokio::select! {
            result = wait => Ok(result.map_err(failed)?),
            () = self.cancel.cancelled() => Err(Error::Interrupted.into()),
        }
    }
}
