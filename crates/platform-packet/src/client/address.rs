//! Blocks of addresses, and what is assigned of them.

use std::net::IpAddr;

use landfall_config::packet::Location;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Coded, Reference};
use crate::Error;

/// A block of addresses that a project has reserved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Block {
    /// Its id.
    pub id: String,
    /// Its first address.
    pub network: IpAddr,
    /// How long its prefix is.
    pub cidr: u8,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// `created`, `pending` or `denied`.
    #[serde(default)]
    pub state: String,
    /// Whether the platform made it for a device.
    #[serde(default)]
    pub management: bool,
    /// Whether it is reachable from everywhere.
    #[serde(default)]
    pub public: bool,
    /// What is assigned of it.
    #[serde(default)]
    pub assignments: Vec<Assignment>,
    /// The metro it belongs to.
    #[serde(default)]
    pub metro: Option<Coded>,
    /// The facility it belongs to.
    #[serde(default)]
    pub facility: Option<Coded>,
}

/// An address that is assigned to a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Assignment {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// The device.
    #[serde(default)]
    pub assigned_to: Reference,
}

impl Client {
    /// All blocks of a project that are not of the platform's own making, with what is assigned of them.
    pub async fn blocks(&self, project: &str) -> Result<Vec<Block>, Error> {
        let path = format!("projects/{project}/ips");
        let query = [("include", "assignments")];
        let all: Vec<Block> = self.pages("listing addresses", &path, &query, "ip_addresses").await?;
        Ok(all.into_iter().filter(|block| !block.management).collect())
    }

    /// The network that private addresses of devices at a place come from, in CIDR notation; none before the first device.
    pub async fn private_network(&self, project: &str, place: &Location) -> Result<Option<String>, Error> {
        let all: Vec<Block> =
            self.pages("listing addresses", &format!("projects/{project}/ips"), &[], "ip_addresses").await?;
        let stands = |block: &&Block| {
            let own = if matches!(place, Location::Metro(_)) { &block.metro } else { &block.facility };
            own.as_ref().is_some_and(|own| own.code == place.code())
        };
        let mut private = all.iter().filter(|block| !block.public && block.network.is_ipv4()).filter(stands);
        // A single address is one of a device; the network has room for many.
        Ok(private.find(|block| block.cidr < 30).map(|block| format!("{}/{}", block.network, block.cidr)))
    }

    /// Reserves a block.
    pub async fn reserve(&self, project: &str, name: &str, body: &Value) -> Result<Block, Error> {
        self.post(&format!("reserving addresses {name}"), &format!("projects/{project}/ips"), body).await
    }

    /// Gives an address to a device.
    pub async fn assign(&self, address: IpAddr, device: &str) -> Result<Assignment, Error> {
        let path = format!("devices/{device}/ips");
        self.post(&format!("assigning {address} to device {device}"), &path, &json!({"address": address.to_string()}))
            .await
    }

    /// Takes an address from its device.
    pub async fn unassign(&self, assignment: &Assignment) -> Result<(), Error> {
        self.delete("unassigning an address", &format!("ips/{}", assignment.id)).await
    }

    /// Gives a block back.
    pub async fn release(&self, block: &Block) -> Result<(), Error> {
        self.delete(&format!("releasing {}/{}", block.network, block.cidr), &format!("ips/{}", block.id)).await
    }
}
