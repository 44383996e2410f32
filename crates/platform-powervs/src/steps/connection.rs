//! What the transit gateway joins: the VPC, and the workspace.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError, StepId};
use serde::{Deserialize, Serialize};

use crate::{Error, Site, client, own::Own};

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its name.
    pub name: String,
    /// The step that makes the gateway.
    pub gateway: StepId,
    /// What is joined: `vpc`, `power_virtual_server`.
    pub network: String,
    /// The step that makes what is joined.
    pub target: StepId,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Connection,
}

/// What is told of a connection. The id of one that the user made is not: it stays when the cluster goes.
fn told(gateway: &str, connection: &client::Connection, name: &str) -> Outputs {
    let outputs = Outputs::default().with("gateway", gateway);
    if connection.name == name { outputs.with("id", connection.id.as_str()) } else { outputs }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let Connection { name, gateway, network, target } = &self.desired;
        let gateway: String = context.output(gateway, "id")?;
        let crn: String = context.output(target, "crn")?;
        // One that the user has made for the same network is as good, and a second one would be refused.
        let is_it = |one: &client::Connection| one.name == *name || one.network_id.as_deref() == Some(crn.as_str());
        if !self.site.client.connections(&gateway).await?.iter().any(is_it) {
            let made = self.site.client.create_connection(&gateway, name, network, &crn).await?;
            context.note(told(&gateway, &made, name)).await?;
        }
        let look = || async {
            let all = self.site.client.connections(&gateway).await?;
            let Some(found) = all.into_iter().find(is_it) else {
                return Err(Error::missing(format!("connection {name}")));
            };
            match found.status.as_str() {
                "attached" => Ok(Some(found)),
                "failed" => Err(Error::Failed {
                    object: format!("connection {name}"),
                    state: found.status,
                    reason: "the gateway could not be joined".to_owned(),
                }),
                other => {
                    context.report(other);
                    Ok(None)
                }
            }
        };
        match self.site.until(look).await {
            Err(error @ Error::Failed { .. }) => {
                // It stays failed; the next attempt makes another one.
                for one in self.site.client.connections(&gateway).await?.iter().filter(|one| one.name == *name) {
                    self.site.client.delete_connection(&gateway, one).await?;
                }
                Err(error.into())
            }
            found => Ok(told(&gateway, &found?, name)),
        }
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let own = Own::new(&self.desired.name, outputs);
        let look = || async {
            let mut left = false;
            for gateway in self.site.client.transit_gateways().await? {
                let all = match self.site.client.connections(&gateway.id).await {
                    // The gateway of somebody else went in this moment.
                    Err(error) if error.is_gone() => continue,
                    all => all?,
                };
                for connection in all.iter().filter(|one| own.is(&one.id, &one.name)) {
                    left = true;
                    if connection.status != "deleting" {
                        self.site.client.delete_connection(&gateway.id, connection).await?;
                    }
                }
            }
            context.report("going");
            Ok((!left).then_some(()))
        };
        Ok(self.site.until(look).await?)
    }
}
