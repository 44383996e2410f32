//! Transit gateways and what they join.

use serde::Deserialize;
use serde_json::json;

use super::{Client, session::To};
use crate::Error;

/// A transit gateway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TransitGateway {
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
    /// The region that it is in.
    #[serde(default)]
    pub location: String,
}

/// Something that a gateway joins with others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Connection {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it joins: `vpc`, `power_virtual_server`.
    #[serde(default)]
    pub network_type: String,
    /// The CRN of that.
    #[serde(default)]
    pub network_id: Option<String>,
    /// `attached`, `pending`, `failed`, `deleting`, `detached`, …
    #[serde(default)]
    pub status: String,
}

impl Client {
    /// All transit gateways of the account.
    pub async fn transit_gateways(&self) -> Result<Vec<TransitGateway>, Error> {
        self.all().await
    }

    /// The transit gateway with a name or an id.
    pub async fn transit_gateway(&self, name: &str) -> Result<Option<TransitGateway>, Error> {
        self.named(name).await
    }

    /// Makes a transit gateway.
    pub async fn create_transit_gateway(
        &self,
        name: &str,
        location: &str,
        global: bool,
        resource_group: &str,
    ) -> Result<TransitGateway, Error> {
        let body =
            json!({"name": name, "location": location, "global": global, "resource_group": {"id": resource_group}});
        self.post(&format!("making transit gateway {name}"), To::Transit, "transit_gateways", &body).await
    }

    /// What a gateway joins.
    pub async fn connections(&self, gateway: &str) -> Result<Vec<Connection>, Error> {
        let path = format!("transit_gateways/{gateway}/connections");
        self.pages("listing the connections of the transit gateway", To::Transit, &path, "connections").await
    }

    /// Joins something to a gateway.
    pub async fn create_connection(
        &self,
        gateway: &str,
        name: &str,
        kind: &str,
        crn: &str,
    ) -> Result<Connection, Error> {
        let body = json!({"name": name, "network_type": kind, "network_id": crn});
        let path = format!("transit_gateways/{gateway}/connections");
        self.post(&format!("making connection {name}"), To::Transit, &path, &body).await
    }

    /// Parts something from a gateway.
    pub async fn delete_connection(&self, gateway: &str, connection: &Connection) -> Result<(), Error> {
        let attempt = format!("deleting connection {}", connection.name);
        let path = format!("transit_gateways/{gateway}/connections/{}", connection.id);
        self.delete(&attempt, To::Transit, &path).await
    }
}
