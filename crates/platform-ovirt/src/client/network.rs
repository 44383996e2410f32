//! Logical networks.

use serde::Deserialize;

use super::Cluster;
use crate::{Client, Error};

/// A logical network that machines can be attached to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Network {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for, in a few words.
    #[serde(default)]
    pub description: String,
    usages: Option<Usages>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Usages {
    #[serde(default)]
    usage: Vec<String>,
}

#[derive(Deserialize)]
struct Networks {
    #[serde(default)]
    network: Vec<Network>,
}

impl Client {
    /// The networks of a cluster that machines can be attached to, by name. A network that says nothing about its usages
    /// counts as one.
    pub async fn networks(&self, cluster: &Cluster) -> Result<Vec<Network>, Error> {
        let Networks { mut network } = self.get(&format!("clusters/{}/networks", cluster.id)).await?;
        network.retain(|network| {
            network.usages.as_ref().is_none_or(|usages| usages.usage.iter().any(|usage| usage == "vm"))
        });
        network.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(network)
    }
}
