//! The DHCP server, with the network that the platform makes for it.

use std::net::IpAddr;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Error, Site,
    client::{DhcpServer, DhcpStatus, Network, Workspace},
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
    async fn find(&self, workspace: &Workspace) -> Result<Option<DhcpServer>, Error> {
        Ok(self.site.dhcp_servers(workspace).await?.into_iter().next())
    }

    async fn make(&self, workspace: &Workspace) -> Result<DhcpServer, Error> {
        if let Some(server) = self.find(workspace).await? {
            if server.status != DhcpStatus::Error {
                return Ok(server);
            }
            // One that failed stays so, and a workspace has room for one.
            self.erase(workspace, &server).await?;
        }
        let mut body = json!({"name": self.desired.name, "cidr": self.desired.cidr, "snatEnabled": true});
        if let Some(server) = self.desired.dns_server {
            body["dnsServer"] = json!(server);
        }
        self.site.client.create_dhcp_server(workspace, &body).await
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
    async fn erase_network(&self, workspace: &Workspace, recorded: Option<&str>) -> Result<(), Error> {
        let name = self.site.mark.network();
        let tagged = self.site.tagged().await?;
        let is_own = |network: &&Network| {
            let is_tagged = tagged.iter().any(|crn| crn.kind == "network" && crn.id == network.id);
            network.name == name || Some(network.id.as_str()) == recorded || is_tagged
        };
        let look = || async {
            let all = self.site.client.networks(workspace).await?;
            let Some(network) = all.iter().find(is_own) else { return Ok(Some(())) };
            self.site.client.delete_network(workspace, network).await?;
            Ok(None)
        };
        self.site.until(look).await
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

fn told(server: &DhcpServer) -> Outputs {
    let network = server.network.as_ref().map(|network| network.id.as_str()).unwrap_or_default();
    Outputs::default().with("id", server.id.as_str()).with("network", network)
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let workspace = self.site.workspace().await?;
        let server = self.make(&workspace).await?;
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
        let recorded = |name: &str| -> Option<String> {
            outputs.and_then(|outputs| outputs.get(name)).filter(|id: &String| !id.is_empty())
        };
        let mut servers = self.site.dhcp_servers(&workspace).await?;
        // One that failed may have lost its name, and one that was made a moment ago may not be listed yet.
        if let Some(id) = recorded("id").filter(|id| servers.iter().all(|server| server.id != *id)) {
            servers.extend(self.site.client.dhcp_server(&workspace, &id).await?);
        }
        for server in &servers {
            self.erase(&workspace, server).await?;
        }
        Ok(self.erase_network(&workspace, recorded("network").as_deref()).await?)
    }
}
