//! Single properties, without the rest of an object.

use landfall_platform::ErrorClass;
use serde_json::Value;

use super::{path::Path, session::Client};
use crate::Error;

impl Client {
    /// A property of an object: `PartitionState`, `PartitionID`, …. Much cheaper than the object.
    pub async fn quick(&self, path: &Path, property: &str) -> Result<Value, Error> {
        self.get_json(&format!("reading {property} of {path}"), &format!("{}/quick/{property}", path.bare())).await
    }

    /// The state of a partition, in the console's word; `None` if there is no such partition.
    pub async fn partition_state(&self, id: &str) -> Result<Option<String>, Error> {
        match self.quick(&Path::entry("LogicalPartition", id), "PartitionState").await {
            Ok(state) => Ok(Some(state.as_str().unwrap_or_default().to_owned())),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
