//! DHCP servers, each with a network of its own.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::Value;

use super::{Client, Workspace, session::To};
use crate::Error;

/// A DHCP server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DhcpServer {
    /// Its id, which is also that of the hidden machine that serves.
    pub id: String,
    /// Its state.
    #[serde(default)]
    pub status: DhcpStatus,
    /// Its network. That of a server which failed may have no name.
    #[serde(default)]
    pub network: Option<ServedNetwork>,
    /// What it has handed out. Only told where one server is asked for.
    #[serde(default)]
    pub leases: Option<Vec<Lease>>,
}

/// The network of a DHCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ServedNetwork {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
}

/// A state of a DHCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "they are the API's words")]
pub enum DhcpStatus {
    Build,
    Active,
    Error,
    #[default]
    #[serde(other)]
    Unknown,
}

/// An address that was handed out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// The address.
    #[serde(rename = "instanceIP")]
    pub address: IpAddr,
    /// Whose it is, in whichever case.
    #[serde(rename = "instanceMacAddress")]
    pub mac: String,
}

impl DhcpServer {
    /// The name of its network, if it has one.
    pub fn network_name(&self) -> Option<&str> {
        self.network.as_ref()?.name.as_deref().filter(|name| !name.is_empty())
    }
}

impl Client {
    /// All DHCP servers of a workspace. They come without pages.
    pub async fn dhcp_servers(&self, workspace: &Workspace) -> Result<Vec<DhcpServer>, Error> {
        self.get("listing DHCP servers", To::Power(workspace), &workspace.path("services/dhcp")).await
    }

    /// The DHCP server with an id, with its leases.
    pub async fn dhcp_server(&self, workspace: &Workspace, id: &str) -> Result<Option<DhcpServer>, Error> {
        let path = workspace.path(&format!("services/dhcp/{id}"));
        self.get_existing("reading the DHCP server", To::Power(workspace), &path).await
    }

    /// Makes a DHCP server.
    pub async fn create_dhcp_server(&self, workspace: &Workspace, body: &Value) -> Result<DhcpServer, Error> {
        self.post("making a DHCP server", To::Power(workspace), &workspace.path("services/dhcp"), body).await
    }

    /// Deletes a DHCP server.
    pub async fn delete_dhcp_server(&self, workspace: &Workspace, id: &str) -> Result<(), Error> {
        let path = workspace.path(&format!("services/dhcp/{id}"));
        self.delete("deleting the DHCP server", To::Power(workspace), &path).await
    }
}
