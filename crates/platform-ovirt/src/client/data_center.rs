//! Data centres.

use serde::Deserialize;

use crate::{Client, Error};

/// A data centre.
#[derive(Clone, Debug, Deserialize)]
pub struct DataCenter {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `up` if machines can be made in it.
    #[serde(default)]
    pub status: String,
    /// `disabled`, `audit` or `enabled`.
    #[serde(default)]
    pub quota_mode: String,
}

#[derive(Deserialize)]
struct DataCenters {
    #[serde(default)]
    data_center: Vec<DataCenter>,
}

impl Client {
    /// The data centre with an id.
    pub async fn data_center(&self, id: &str) -> Result<Option<DataCenter>, Error> {
        self.get_existing(&format!("datacenters/{id}")).await
    }

    /// The data centres that are up.
    pub(super) async fn data_centers(&self) -> Result<Vec<DataCenter>, Error> {
        let DataCenters { data_center } = self.get("datacenters").await?;
        Ok(data_center.into_iter().filter(|data_center| data_center.status == "up").collect())
    }
}
