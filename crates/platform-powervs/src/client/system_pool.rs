//! What is free on the systems of a zone.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Client, Workspace, session::To};
use crate::Error;

/// What the systems of one type have left.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemPool {
    /// The type.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// What the system with most processors left has.
    #[serde(default)]
    pub max_cores_available: Free,
    /// What the system with most memory left has.
    #[serde(default)]
    pub max_memory_available: Free,
}

/// What one system has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct Free {
    /// Processors.
    #[serde(default)]
    pub cores: f64,
    /// GiB.
    #[serde(default)]
    pub memory: f64,
}

impl Client {
    /// What the systems of the zone have left, by an id of their type.
    pub async fn system_pools(&self, workspace: &Workspace) -> Result<BTreeMap<String, SystemPool>, Error> {
        let path = workspace.path("system-pools");
        self.get("asking what systems have left", To::Power(workspace), &path).await
    }
}
