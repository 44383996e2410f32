//! Who the cluster is: `.landfall/cluster.json`.

use landfall_platform::{File, InfraId};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The identity of the cluster that an install directory belongs to. Written once, never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identity {
    /// The mark that everything of the cluster carries.
    pub infra_id: InfraId,
    /// The cluster's name when the id was minted.
    pub cluster_name: String,
}

impl Identity {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|source| Error::IdentityDamaged { source })
    }

    pub(crate) fn render(&self) -> File {
        let mut bytes = serde_json::to_vec_pretty(self).expect("an identity is two texts");
        bytes.push(b'\n');
        File::public(bytes)
    }
}
