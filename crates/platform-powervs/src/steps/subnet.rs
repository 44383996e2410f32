//! A subnet of the VPC, for the load balancers.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::{erase, id, settled};
use crate::{
    Error, Site, client,
    own::{Own, adopt},
    plan::VPC,
};

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// The zone that it is in.
    #[serde(default)]
    pub zone: String,
    /// Name or id of one that the user has already. It is looked for, and left alone.
    #[serde(default)]
    pub given: Option<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Subnet,
}

impl Act {
    async fn available(&self, name: &str, vpc: &str) -> Result<client::Subnet, Error> {
        let look = || async {
            let found = self.site.client.subnet(name).await?.filter(|subnet| subnet.vpc.id == vpc);
            let Some(subnet) = found else { return Err(Error::missing(format!("subnet {name} of the VPC"))) };
            Ok(settled(&format!("subnet {name}"), &subnet.status)?.then_some(subnet))
        };
        self.site.until(look).await
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let vpc: String = context.output(&VPC.into(), "id")?;
        let mut name = self.desired.given.as_ref().unwrap_or(&self.desired.name).clone();
        if self.desired.given.is_none() {
            let subnet = if let Some(subnet) = adopt::<client::Subnet>(&self.site, &name, context).await? {
                subnet
            } else {
                let group = self.site.resource_group().await?;
                self.site.client.create_subnet(&name, &vpc, &self.desired.zone, &group).await?
            };
            context.note(id(&subnet.id)).await?;
            self.site.tag(&subnet.crn, context).await?;
            name = subnet.id;
        }
        let subnet = self.available(&name, &vpc).await?;
        let told = Outputs::default().with("id", subnet.id);
        Ok(if self.desired.given.is_some() { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.given.is_some() {
            return Ok(());
        }
        Ok(erase::<client::Subnet>(&self.site, &Own::new(&self.desired.name, outputs), context).await?)
    }
}
