//! Resource groups.

use serde::Deserialize;

use super::{Client, session::To};
use crate::Error;

/// A resource group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ResourceGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether things are made in it if nobody says otherwise.
    #[serde(default)]
    pub default: bool,
}

impl Client {
    /// All resource groups of the account.
    pub async fn resource_groups(&self) -> Result<Vec<ResourceGroup>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            resources: Vec<ResourceGroup>,
        }
        let account = self.account().await?;
        let path = format!("resource_groups?account_id={account}");
        let answer: Answer = self.get("listing resource groups", To::Groups, &path).await?;
        Ok(answer.resources)
    }
}
