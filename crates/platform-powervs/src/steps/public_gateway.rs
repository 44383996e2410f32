//! A gateway that leads out of a subnet.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError, StepId};
use serde::{Deserialize, Serialize};

use super::{erase, id, settled};
use crate::{
    Error, Site, client,
    own::{Own, adopt, owned},
    plan::VPC,
};

/// A gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicGateway {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// The zone that it is in.
    pub zone: String,
    /// The step that makes the subnet.
    pub subnet: StepId,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: PublicGateway,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let PublicGateway { name, zone, subnet } = &self.desired;
        let (vpc, subnet): (String, String) = (context.output(&VPC.into(), "id")?, context.output(subnet, "id")?);
        let made = if let Some(gateway) = adopt::<client::PublicGateway>(&self.site, name, context).await? {
            gateway
        } else {
            let group = self.site.resource_group().await?;
            self.site.client.create_public_gateway(name, &vpc, zone, &group).await?
        };
        context.note(id(&made.id)).await?;
        self.site.tag(&made.crn, context).await?;
        let look = || async {
            let Some(gateway) = self.site.client.public_gateway(&made.id).await? else {
                return Err(Error::missing(format!("public gateway {name}")));
            };
            Ok(settled(&format!("public gateway {name}"), &gateway.status)?.then_some(gateway))
        };
        let gateway = self.site.until(look).await?;
        let found = self.site.client.subnet(&subnet).await?;
        let found = found.ok_or_else(|| Error::missing(format!("subnet {subnet}")))?;
        if found.public_gateway.as_ref().is_none_or(|attached| attached.id != gateway.id) {
            self.site.client.attach_gateway(&found, &gateway.id).await?;
        }
        Ok(Outputs::default().with("id", gateway.id))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let own = Own::new(&self.desired.name, outputs);
        let gateways: Vec<client::PublicGateway> = owned(&self.site, &own).await?;
        let leads_out = |attached: &client::Reference| gateways.iter().any(|gateway| gateway.id == attached.id);
        for subnet in self.site.client.subnets().await? {
            if subnet.public_gateway.as_ref().is_some_and(leads_out) {
                self.site.client.detach_gateway(&subnet).await?;
            }
        }
        Ok(erase::<client::PublicGateway>(&self.site, &own, context).await?)
    }
}
