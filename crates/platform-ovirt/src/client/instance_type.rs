//! Instance types: sizes of machines with a name.

use serde::Deserialize;

use super::number;
use crate::{Client, Error};

/// A size of machines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct InstanceType {
    /// Its name.
    pub name: String,
    /// Memory in bytes.
    #[serde(default, deserialize_with = "number::required")]
    pub memory: u64,
}

impl Client {
    /// The instance type with an id.
    pub async fn instance_type(&self, id: &str) -> Result<Option<InstanceType>, Error> {
        self.get_existing(&format!("instancetypes/{id}")).await
    }
}
