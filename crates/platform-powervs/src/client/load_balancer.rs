//! Load balancers: one change at a time, and each takes about a minute.

use std::net::IpAddr;

use landfall_wire::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Client, session::To};
use crate::Error;

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LoadBalancer {
    /// Its id.
    pub id: String,
    /// Its name for other services.
    #[serde(default)]
    pub crn: String,
    /// Its name.
    pub name: String,
    /// The name that leads to it.
    #[serde(default)]
    pub hostname: String,
    /// `active`, `create_pending`, `update_pending`, `delete_pending`, `maintenance_pending`, `failed`, …
    #[serde(default)]
    pub provisioning_status: String,
    /// Addresses for everybody.
    #[serde(default)]
    pub public_ips: Vec<Address>,
    /// Addresses for those in the VPC.
    #[serde(default)]
    pub private_ips: Vec<Address>,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Address {
    /// The address.
    pub address: IpAddr,
}

/// A port that is listened on, and that of the members behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// Name of the pool behind it.
    pub pool: String,
    /// The port, here and there.
    pub port: u16,
}

/// A pool of members.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pool {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A member of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its address, which need not be in the VPC.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}

impl LoadBalancer {
    /// Its addresses: for everybody if it has such, else for those in the VPC.
    pub fn addresses(&self) -> Vec<IpAddr> {
        let ips = if self.public_ips.is_empty() { &self.private_ips } else { &self.public_ips };
        ips.iter().map(|ip| ip.address).collect()
    }
}

impl Client {
    /// All load balancers of the region.
    pub async fn load_balancers(&self) -> Result<Vec<LoadBalancer>, Error> {
        self.all().await
    }

    /// The load balancer with a name or an id.
    pub async fn load_balancer(&self, name: &str) -> Result<Option<LoadBalancer>, Error> {
        self.named(name).await
    }

    /// Makes a load balancer with its pools and listeners, all at once: added one by one each would take a minute.
    pub async fn create_load_balancer(
        &self,
        name: &str,
        is_public: bool,
        subnets: &[String],
        security_group: &str,
        resource_group: &str,
        listeners: &[Listener],
    ) -> Result<LoadBalancer, Error> {
        let pool = |listener: &Listener| {
            json!({
                "name": listener.pool, "algorithm": "round_robin", "protocol": "tcp",
                "health_monitor": {"type": "tcp", "delay": 5, "max_retries": 2, "timeout": 2},
            })
        };
        let listener = |listener: &Listener| json!({"port": listener.port, "protocol": "tcp", "default_pool": {"name": listener.pool}});
        let body = json!({
            "name": name,
            "is_public": is_public,
            "subnets": subnets.iter().map(|id| json!({"id": id})).collect::<Vec<_>>(),
            "security_groups": [{"id": security_group}],
            "resource_group": {"id": resource_group},
            "pools": listeners.iter().map(pool).collect::<Vec<_>>(),
            "listeners": listeners.iter().map(listener).collect::<Vec<_>>(),
        });
        self.post(&format!("making load balancer {name}"), To::Vpc, "load_balancers", &body).await
    }

    /// The pools of a load balancer.
    pub async fn pools(&self, balancer: &LoadBalancer) -> Result<Vec<Pool>, Error> {
        let attempt = format!("listing the pools of load balancer {}", balancer.name);
        let answer: Value = self.get(&attempt, To::Vpc, &format!("load_balancers/{}/pools", balancer.id)).await?;
        Ok(serde_json::from_value(answer["pools"].clone()).unwrap_or_default())
    }

    /// The members of a pool.
    pub async fn members(&self, balancer: &LoadBalancer, pool: &Pool) -> Result<Vec<Member>, Error> {
        let attempt = format!("listing the members of pool {} of load balancer {}", pool.name, balancer.name);
        let path = format!("load_balancers/{}/pools/{}/members", balancer.id, pool.id);
        let answer: Value = self.get(&attempt, To::Vpc, &path).await?;
        let member = |member: &Value| {
            let address = member["target"]["address"].as_str()?.parse().ok()?;
            Some(Member { address, port: u16::try_from(member["port"].as_u64()?).ok()? })
        };
        Ok(answer["members"].as_array().into_iter().flatten().filter_map(member).collect())
    }

    /// Makes these the members of a pool, and no others: one change, however many they are.
    pub async fn replace_members(&self, balancer: &LoadBalancer, pool: &Pool, members: &[Member]) -> Result<(), Error> {
        let attempt = format!("changing the members of pool {} of load balancer {}", pool.name, balancer.name);
        let path = format!("load_balancers/{}/pools/{}/members", balancer.id, pool.id);
        let member = |member: &Member| json!({"port": member.port, "target": {"address": member.address}});
        let body = json!({"members": members.iter().map(member).collect::<Vec<_>>()});
        self.send(&attempt, To::Vpc, Method::PUT, &path, Some(&body)).await
    }
}
