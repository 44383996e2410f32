//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{
    ErrorClass, Listing, Machine, MachineRef, MachineSpec, Power, PowerState, Progress, StepError,
};
use serde::Deserialize;

pub use spec::{Named, Vm};

use crate::{Error, Site, client::InstanceStatus, site::Found};

/// The machines of a cluster.
#[derive(Clone)]
pub struct Machines {
    pub(crate) site: Site,
}

#[async_trait]
impl landfall_platform::Machines for Machines {
    async fn ensure(&self, spec: &MachineSpec, progress: Progress<'_>) -> Result<Machine, StepError> {
        let desired = Vm::deserialize(&spec.platform).map_err(|error| StepError::new(ErrorClass::Invalid, error))?;
        let desired = Vm { name: spec.name.clone(), ..desired };
        let found = if let Some(found) = self.standing(desired.name.as_str().into()).await? {
            found
        } else {
            let id = self.create(&desired, &spec.user_data, progress).await?;
            self.active(&desired.name, id.as_deref(), progress).await?
        };
        Ok(self.machine(&found))
    }

    async fn list(&self) -> Result<Listing, StepError> {
        let found = self.site.machines().await?;
        Ok(found.iter().map(|one| self.machine(one)).collect::<Vec<Machine>>().into())
    }

    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError> {
        Ok(self.site.machine(machine).await?.map(|found| self.machine(&found)))
    }

    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError> {
        let missing = || Error::missing(format!("machine {}", machine.name));
        let found = self.site.machine(machine).await?.ok_or_else(missing)?;
        let id = found.instance.id.clone();
        let is_on = found.instance.status == InstanceStatus::Active;
        let is_off = found.instance.status == InstanceStatus::Shutoff;
        let action = match wish {
            Power::On => (!is_on).then_some("start"),
            Power::Off => (!is_off).then_some("immediate-shutdown"),
            Power::ShutDown => (!is_off).then_some("stop"),
            Power::Reset => Some(if is_off { "start" } else { "hard-reboot" }),
        };
        if let Some(action) = action {
            self.site.client.act_on_instance(&found.workspace, &found.instance, action).await?;
        }
        let on = matches!(wish, Power::On | Power::Reset);
        let wanted = if on { InstanceStatus::Active } else { InstanceStatus::Shutoff };
        let is_there = |found: Option<&Found>| match found {
            Some(found) if found.instance.status == wanted => Ok(Some(())),
            Some(_) => Ok(None),
            None => Err(missing()),
        };
        let listed = |found: Option<&Found>| match found {
            Some(found) => Ok(is_there(Some(found))?.map(|()| true)),
            None => Ok(Some(false)),
        };
        if self.site.wait(MachineRef { name: machine.name, id: Some(&id) }, listed).await? {
            return Ok(());
        }
        // It lost its name or its tag, or is gone.
        Ok(self.site.until(|| async { is_there(self.site.instance(&id).await?.as_ref()) }).await?)
    }

    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError> {
        let known = if machine.id.is_some() { self.site.machine(machine).await? } else { None };
        Ok(self.clear_away(machine.name, known, progress).await?)
    }
}

impl Machines {
    /// Removes the machine with an id that the cluster's own journal has, whatever has become of its name and tag, and all with the
    /// name that are the cluster's.
    pub(crate) async fn erase(&self, name: &str, id: Option<&str>, progress: Progress<'_>) -> Result<(), Error> {
        let recorded = match id {
            Some(id) => self.site.instance(id).await?,
            None => None,
        };
        self.clear_away(name, recorded, progress).await
    }

    /// Removes a machine that is known, and all with a name that are the cluster's.
    async fn clear_away(&self, name: &str, known: Option<Found>, progress: Progress<'_>) -> Result<(), Error> {
        let all = self.site.machines().await?;
        let is_further = |found: &&Found| {
            found.instance.server_name == name
                && known.as_ref().is_none_or(|known| known.instance.id != found.instance.id)
        };
        let own: Vec<&Found> = known.iter().chain(all.iter().filter(is_further)).collect();
        for Found { workspace, instance, .. } in &own {
            if instance.status != InstanceStatus::Deleting && instance.task_state != "deleting" {
                progress("deleting".to_owned());
                self.site.client.delete_instance(workspace, &instance.id, &instance.server_name).await?;
            }
        }
        for Found { instance, .. } in &own {
            self.site.wait_until_gone(&instance.id).await?;
        }
        Ok(())
    }

    /// A machine in the words that all platforms share.
    fn machine(&self, found: &Found) -> Machine {
        let Found { workspace, instance, addresses } = found;
        let client = &self.site.client;
        let (region, zone) = (&client.place().region, client.zone());
        Machine {
            name: instance.server_name.clone(),
            id: instance.id.clone(),
            provider_id: format!("ibmpowervs://{region}/{zone}/{}/{}", workspace.guid, instance.id),
            power: power_state(instance.status),
            state: match instance.status {
                InstanceStatus::Error => format!("error: {}", instance.reason()),
                status => word(status),
            },
            addresses: addresses.clone(),
        }
    }
}

fn power_state(status: InstanceStatus) -> PowerState {
    match status {
        InstanceStatus::Build | InstanceStatus::Deleting => PowerState::Pending,
        InstanceStatus::Active | InstanceStatus::Resize | InstanceStatus::VerifyResize => PowerState::On,
        InstanceStatus::Shutoff => PowerState::Off,
        InstanceStatus::Reboot | InstanceStatus::HardReboot => PowerState::Starting,
        InstanceStatus::Error | InstanceStatus::Unknown => PowerState::Unknown,
    }
}

/// A state in small letters.
pub(crate) fn word(status: InstanceStatus) -> String {
    match status {
        InstanceStatus::HardReboot => "hard reboot".to_owned(),
        InstanceStatus::VerifyResize => "verify resize".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}
