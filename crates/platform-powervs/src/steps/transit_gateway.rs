//! The transit gateway between workspace and VPC.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::{erase, id, settled};
use crate::{
    Error, Site, client,
    own::{Own, adopt},
};

/// A transit gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitGateway {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// The region that it is in.
    pub location: String,
    /// Whether it joins networks of other regions.
    pub global: bool,
    /// Name or id of one that the user has already. It is looked for, and left alone.
    #[serde(default)]
    pub given: Option<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: TransitGateway,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let TransitGateway { name, location, global, given } = &self.desired;
        let mut name = given.as_ref().unwrap_or(name).clone();
        if given.is_none() {
            let gateway = if let Some(gateway) = adopt::<client::TransitGateway>(&self.site, &name, context).await? {
                gateway
            } else {
                let group = self.site.resource_group().await?;
                self.site.client.create_transit_gateway(&name, location, *global, &group).await?
            };
            context.note(id(&gateway.id)).await?;
            self.site.tag(&gateway.crn, context).await?;
            name = gateway.id;
        }
        let look = || async {
            let Some(gateway) = self.site.client.transit_gateway(&name).await? else {
                return Err(Error::missing(format!("transit gateway {name}")));
            };
            Ok(settled(&format!("transit gateway {name}"), &gateway.status)?.then_some(gateway))
        };
        let gateway = self.site.until(look).await?;
        let told = Outputs::default().with("id", gateway.id);
        Ok(if given.is_some() { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.given.is_some() {
            return Ok(());
        }
        Ok(erase::<client::TransitGateway>(&self.site, &Own::new(&self.desired.name, outputs), context).await?)
    }
}
