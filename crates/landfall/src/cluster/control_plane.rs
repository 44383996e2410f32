//! Asks control planes of single machines whether they are well.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use landfall_cluster::{Api, Kubeconfig};
use landfall_platform_packet::ControlPlane;

use super::KUBECONFIG;

/// The control planes of the cluster of an install directory.
pub(super) struct Masters {
    kubeconfig: PathBuf,
}

impl Masters {
    pub(super) fn new(dir: &Path) -> Self {
        Self { kubeconfig: dir.join(KUBECONFIG) }
    }

    fn api(&self, address: IpAddr) -> Option<Api> {
        let text = std::fs::read_to_string(&self.kubeconfig).ok()?;
        Api::new(&Kubeconfig::read(&text).ok()?, Some(address)).ok()
    }
}

#[async_trait]
impl ControlPlane for Masters {
    async fn is_ready(&self, address: IpAddr) -> bool {
        match self.api(address) {
            Some(api) => api.is_ready().await.unwrap_or(false),
            None => false,
        }
    }
}
