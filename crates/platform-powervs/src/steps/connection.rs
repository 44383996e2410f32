//! What the transit gateway joins: the VPC, and the workspace.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError, StepId};
use serde::{Deserialize, Serialize};

use crate::{Error, Site, client, own::Own};

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its name; of one that was found its id.
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

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let Connection { name, gateway, network, target } = &self.desired;
        let gateway: String = context.output(gateway, "id")?;
        let crn: String = context.output(target, "crn")?;
        let told = || Outputs::default().with("gateway", gateway.as_str());
        // One that the user has made for the same network is as good, and a second one would be refused.
        let joins = |one: &client::Connection| one.network_id.as_deref() == Some(crn.as_str());
        let all = self.site.client.connections(&gateway).await?;
        let recorded = context.all_recorded();
        let own = Own::new(name, recorded.as_ref());
        match all.iter().find(|one| own.is(&one.id, &one.name)) {
            Some(own) => context.note(told().with("id", own.id.as_str())).await?,
            None if all.iter().any(joins) => {}
            None if all.iter().any(|one| one.name == *name) => {
                return Err(Error::Foreign { object: format!("connection {name}") }.into());
            }
            None => {
                context.note(told().with("asked", true)).await?;
                let made = self.site.client.create_connection(&gateway, name, network, &crn).await?;
                context.note(told().with("id", made.id)).await?;
            }
        }
        let own: Option<String> = context.recorded("id");
        // The id of one that the user made is not told: it stays when the cluster goes.
        let is_own = |one: &client::Connection| own.as_ref() == Some(&one.id);
        let is_it = |one: &client::Connection| if own.is_some() { is_own(one) } else { joins(one) };
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
                for one in self.site.client.connections(&gateway).await?.iter().filter(|one| is_own(one)) {
                    self.site.client.delete_connection(&gateway, one).await?;
                }
                Err(error.into())
            }
            found => {
                let found = found?;
                Ok(if is_own(&found) { told().with("id", found.id) } else { told() })
            }
        }
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let own = Own::new(&self.desired.name, outputs);
        let on: Option<String> = outputs.and_then(|outputs| outputs.get("gateway"));
        let is_meant = |gateway: &client::TransitGateway| on.as_ref().is_none_or(|on| *on == gateway.id);
        let look = || async {
            let mut left = false;
            for gateway in self.site.client.transit_gateways().await?.into_iter().filter(is_meant) {
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
