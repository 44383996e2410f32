//! A load balancer with its pools and listeners, whose pools have no members yet.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Progress, Step, StepError, StepId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{erase, id};
use crate::{
    Error, Site,
    client::{self, Listener, Resource as _},
    own::{Own, adopt},
};

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadBalancer {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// Whether everybody reaches it.
    pub is_public: bool,
    /// The steps that make its subnets.
    #[serde(default)]
    pub subnets: Vec<StepId>,
    /// The step that makes its security group.
    pub security_group: StepId,
    /// What it listens on.
    #[serde(default)]
    pub listeners: Vec<Listener>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: LoadBalancer,
}

impl Act {
    /// The load balancer, made if there is none.
    async fn make(&self, context: &Context) -> Result<client::LoadBalancer, StepError> {
        let LoadBalancer { name, is_public, subnets, security_group, listeners } = &self.desired;
        let found = adopt::<client::LoadBalancer>(&self.site, name, context).await?;
        match found {
            Some(balancer) if balancer.provisioning_status == "failed" => {
                // Nothing mends it, and its name is taken as long as it is there.
                self.site.client.discard(&balancer).await?;
                return Err(Error::Busy { object: self.title(), state: "failed".to_owned() }.into());
            }
            Some(balancer) if balancer.is_leaving() => {
                return Err(Error::Busy { object: self.title(), state: balancer.provisioning_status }.into());
            }
            Some(balancer) => return Ok(balancer),
            None => {}
        }
        let subnets: Vec<String> = subnets.iter().map(|step| context.output(step, "id")).collect::<Result<_, _>>()?;
        let security_group: String = context.output(security_group, "id")?;
        let group = self.site.resource_group().await?;
        let client = &self.site.client;
        Ok(client.create_load_balancer(name, *is_public, &subnets, &security_group, &group, listeners).await?)
    }

    fn title(&self) -> String {
        format!("load balancer {}", self.desired.name)
    }
}

/// Waits until a load balancer takes changes.
pub(super) async fn active(site: &Site, name: &str, progress: Progress<'_>) -> Result<client::LoadBalancer, Error> {
    let object = || format!("load balancer {name}");
    let look = || async {
        let Some(balancer) = site.client.load_balancer(name).await? else { return Err(Error::missing(object())) };
        match balancer.provisioning_status.as_str() {
            "active" => Ok(Some(balancer)),
            "failed" => Err(Error::Failed {
                object: object(),
                state: balancer.provisioning_status,
                reason: "the platform gives no reason".to_owned(),
            }),
            other => {
                progress(other.replace('_', " "));
                Ok(None)
            }
        }
    };
    site.until(look).await
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let made = self.make(context).await?;
        context.note(id(&made.id)).await?;
        self.site.tag(&made.crn, context).await?;
        let balancer = active(&self.site, &made.id, context.progress()).await?;
        let addresses = json!(balancer.addresses());
        Ok(Outputs::default().with("id", balancer.id).with("hostname", balancer.hostname).with("addresses", addresses))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        Ok(erase::<client::LoadBalancer>(&self.site, &Own::new(&self.desired.name, outputs), context).await?)
    }
}
