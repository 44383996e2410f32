//! Ownership of the DHCP servers of a workspace.

use landfall_platform::Outputs;

use crate::{
    Error, Site,
    client::{DhcpServer, Network, Workspace},
    own::was_asked_for,
};

impl Site {
    /// The DHCP servers in a workspace that are called like the cluster's, or whose network carries its tag: where machines are and which
    /// addresses they have. In a workspace of the cluster's own these are all.
    pub(crate) async fn dhcp_servers(&self, workspace: &Workspace) -> Result<Vec<DhcpServer>, Error> {
        let mut all = self.client.dhcp_servers(workspace).await?;
        if self.workspace_is_given() {
            let mut own = Vec::new();
            for server in all {
                let network = server.network.as_ref().map(|network| network.id.as_str()).unwrap_or_default();
                if self.is_tagged("network", network).await? || self.is_called_like_own(workspace, &server).await? {
                    own.push(server);
                }
            }
            all = own;
        }
        Ok(all)
    }

    /// The DHCP servers in a workspace that are the cluster's, to be kept or removed: all in one of the cluster's own; in another the one
    /// whose id was recorded, those whose network carries the tag, and the one with the name that was asked for. Servers take no tags.
    pub(crate) async fn own_dhcp_servers(
        &self,
        workspace: &Workspace,
        outputs: Option<&Outputs>,
    ) -> Result<Vec<DhcpServer>, Error> {
        let all = self.client.dhcp_servers(workspace).await?;
        if !self.workspace_is_given() {
            return Ok(all);
        }
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let networks = self.client.networks(workspace).await?;
        let mut own = Vec::new();
        for server in all {
            let network = server.network.as_ref().and_then(|served| networks.iter().find(|one| one.id == served.id));
            let is_tagged = match network {
                Some(network) => self.is_own_network(network).await?,
                None => false,
            };
            if recorded.as_ref() == Some(&server.id)
                || is_tagged
                || was_asked_for(outputs) && self.is_called_like_own(workspace, &server).await?
            {
                own.push(server);
            }
        }
        Ok(own)
    }

    /// Returns true if the network of a DHCP server has the name that the cluster's has or, where it has lost its name because the server
    /// failed, the machine that it runs on, which no list shows.
    async fn is_called_like_own(&self, workspace: &Workspace, server: &DhcpServer) -> Result<bool, Error> {
        if let Some(name) = server.network_name() {
            return Ok(name == self.mark.network());
        }
        let machine = self.client.instance(workspace, &server.id).await?;
        Ok(machine.is_some_and(|machine| machine.server_name == self.mark.dhcp_machine()))
    }

    /// Returns true if a network carries the cluster's tag. What the search finds may be the tag of a moment ago.
    pub(crate) async fn is_own_network(&self, network: &Network) -> Result<bool, Error> {
        let is_likely = network.name == self.mark.network() || self.is_tagged("network", &network.id).await?;
        Ok(is_likely && self.carries_tag(&network.crn).await?)
    }
}
