//! Storage domains.

use serde::Deserialize;

use super::{Cluster, number};
use crate::{Client, Error};

/// A storage domain that disks can be made in.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct StorageDomain {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Free space in bytes, if the engine knows it.
    #[serde(default, deserialize_with = "number::optional")]
    pub available: Option<u64>,
    /// Used space in bytes, if the engine knows it.
    #[serde(default, deserialize_with = "number::optional")]
    pub used: Option<u64>,
    /// What it is made of.
    #[serde(default)]
    pub storage: Storage,
    /// `data`, `iso`, …
    #[serde(default, rename = "type")]
    pub kind: String,
    /// `active` if it can be used.
    #[serde(default)]
    pub status: String,
}

/// What a storage domain is made of.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Storage {
    /// `nfs`, `iscsi`, `fcp`, …
    #[serde(default, rename = "type")]
    pub kind: String,
}

#[derive(Deserialize)]
struct StorageDomains {
    #[serde(default)]
    storage_domain: Vec<StorageDomain>,
}

impl Client {
    /// The storage domain with an id, as it is attached to a data centre.
    pub async fn storage_domain(&self, data_center_id: &str, id: &str) -> Result<Option<StorageDomain>, Error> {
        self.get_existing(&format!("datacenters/{data_center_id}/storagedomains/{id}")).await
    }

    /// The storage domains that a cluster's machines can have their disks in: active data domains of its data centre, by
    /// name. (Asked through the data centre because only there a domain has a status.)
    pub async fn storage_domains(&self, cluster: &Cluster) -> Result<Vec<StorageDomain>, Error> {
        let path = format!("datacenters/{}/storagedomains", cluster.data_center_id);
        let StorageDomains { mut storage_domain } = self.get(&path).await?;
        storage_domain.retain(|domain| domain.kind == "data" && domain.status == "active");
        storage_domain.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(storage_domain)
    }
}
