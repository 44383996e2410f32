//! Virtual networks.

use serde::Deserialize;
use serde_json::Value;

use super::Client;
use crate::Error;

/// A virtual network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VirtualNetwork {
    /// Its id.
    pub id: String,
    /// Its number.
    pub vxlan: u32,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl Client {
    /// All virtual networks of a project. They come without pages.
    pub async fn virtual_networks(&self, project: &str) -> Result<Vec<VirtualNetwork>, Error> {
        self.pages("listing virtual networks", &format!("projects/{project}/virtual-networks"), &[], "virtual_networks")
            .await
    }

    /// Makes one.
    pub async fn create_virtual_network(&self, project: &str, body: &Value) -> Result<VirtualNetwork, Error> {
        self.post("making a virtual network", &format!("projects/{project}/virtual-networks"), body).await
    }

    /// Deletes one.
    pub async fn delete_virtual_network(&self, network: &VirtualNetwork) -> Result<(), Error> {
        let attempt = format!("deleting virtual network {}", network.vxlan);
        self.delete(&attempt, &format!("virtual-networks/{}", network.id)).await
    }
}
