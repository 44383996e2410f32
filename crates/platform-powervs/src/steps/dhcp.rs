//! The DHCP server, with the network that the platform makes for it.

use std::net::IpAddr;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Error, Site,
    client::{DhcpServer, DhcpStatus, Network, Workspace},
    own::{asked, was_asked_for},
};

/// A DHCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dhcp {
    /// Its name.
    pub name: String,
    /// The network that it serves.
    pub cidr: String,
    /// The resolver that machines are told; none leaves it to the platform.
    #[serde(default)]
    pub dns_server: Option<IpAddr>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Dhcp,
}

impl Act {
    async fn make(&self, workspace: &Workspace, context: &Context) -> Result<DhcpServer, StepError> {
        let own = self.site.own_dhcp_servers(workspace, context.all_recorded().as_ref()).await?;
        if let Some(server) = own.into_iter().next() {
            if server.status != DhcpStatus::Error {
                return Ok(server);
            }
            // One that failed stays so, and a workspace has room for one.
            self.erase(workspace, &server).await?;
        }
        if !self.site.dhcp_servers(workspace).await?.is_empty() {
            return Err(Error::Foreign { object: self.title() }.into());
        }
        context.note(asked()).await?;
        let mut body = json!({"name": self.desired.name, "cidr": self.desired.cidr, "snatEnabled": true});
        if let Some(server) = self.desired.dns_server {
            body["dnsServer"] = json!(server);
        }
        Ok(self.site.client.create_dhcp_server(workspace, &body).await?)
    }

    async fn active(&self, workspace: &Workspace, id: &str, context: &Context) -> Result<DhcpServer, Error> {
        let look = || async {
            let server = self.site.client.dhcp_server(workspace, id).await?;
            if server.is_none() {
                // Its workspace may have gone with it.
                self.site.forget().await;
            }
            let Some(server) = server else { return Err(Error::Gone { object: self.title() }) };
            match server.status {
                DhcpStatus::Active => Ok(Some(server)),
                DhcpStatus::Error => Err(Error::Failed {
                    object: self.title(),
                    state: "ERROR".to_owned(),
                    reason: "the platform could not bring it up and gives no reason".to_owned(),
                }),
                DhcpStatus::Build | DhcpStatus::Unknown => {
                    context.report("being built");
                    Ok(None)
                }
            }
        };
        self.site.until(look).await
    }

    fn title(&self) -> String {
        format!("DHCP server {}", self.desired.name)
    }

    /// Deletes a server and waits until it is gone. One that failed may only go as the machine that it is.
    async fn erase(&self, workspace: &Workspace, server: &DhcpServer) -> Result<(), Error> {
        let client = &self.site.client;
        self.site.forget().await;
        if let Err(error) = client.delete_dhcp_server(workspace, &server.id).await {
            let now = client.dhcp_server(workspace, &server.id).await?;
            match now.map(|server| server.status) {
                Some(DhcpStatus::Error) => client.delete_instance(workspace, &server.id, &self.desired.name).await?,
                _ => return Err(error),
            }
        }
        let look = || async { Ok(client.dhcp_server(workspace, &server.id).await?.is_none().then_some(())) };
        self.site.until(look).await
    }

    /// The network of a server that is gone goes a while later, or not at all.
    async fn erase_network(&self, workspace: &Workspace, outputs: Option<&Outputs>) -> Result<(), Error> {
        let look = || async {
            for network in self.site.client.networks(workspace).await? {
                if self.is_own_network(&network, outputs).await? {
                    self.site.client.delete_network(workspace, &network).await?;
                    return Ok(None);
                }
            }
            Ok(Some(()))
        };
        self.site.until(look).await
    }

    /// Returns true if a network is that of the cluster's server: it has the id that was recorded, or the tag; or the platform made it, with
    /// the name, for a server that the cluster asked for, or in a workspace of the cluster's own.
    async fn is_own_network(&self, network: &Network, outputs: Option<&Outputs>) -> Result<bool, Error> {
        let recorded = known(outputs, "network");
        let is_asked_for = was_asked_for(outputs) || known(outputs, "id").is_some() || !self.site.workspace_is_given();
        let is_named = recorded.is_none() && is_asked_for && network.name == self.site.mark.network();
        Ok(recorded.as_ref() == Some(&network.id) || is_named || self.site.is_own_network(network).await?)
    }

    /// Tags the network; the server itself takes no tags.
    async fn tag(&self, workspace: &Workspace, network: &str, context: &Context) -> Result<(), Error> {
        let all = self.site.client.networks(workspace).await?;
        match all.iter().find(|one| one.id == network) {
            Some(network) => self.site.tag(&network.crn, context).await,
            None => Ok(()),
        }
    }
}

/// An id that was recorded, if the platform had told it.
fn known(outputs: Option<&Outputs>, name: &str) -> Option<String> {
    outputs.and_then(|outputs| outputs.get(name)).filter(|id: &String| !id.is_empty())
}

fn told(server: &DhcpServer) -> Outputs {
    let network = server.network.as_ref().map(|network| network.id.as_str()).unwrap_or_default();
    Outputs::default().with("id", server.id.as_str()).with("network", network)
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let workspace = self.site.workspace().await?;
        let server = self.make(&workspace, context).await?;
        context.note(told(&server)).await?;
        let server = match self.active(&workspace, &server.id, context).await {
            Err(error @ Error::Failed { .. }) => {
                // A server that failed may have lost its name, so it goes while it is known whose it is.
                context.report("failed; removing it");
                self.erase(&workspace, &server).await?;
                return Err(error.into());
            }
            server => server?,
        };
        let outputs = told(&server);
        let network: String = outputs.get("network").unwrap_or_default();
        self.tag(&workspace, &network, context).await?;
        Ok(outputs)
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let Some(workspace) = self.site.workspace_of(context).await? else { return Ok(()) };
        let mut servers = self.site.own_dhcp_servers(&workspace, outputs).await?;
        // One that failed may have lost its name, and one that was made a moment ago may not be listed yet.
        if let Some(id) = known(outputs, "id").filter(|id| servers.iter().all(|server| server.id != *id)) {
            servers.extend(self.site.client.dhcp_server(&workspace, &id).await?);
        }
        for server in &servers {
            self.erase(&workspace, server).await?;
        }
        Ok(self.erase_network(&workspace, outputs).await?)
    }
}
