//! Hosts.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

use super::{Cluster, Network, Reference, number};
use crate::{Client, Error};

#[derive(Deserialize)]
struct Hosts {
    #[serde(default)]
    host: Vec<Host>,
}

/// A host.
#[derive(Clone, Debug, Deserialize)]
pub struct Host {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Memory in bytes, if the engine tells.
    #[serde(default, deserialize_with = "number::optional")]
    pub memory: Option<u64>,
    /// Memory in bytes that machines can still be given, if the engine tells.
    #[serde(default, deserialize_with = "number::optional")]
    pub max_scheduling_memory: Option<u64>,
    #[serde(default)]
    status: String,
    cluster: Option<Reference>,
}

#[derive(Deserialize)]
struct HostNics {
    #[serde(default)]
    host_nic: Vec<HostNic>,
}

#[derive(Deserialize)]
struct HostNic {
    network: Option<Reference>,
    ip: Option<Ip>,
}

#[derive(Deserialize)]
struct Ip {
    #[serde(default)]
    address: String,
    #[serde(default)]
    netmask: String,
}

impl Host {
    /// Whether machines can run on it.
    pub fn is_up(&self) -> bool {
        self.status == "up"
    }
}

impl Ip {
    fn range(&self) -> Option<IpNet> {
        let (address, netmask): (IpAddr, IpAddr) = (self.address.parse().ok()?, self.netmask.parse().ok()?);
        Some(IpNet::with_netmask(address, netmask).ok()?.trunc())
    }
}

impl Client {
    /// The hosts of a cluster, whatever their state.
    pub async fn hosts(&self, cluster_id: &str) -> Result<Vec<Host>, Error> {
        let Hosts { host } = self.get("hosts").await?;
        Ok(host
            .into_iter()
            .filter(|host| host.cluster.as_ref().is_some_and(|cluster| cluster.id == cluster_id))
            .collect())
    }

    /// The range of a network, read off the address that a host of the cluster has in it. `None` if no host has one, which is
    /// usual for networks that only machines use.
    pub async fn network_range(&self, cluster: &Cluster, network: &Network) -> Result<Option<IpNet>, Error> {
        // The hosts of a cluster are set up alike, so one speaks for all.
        let Some(host) = self.hosts(&cluster.id).await?.into_iter().find(Host::is_up) else { return Ok(None) };
        let HostNics { host_nic } = self.get(&format!("hosts/{}/nics", host.id)).await?;
        Ok(host_nic.into_iter().find_map(|nic| {
            nic.ip.filter(|_| nic.network.is_some_and(|reference| reference.id == network.id))?.range()
        }))
    }
}
