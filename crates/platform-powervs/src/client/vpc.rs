//! Virtual private clouds.

use serde::Deserialize;
use serde_json::json;

use super::{Client, Reference, session::To};
use crate::Error;

/// A virtual private cloud.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Vpc {
    /// Its id.
    pub id: String,
    /// Its name for other services.
    pub crn: String,
    /// Its name, unique in its region.
    pub name: String,
    /// `available`, `pending`, `deleting`, `failed`.
    #[serde(default)]
    pub status: String,
    /// The resource group that it is in.
    #[serde(default)]
    pub resource_group: Reference,
}

impl Client {
    /// All VPCs of the region.
    pub async fn vpcs(&self) -> Result<Vec<Vpc>, Error> {
        self.all().await
    }

    /// The VPC with a name or an id.
    pub async fn vpc(&self, name: &str) -> Result<Option<Vpc>, Error> {
        self.named(name).await
    }

    /// Makes a VPC.
    pub async fn create_vpc(&self, name: &str, resource_group: &str) -> Result<Vpc, Error> {
        let body = json!({
            "name": name, "address_prefix_management": "auto", "resource_group": {"id": resource_group},
        });
        self.post(&format!("making VPC {name}"), To::Vpc, "vpcs", &body).await
    }
}
