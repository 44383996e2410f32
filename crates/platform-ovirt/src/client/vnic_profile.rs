//! Profiles of virtual network cards.

use serde::Deserialize;

use super::Network;
use crate::{Client, Error};

/// A profile of virtual network cards.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct VnicProfile {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for, in a few words.
    #[serde(default)]
    pub description: String,
}

#[derive(Deserialize)]
struct VnicProfiles {
    #[serde(default)]
    vnic_profile: Vec<VnicProfile>,
}

impl Client {
    /// The profiles of a network, by name.
    pub async fn vnic_profiles(&self, network: &Network) -> Result<Vec<VnicProfile>, Error> {
        let VnicProfiles { mut vnic_profile } = self.get(&format!("networks/{}/vnicprofiles", network.id)).await?;
        vnic_profile.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(vnic_profile)
    }
}
