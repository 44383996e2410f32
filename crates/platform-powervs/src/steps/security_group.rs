//! The security group of the load balancers.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{erase, id};
use crate::{
    Site, client,
    own::{Own, adopt},
    plan::VPC,
};

/// A security group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Its name; of one that was found by its tag its id.
    pub name: String,
    /// Its rules.
    #[serde(default)]
    pub rules: Vec<Value>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: SecurityGroup,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let vpc: String = context.output(&VPC.into(), "id")?;
        let SecurityGroup { name, rules } = &self.desired;
        let group = if let Some(group) = adopt::<client::SecurityGroup>(&self.site, name, context).await? {
            group
        } else {
            let resource_group = self.site.resource_group().await?;
            self.site.client.create_security_group(name, &vpc, &resource_group, rules).await?
        };
        context.note(id(&group.id)).await?;
        self.site.tag(&group.crn, context).await?;
        for rule in rules.iter().filter(|rule| !group.has(rule)) {
            self.site.client.add_rule(&group, rule).await?;
        }
        Ok(Outputs::default().with("id", group.id))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        Ok(erase::<client::SecurityGroup>(&self.site, &Own::new(&self.desired.name, outputs), context).await?)
    }
}
