//! The workspace, until its edge router is active: before that the platform answers requests for networks with errors.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::id;
use crate::{
    Error, Site,
    client::{self, ResourceInstance, ServiceId},
    own::Own,
};

/// A workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its name.
    pub name: String,
    /// GUID of one that the user has already. It is looked for, and left alone.
    #[serde(default)]
    pub given: Option<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Workspace,
}

impl Act {
    fn title(&self) -> String {
        format!("workspace {}", self.desired.given.as_ref().unwrap_or(&self.desired.name))
    }

    /// The workspace, made if there is none.
    async fn make(&self, context: &Context) -> Result<ResourceInstance, Error> {
        // waits: the engine ends the step at its limit
        loop {
            match self.site.workspace_instance().await? {
                Some(instance) if !instance.is_leaving() => return Ok(instance),
                None if self.desired.given.is_some() => return Err(Error::missing(self.title())),
                Some(instance) if self.desired.given.is_some() => {
                    return Err(Error::State { object: self.title(), state: instance.state });
                }
                Some(_) => context.report("waiting for its predecessor to go"),
                None => {
                    let group = self.site.resource_group().await?;
                    let (client, name) = (&self.site.client, &self.desired.name);
                    let tags = [self.site.mark.tag()];
                    return client.create_resource_instance(ServiceId::POWER, name, client.zone(), &group, &tags).await;
                }
            }
            tokio::time::sleep(self.site.interval).await;
        }
    }

    async fn active(&self, guid: &str, context: &Context) -> Result<ResourceInstance, Error> {
        let look = || async {
            let instance = self.site.client.resource_instance(guid).await?;
            match instance {
                Some(instance) if instance.state == "active" => Ok(Some(instance)),
                Some(instance) if instance.state == "failed" => {
                    Err(Error::Failed { object: self.title(), reason: instance.reason(), state: instance.state })
                }
                Some(instance) if !instance.is_leaving() => {
                    context.report(instance.state);
                    Ok(None)
                }
                Some(_) | None => Err(self.gone()),
            }
        };
        self.site.until(look).await
    }

    /// The error for a workspace that was deleted while it was waited for: one of the cluster's own is made anew.
    fn gone(&self) -> Error {
        match self.desired.given {
            Some(_) => Error::missing(self.title()),
            None => Error::Gone { object: self.title() },
        }
    }

    async fn router(&self, workspace: &client::Workspace, context: &Context) -> Result<(), Error> {
        let look = || async {
            let router = self.site.client.edge_router(workspace).await?;
            if router.is_none() {
                // It is not known yet, or not any more.
                let instance = self.site.client.resource_instance(&workspace.guid).await?;
                if instance.is_none_or(|instance| instance.is_leaving()) {
                    return Err(self.gone());
                }
            }
            let router = router.unwrap_or_default();
            match router.state.as_str() {
                "active" => Ok(Some(())),
                "error" => Err(Error::Failed {
                    object: format!("the edge router of {}", self.title()),
                    state: router.state,
                    reason: "the platform gives no reason".to_owned(),
                }),
                "" | "configuring" => {
                    context.report("waiting for its edge router");
                    Ok(None)
                }
                other => {
                    context.report(format!("its edge router is {other}"));
                    Ok(None)
                }
            }
        };
        self.site.until(look).await
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        if let Some(guid) = context.recorded("id") {
            self.site.recall_workspace(guid).await;
        }
        let made = self.make(context).await?;
        if self.desired.given.is_none() {
            context.note(id(&made.guid)).await?;
        }
        if made.state == "failed" && self.desired.given.is_none() {
            // Nothing of it can be used; the next attempt makes another one.
            self.site.client.delete_resource_instance(&made).await?;
            let (object, reason) = (self.title(), made.reason());
            return Err(Error::Failed { object, state: made.state, reason }.into());
        }
        let instance = self.active(&made.guid, context).await?;
        let workspace = client::Workspace { guid: instance.guid, crn: instance.crn };
        self.router(&workspace, context).await?;
        let told = Outputs::default().with("id", workspace.guid).with("crn", workspace.crn);
        Ok(if self.desired.given.is_some() { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.given.is_some() || self.site.workspace_is_given() {
            return Ok(());
        }
        let own = Own::new(&self.desired.name, outputs);
        let look = || async {
            let found = self.site.service_instance(ServiceId::POWER, &self.desired.name, own.recorded()).await?;
            let Some(instance) = found else { return Ok(Some(())) };
            self.site.forget().await;
            match instance.state.as_str() {
                "pending_removal" => {}
                "pending_reclamation" => self.site.client.reclaim(&instance.guid).await?,
                _ => self.site.client.delete_resource_instance(&instance).await?,
            }
            context.report(format!("going ({})", instance.state));
            Ok(None)
        };
        Ok(self.site.until(look).await?)
    }
}
