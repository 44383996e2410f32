//! Networks of a workspace.

use serde::Deserialize;
use serde_json::Value;

use super::{Client, Workspace, session::To};
use crate::Error;

/// A network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Network {
    /// Its id.
    #[serde(rename = "networkID")]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its name for other services.
    #[serde(default)]
    pub crn: String,
}

impl Client {
    /// All networks of a workspace. They come without pages.
    pub async fn networks(&self, workspace: &Workspace) -> Result<Vec<Network>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            networks: Vec<Network>,
        }
        let answer: Answer = self.get("listing networks", To::Power(workspace), &workspace.path("networks")).await?;
        Ok(answer.networks)
    }

    /// Deletes a network, and before it the ports that nobody uses any more: they keep it from going.
    pub async fn delete_network(&self, workspace: &Workspace, network: &Network) -> Result<(), Error> {
        let (to, path) = (To::Power(workspace), workspace.path(&format!("networks/{}", network.id)));
        let ports: Option<Value> = self.get_existing("listing ports", to, &format!("{path}/ports")).await?;
        let ports = ports.as_ref().and_then(|answer| answer["ports"].as_array()).into_iter().flatten();
        for id in ports.filter_map(|port| port["portID"].as_str()) {
            self.delete("deleting a port", to, &format!("{path}/ports/{id}")).await?;
        }
        self.delete(&format!("deleting network {}", network.name), to, &path).await
    }
}
