//! The id of a partition, which whoever makes it chooses.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::client::partition_id;

/// The id of a partition, as the platform writes it: upper case, the first bit clear.
///
/// It is chosen before the partition is made. So a partition whose making was cut off is found again, and never made twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartitionId(String);

impl PartitionId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its 32 digits, in lower case.
    pub fn digits(&self) -> String {
        self.0.replace('-', "").to_lowercase()
    }

    /// The last digits, for names that have no room for all of them.
    pub fn tail(&self, count: usize) -> String {
        let digits = self.digits();
        digits[digits.len().saturating_sub(count)..].to_owned()
    }
}

impl From<Uuid> for PartitionId {
    fn from(id: Uuid) -> Self {
        Self(partition_id(id))
    }
}

/// Why a text is not the id of a partition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the id of a partition")]
pub struct PartitionIdError(String);

impl std::str::FromStr for PartitionId {
    type Err = PartitionIdError;

    fn from_str(text: &str) -> Result<Self, PartitionIdError> {
        text.parse::<Uuid>().map(Self::from).map_err(|_| PartitionIdError(text.to_owned()))
    }
}

impl fmt::Display for PartitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_as_the_platform_writes_them() {
        let id: PartitionId = "ffffffff-0000-4000-8000-0123456789ab".parse().unwrap();
        assert_eq!(id.as_str(), "7FFFFFFF-0000-4000-8000-0123456789AB");
        assert_eq!(id.tail(12), "0123456789ab");
        assert!("web1".parse::<PartitionId>().is_err());
    }
}
