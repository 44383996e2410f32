//! Subnets of a VPC.

use serde::Deserialize;
use serde_json::json;

use super::{Client, Reference, session::To};
use crate::Error;

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Subnet {
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
    /// The VPC that it is in.
    #[serde(default)]
    pub vpc: Reference,
    /// The gateway that leads out of it.
    #[serde(default)]
    pub public_gateway: Option<Reference>,
}

impl Client {
    /// All subnets of the region.
    pub async fn subnets(&self) -> Result<Vec<Subnet>, Error> {
        self.all().await
    }

    /// The subnet with a name or an id.
    pub async fn subnet(&self, name: &str) -> Result<Option<Subnet>, Error> {
        self.named(name).await
    }

    /// Makes a subnet of 256 addresses.
    pub async fn create_subnet(
        &self,
        name: &str,
        vpc: &str,
        zone: &str,
        resource_group: &str,
    ) -> Result<Subnet, Error> {
        let body = json!({
            "name": name, "ip_version": "ipv4", "total_ipv4_address_count": 256,
            "vpc": {"id": vpc}, "zone": {"name": zone}, "resource_group": {"id": resource_group},
        });
        self.post(&format!("making subnet {name}"), To::Vpc, "subnets", &body).await
    }

    /// Has a gateway lead out of a subnet.
    pub async fn attach_gateway(&self, subnet: &Subnet, gateway: &str) -> Result<(), Error> {
        let attempt = format!("attaching a gateway to subnet {}", subnet.name);
        let path = format!("subnets/{}/public_gateway", subnet.id);
        self.send(&attempt, To::Vpc, landfall_wire::Method::PUT, &path, Some(&json!({"id": gateway}))).await
    }

    /// Has no gateway lead out of a subnet any more.
    pub async fn detach_gateway(&self, subnet: &Subnet) -> Result<(), Error> {
        let attempt = format!("detaching the gateway from subnet {}", subnet.name);
        self.delete(&attempt, To::Vpc, &format!("subnets/{}/public_gateway", subnet.id)).await
    }
}
