//! Gateways that lead out of subnets.

use serde::Deserialize;
use serde_json::json;

use super::{Client, session::To};
use crate::Error;

/// A gateway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PublicGateway {
    /// Its id.
    pub id: String,
    /// Its name for other services.
    #[serde(default)]
    pub crn: String,
    /// Its name.
    pub name: String,
    /// `available`, `pending`, `deleting`, `failed`.
    #[serde(default)]
    pub status: String,
}

impl Client {
    /// All gateways of the region.
    pub async fn public_gateways(&self) -> Result<Vec<PublicGateway>, Error> {
        self.all().await
    }

    /// The gateway with a name or an id.
    pub async fn public_gateway(&self, name: &str) -> Result<Option<PublicGateway>, Error> {
        self.named(name).await
    }

    /// Makes a gateway.
    pub async fn create_public_gateway(
        &self,
        name: &str,
        vpc: &str,
        zone: &str,
        resource_group: &str,
    ) -> Result<PublicGateway, Error> {
        let body = json!({
            "name": name, "vpc": {"id": vpc}, "zone": {"name": zone}, "resource_group": {"id": resource_group},
        });
        self.post(&format!("making public gateway {name}"), To::Vpc, "public_gateways", &body).await
    }
}
