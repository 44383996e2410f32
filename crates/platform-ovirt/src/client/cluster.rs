//! Clusters of hosts.

use serde::Deserialize;

use super::Reference;
use crate::{Client, Error};

/// A cluster of hosts, in a data centre that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The id of its data centre.
    pub data_center_id: String,
    /// The name of its data centre.
    pub data_center: String,
}

#[derive(Deserialize)]
struct Clusters {
    #[serde(default)]
    cluster: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    name: String,
    data_center: Option<Reference>,
}

impl Client {
    /// The clusters of all data centres that are up, by name.
    pub async fn clusters(&self) -> Result<Vec<Cluster>, Error> {
        let data_centers = self.data_centers().await?;
        let Clusters { cluster } = self.get("clusters").await?;
        let mut clusters: Vec<Cluster> = cluster
            .into_iter()
            .filter_map(|Entry { id, name, data_center }| {
                let data_center_id = data_center?.id;
                let data_center = data_centers.iter().find(|known| known.id == data_center_id)?.name.clone();
                Some(Cluster { id, name, data_center_id, data_center })
            })
            .collect();
        clusters.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(clusters)
    }
}
