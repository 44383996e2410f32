//! The machine verbs.

mod make;
mod place;
mod spec;

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{
    ErrorClass, Listing, Machine, MachineRef, MachineSpec, Power, PowerState, Progress, StepError, StepSpec,
};
use landfall_wire::Images;
use serde::Deserialize as _;

pub use spec::Partition;

use crate::{
    Error,
    compute::{self, Binder, Host, PartitionId},
    site::{Found, Site},
};

/// The machines of a cluster.
#[derive(Clone)]
pub struct Machines {
    pub(crate) site: Site,
    pub(crate) images: Images,
}

#[async_trait]
impl landfall_platform::Machines for Machines {
    async fn ensure(&self, spec: &MachineSpec, progress: Progress<'_>) -> Result<Machine, StepError> {
        let desired = Partition::deserialize(&spec.platform);
        let desired = desired.map_err(|error| StepError::new(ErrorClass::Invalid, error))?;
        let desired = Partition { name: spec.name.clone(), ..desired };
        Ok(machine(&self.make(&desired, None, Some(&spec.user_data), progress).await?))
    }

    async fn list(&self) -> Result<Listing, StepError> {
        let (found, silent) = self.site.list().await?;
        Ok(Listing { machines: found.iter().map(machine).collect(), silent })
    }

    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError> {
        Ok(self.site.ours(machine).await?.as_ref().map(self::machine))
    }

    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError> {
        let missing = || Error::Missing { name: machine.name.to_owned() };
        let found = self.site.ours(machine).await?.ok_or_else(missing)?;
        let wish = match wish {
            Power::On => compute::Power::On,
            Power::Off => compute::Power::Off,
            Power::ShutDown => compute::Power::ShutDown,
            Power::Reset => compute::Power::Reset,
        };
        let host = self.site.member(&found.host)?.host().await?;
        Ok(compute::power(&host, &id(&found)?, wish).await?)
    }

    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError> {
        let known = if machine.id.is_some() { self.site.ours(machine).await? } else { None };
        self.clear_away(machine.name, known, progress).await
    }
}

impl Machines {
    /// Takes the config drive out of a machine that runs and deletes it. A machine that is gone has none. Returns false if only the platform
    /// can take it out, later.
    pub(crate) async fn delete_config_drive(&self, machine: MachineRef<'_>) -> Result<bool, StepError> {
        let Some(found) = self.site.ours(machine).await? else { return Ok(true) };
        let host = self.site.member(&found.host)?.host().await?;
        Ok(compute::retire_config_drive(&host, &id(&found)?).await?)
    }

    /// Removes the partition with an id that the cluster's own journal has, and all with the name and the mark.
    pub(crate) async fn erase(&self, name: &str, id: Option<&str>, progress: Progress<'_>) -> Result<(), StepError> {
        let recorded = match id {
            Some(id) => self.site.with_id(id).await?,
            None => None,
        };
        self.clear_away(name, recorded, progress).await
    }

    /// Removes a partition that is known, and all with a name and the mark: a name is free on another server while a partition has it
    /// on one.
    async fn clear_away(&self, name: &str, known: Option<Found>, progress: Progress<'_>) -> Result<(), StepError> {
        let mut own = self.site.named(name).await?;
        own.retain(|found| self.site.is_ours(found));
        own.retain(|found| known.as_ref().is_none_or(|known| known.partition.id != found.partition.id));
        for found in known.iter().chain(&own) {
            self.take_down(found, progress).await?;
        }
        Ok(())
    }

    /// Removes a partition with everything that was made for it, the partition last: as long as anything is left, it is there to find
    /// the rest by.
    async fn take_down(&self, found: &Found, progress: Progress<'_>) -> Result<(), StepError> {
        let host = self.site.member(&found.host)?.host().await?;
        let belongings = compute::belongings(&host, &id(found)?, "").await?;
        remove_all(&host, belongings, progress).await
    }
}

/// Removes what was made for a partition, in the opposite order.
async fn remove_all(host: &Arc<Host>, made: Vec<StepSpec>, progress: Progress<'_>) -> Result<(), StepError> {
    let binder = Binder::new([Arc::clone(host)]);
    for mut spec in made.into_iter().rev() {
        progress(format!("removing {}", spec.title));
        // An image is the user's, or has a step of its own: no disk takes the one with it that it was made from.
        if let Some(image) = spec.desired.pointer_mut("/disk/image") {
            image.take();
        }
        let context = make::context(std::collections::BTreeMap::new());
        landfall_platform::Bind::bind(&binder, &spec)?.remove(&context, None).await?;
    }
    Ok(())
}

/// The id of a partition.
fn id(found: &Found) -> Result<PartitionId, Error> {
    let Found { host, partition, .. } = found;
    partition.id.parse().map_err(|_| Error::State {
        object: format!("partition {}", partition.name),
        host: host.clone(),
        state: format!("it has the id '{}'", partition.id),
    })
}

/// A machine in the words that all platforms share.
fn machine(found: &Found) -> Machine {
    let partition = &found.partition;
    let id = partition.id.to_lowercase();
    Machine {
        name: partition.name.clone(),
        provider_id: format!("powervm://{id}"),
        id,
        power: power_state(&partition.state),
        state: partition.state.clone(),
        addresses: found.address.into_iter().collect(),
    }
}

fn power_state(state: &str) -> PowerState {
    match state {
        "running" | "migrating running" => PowerState::On,
        "not activated" | "migrating not active" => PowerState::Off,
        "starting" | "open firmware" | "hardware discovery" | "resuming" => PowerState::Starting,
        "shutting down" | "suspending" => PowerState::Stopping,
        "suspended" => PowerState::Paused,
        _ => PowerState::Unknown,
    }
}
