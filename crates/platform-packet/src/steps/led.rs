//! Where an elastic address leads: to one machine at a time.

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError, StepId};
use serde::{Deserialize, Serialize};

use super::ControlPlane;
use crate::{
    Error, Site,
    client::{Block, Device},
};

/// An elastic address that leads to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Led {
    /// The step that reserves the address.
    pub address: StepId,
    /// The machines that may have it.
    #[serde(default)]
    pub machines: Vec<String>,
    /// Which of them gets it.
    pub target: Target,
}

/// Which machine gets an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The first, if nobody of the cluster has the address yet.
    First,
    /// One whose API server is ready, once all are.
    AllReady,
    /// One whose API server is ready.
    AnyReady,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Led,
    pub(super) control_plane: Option<Arc<dyn ControlPlane>>,
}

/// Leads an address to a device. The platform has no call that moves one.
pub(crate) async fn lead(site: &Site, block: &Block, device: &str) -> Result<(), Error> {
    for assignment in &block.assignments {
        site.client.unassign(assignment).await?;
    }
    site.client.assign(block.network, device).await.map(drop)
}

impl Act {
    async fn block(&self, id: &str) -> Result<Block, Error> {
        let project = self.site.project().await?;
        let found = self.site.client.blocks(&project).await?.into_iter().find(|block| block.id == id);
        found.ok_or_else(|| Error::Missing { object: format!("address block {id}"), api: self.site.client.host() })
    }

    /// The machines that may have the address and are there: an address does not lead to other metros.
    async fn members(&self, block: &Block) -> Result<Vec<Device>, Error> {
        let all = self.site.devices().await?;
        let named =
            |name: &String| all.iter().find(|device| device.hostname == *name && is_beside(block, device)).cloned();
        Ok(self.desired.machines.iter().filter_map(named).collect())
    }

    /// Those of the machines that are well.
    async fn ready(&self, members: &[Device]) -> Vec<Device> {
        let Some(control_plane) = &self.control_plane else { return Vec::new() };
        let judged = members.iter().map(|device| async move {
            let address: Option<IpAddr> = device.public_ipv4();
            match address {
                Some(address) if control_plane.is_ready(address).await => Some(device.clone()),
                _ => None,
            }
        });
        futures::future::join_all(judged).await.into_iter().flatten().collect()
    }

    /// The machine that is to have the address now; none if that is not decided yet.
    async fn choose(&self, block: &Block, holder: Option<&str>, context: &Context) -> Result<Option<String>, Error> {
        let members = self.members(block).await?;
        let is_member = |id: &str| members.iter().any(|member| member.id == id);
        if self.desired.target == Target::First {
            // Whoever of the cluster has it keeps it: it may have been moved on already.
            let all = self.site.devices().await?;
            let kept = holder.filter(|id| all.iter().any(|device| device.id == **id)).map(str::to_owned);
            return Ok(kept.or_else(|| members.first().map(|member| member.id.clone())));
        }
        let ready = self.ready(&members).await;
        if let Some(holder) = holder.filter(|id| is_member(id) && ready.iter().any(|member| member.id == **id)) {
            return Ok(Some(holder.to_owned()));
        }
        let wanted = if self.desired.target == Target::AllReady { self.desired.machines.len() } else { 1 };
        if ready.len() < wanted.max(1) {
            context.report(format!("{} of {} control planes are ready", ready.len(), self.desired.machines.len()));
            return Ok(None);
        }
        Ok(ready.first().map(|member| member.id.clone()))
    }
}

/// Whether a device stands where an address can lead to it.
pub(crate) fn is_beside(block: &Block, device: &Device) -> bool {
    match (&block.metro, &device.metro) {
        (Some(block), Some(device)) => block.code == device.code,
        _ => true,
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let id: String = context.output(&self.desired.address, "id")?;
        // waits: the engine ends the step at its limit
        loop {
            let block = self.block(&id).await?;
            let holder = block.assignments.first().map(|assignment| assignment.assigned_to.id().to_owned());
            if let Some(target) = self.choose(&block, holder.as_deref(), context).await? {
                if holder.as_ref() != Some(&target) {
                    lead(&self.site, &block, &target).await?;
                }
                return Ok(Outputs::default().with("device", target).with("block", id));
            }
            tokio::time::sleep(self.site.interval).await;
        }
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let led: Option<String> = outputs.and_then(|outputs| outputs.get("block"));
        // What was reserved for the cluster goes as a whole; an address of the user's is only taken from the cluster.
        let own: Vec<String> = self.site.devices().await?.iter().map(|device| device.id.clone()).collect();
        for project in self.site.projects_of(context).await? {
            let blocks = self.site.client.blocks(&project).await?;
            for block in blocks.iter().filter(|block| led.as_ref().is_none_or(|id| *id == block.id)) {
                for assignment in block.assignments.iter().filter(|one| own.iter().any(|id| id == one.assigned_to.id()))
                {
                    self.site.client.unassign(assignment).await?;
                }
            }
        }
        Ok(())
    }
}
