//! What a zone has.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Client;
use crate::Error;

/// A zone as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Datacenter {
    /// What it can do.
    #[serde(default)]
    pub capabilities: BTreeMap<String, bool>,
    /// What it has.
    #[serde(default)]
    pub capabilities_details: Details,
    /// Where it is.
    #[serde(default)]
    pub location: Location,
    /// `active`, `maintenance`, `down`.
    #[serde(default)]
    pub status: String,
}

/// What a zone has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Types of systems.
    #[serde(default)]
    pub supported_systems: Systems,
}

/// Types of systems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Systems {
    /// Those that everybody may use.
    #[serde(default)]
    pub general: Vec<String>,
}

/// Where a zone is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The zone; the API calls it a region.
    #[serde(default)]
    pub region: String,
}

impl Datacenter {
    /// Whether traffic gets from its workspaces to transit gateways.
    pub fn has_edge_router(&self) -> bool {
        self.capabilities.get("power-edge-router").copied().unwrap_or(false)
    }

    /// The types of systems that everybody may use.
    pub fn systems(&self) -> &[String] {
        &self.capabilities_details.supported_systems.general
    }
}

impl Client {
    /// What the zone has.
    pub async fn datacenter(&self) -> Result<Datacenter, Error> {
        let zone = self.zone();
        self.get_plain(&format!("asking what {zone} has"), &format!("v1/datacenters/{zone}")).await
    }
}
