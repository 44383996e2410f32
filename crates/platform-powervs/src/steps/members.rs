//! Who is behind a load balancer.
//!
//! A load balancer takes one change at a time and each keeps it busy for a minute, so a pool is changed as a whole: with all machines
//! that have an address by then, not with one after the other.

use std::{collections::BTreeSet, net::IpAddr};

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Progress, Step, StepError};
use serde::{Deserialize, Serialize};

use super::load_balancer::active;
use crate::{
    Error, Site,
    client::{Listener, Member, Resource as _},
};

/// Machines behind a load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// The load balancer.
    pub balancer: String,
    /// The machines.
    pub machines: Vec<String>,
    /// The listeners that lead to them, the most urgent first.
    pub listeners: Vec<Listener>,
    /// Whether they leave before the load balancer goes. Otherwise it is enough that it does: every change takes a minute.
    #[serde(default)]
    pub temporary: bool,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Members,
}

/// Makes machines the members of pools, as `wanted` says for what each pool has now. Does nothing if all is as wanted.
pub(crate) async fn rearrange(
    site: &Site,
    balancer: &str,
    listeners: &[Listener],
    wanted: impl Fn(&BTreeSet<IpAddr>) -> BTreeSet<IpAddr>,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let _alone = site.lock(balancer).await;
    let found = active(site, balancer, progress).await?;
    let pools = site.client.pools(&found).await?;
    for Listener { pool, port } in listeners {
        let missing = || Error::missing(format!("pool {pool} of load balancer {balancer}"));
        let pool = pools.iter().find(|own| own.name == *pool).ok_or_else(missing)?;
        let now = site.client.members(&found, pool).await?;
        let addresses: BTreeSet<IpAddr> = now.iter().map(|member| member.address).collect();
        let members: Vec<Member> =
            wanted(&addresses).into_iter().map(|address| Member { address, port: *port }).collect();
        let is_same = now.len() == members.len() && members.iter().all(|member| now.contains(member));
        if !is_same {
            progress(format!("pool {} gets {} members", pool.name, members.len()));
            site.client.replace_members(&found, pool, &members).await?;
            active(site, balancer, progress).await?;
        }
    }
    Ok(())
}

impl Act {
    /// The addresses of the machines, and those of all machines of the cluster.
    async fn addresses(&self) -> Result<(BTreeSet<IpAddr>, BTreeSet<IpAddr>), Error> {
        let all = self.site.machines().await?;
        let mut own = BTreeSet::new();
        for name in &self.desired.machines {
            let found = all.iter().find(|found| found.instance.server_name == *name);
            let address = found.and_then(|found| found.addresses.first());
            own.insert(*address.ok_or_else(|| Error::missing(format!("an address of machine {name}")))?);
        }
        Ok((own, all.iter().flat_map(|found| found.addresses.clone()).collect()))
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let (own, all) = self.addresses().await?;
        // Machines that others brought here stay; those that are gone do not.
        let wanted = |now: &BTreeSet<IpAddr>| own.union(&(now & &all)).copied().collect();
        rearrange(&self.site, &self.desired.balancer, &self.desired.listeners, wanted, context.progress()).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        if !self.desired.temporary {
            return Ok(());
        }
        let balancer = self.site.client.load_balancer(&self.desired.balancer).await?;
        if balancer.is_none_or(|balancer| balancer.is_leaving() || balancer.provisioning_status == "failed") {
            return Ok(());
        }
        let all = self.site.machines().await?;
        let is_own = |name: &String| self.desired.machines.contains(name);
        let own = all.iter().filter(|found| is_own(&found.instance.server_name));
        let own: BTreeSet<IpAddr> = own.flat_map(|found| found.addresses.clone()).collect();
        let wanted = |now: &BTreeSet<IpAddr>| now - &own;
        match rearrange(&self.site, &self.desired.balancer, &self.desired.listeners, wanted, context.progress()).await {
            // With the load balancer its members went.
            Err(Error::Missing { .. }) => Ok(()),
            Err(error) if error.is_gone() => Ok(()),
            done => Ok(done?),
        }
    }
}
