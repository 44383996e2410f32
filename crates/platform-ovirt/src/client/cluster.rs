//! Clusters of hosts.

use serde::Deserialize;

use super::{DataCenter, Reference};
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
    /// Ids of all clusters, also of those whose data centre is down.
    pub async fn cluster_ids(&self) -> Result<Vec<String>, Error> {
        let Clusters { cluster } = self.get("clusters").await?;
        Ok(cluster.into_iter().map(|entry| entry.id).collect())
    }

    /// The cluster with an id and its data centre, whatever their state.
    pub async fn cluster(&self, id: &str) -> Result<Option<(Cluster, DataCenter)>, Error> {
        let Some(Entry { id, name, data_center }) = self.get_existing(&format!("clusters/{id}")).await? else {
            return Ok(None);
        };
        let Some(Reference { id: data_center_id }) = data_center else { return Ok(None) };
        let Some(data_center) = self.data_center(&data_center_id).await? else { return Ok(None) };
        let cluster = Cluster { id, name, data_center_id, data_center: data_center.name.clone() };
        Ok(Some((cluster, data_center)))
    }

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
