//! Data centres.

use serde::Deserialize;

use crate::{Client, Error};

/// A data centre.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DataCenter {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
struct DataCenters {
    #[serde(default)]
    data_center: Vec<DataCenter>,
}

impl Client {
    /// The data centres that are up.
    pub(super) async fn data_centers(&self) -> Result<Vec<DataCenter>, Error> {
        let DataCenters { data_center } = self.get("datacenters").await?;
        Ok(data_center.into_iter().filter(|data_center| data_center.status == "up").collect())
    }
}
