//! Hosts, as far as they show what addresses a network has.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

use super::{Cluster, Network, Reference};
use crate::{Client, Error};

#[derive(Deserialize)]
struct Hosts {
    #[serde(default)]
    host: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    id: String,
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

impl Ip {
    fn range(&self) -> Option<IpNet> {
        let (address, netmask): (IpAddr, IpAddr) = (self.address.parse().ok()?, self.netmask.parse().ok()?);
        Some(IpNet::with_netmask(address, netmask).ok()?.trunc())
    }
}

impl Client {
    /// The range of a network, read off the address that a host of the cluster has in it. `None` if no host has one, which is
    /// usual for networks that only machines use.
    pub async fn network_range(&self, cluster: &Cluster, network: &Network) -> Result<Option<IpNet>, Error> {
        let Hosts { host } = self.get("hosts").await?;
        let mut hosts = host.into_iter().filter(|host| {
            host.status == "up" && host.cluster.as_ref().is_some_and(|reference| reference.id == cluster.id)
        });
        // The hosts of a cluster are set up alike, so one speaks for all.
        let Some(host) = hosts.next() else { return Ok(None) };
        let HostNics { host_nic } = self.get(&format!("hosts/{}/nics", host.id)).await?;
        Ok(host_nic.into_iter().find_map(|nic| {
            nic.ip.filter(|_| nic.network.is_some_and(|reference| reference.id == network.id))?.range()
        }))
    }
}
