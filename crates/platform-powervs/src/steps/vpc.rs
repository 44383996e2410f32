//! The VPC.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::{erase, id, settled};
use crate::{
    Error, Site, client,
    own::{Own, adopt},
};

/// A VPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vpc {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// Name or id of one that the user has already. It is looked for, and left alone.
    #[serde(default)]
    pub given: Option<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Vpc,
}

impl Act {
    async fn available(&self, name: &str) -> Result<client::Vpc, Error> {
        let look = || async {
            let Some(vpc) = self.site.client.vpc(name).await? else {
                return Err(Error::missing(format!("VPC {name}")));
            };
            Ok(settled(&format!("VPC {name}"), &vpc.status)?.then_some(vpc))
        };
        self.site.until(look).await
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let mut name = self.desired.given.as_ref().unwrap_or(&self.desired.name).clone();
        if self.desired.given.is_none() {
            let vpc = match adopt::<client::Vpc>(&self.site, &name, context).await? {
                Some(vpc) => vpc,
                None => self.site.client.create_vpc(&name, &self.site.resource_group().await?).await?,
            };
            context.note(id(&vpc.id)).await?;
            self.site.tag(&vpc.crn, context).await?;
            name = vpc.id;
        }
        let vpc = self.available(&name).await?;
        let told = Outputs::default().with("id", vpc.id).with("crn", vpc.crn);
        Ok(if self.desired.given.is_some() { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.given.is_some() {
            return Ok(());
        }
        Ok(erase::<client::Vpc>(&self.site, &Own::new(&self.desired.name, outputs), context).await?)
    }
}
