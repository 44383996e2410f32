//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{ErrorClass, Listing, Machine, MachineSpec, Power, PowerState, Progress, StepError};
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
        let found = if let Some(found) = self.standing(&desired.name).await? {
            found
        } else {
            let id = self.create(&desired, &spec.user_data, progress).await?;
            self.active(&desired.name, id.as_deref(), progress).await?
        };
        Ok(self.machine(&found).await?)
    }

    async fn list(&self) -> Result<Listing, StepError> {
        let found = self.site.machines().await?;
        let mut machines = Vec::with_capacity(found.len());
        for one in found.iter() {
            machines.push(self.machine(one).await?);
        }
        Ok(machines.into())
    }

    async fn get(&self, name: &str) -> Result<Option<Machine>, StepError> {
        match self.site.machine(name).await? {
            Some(found) => Ok(Some(self.machine(&found).await?)),
            None => Ok(None),
        }
    }

    async fn power(&self, name: &str, wish: Power) -> Result<(), StepError> {
        let missing = || Error::missing(format!("machine {name}"));
        let found = self.site.machine(name).await?.ok_or_else(missing)?;
        let is_on = found.instance.status == InstanceStatus::Active;
        let is_off = found.instance.status == InstanceStatus::Shutoff;
        let action = match wish {
            Power::On => (!is_on).then_some("start"),
            Power::Off => (!is_off).then_some("immediate-shutdown"),
            Power::ShutDown => (!is_off).then_some("stop"),
            Power::Reset => Some(if is_off { "start" } else { "hard-reboot" }),
        };
        if let Some(action) = action {
            let workspace = self.site.workspace().await?;
            self.site.client.act_on_instance(&workspace, &found.instance, action).await?;
        }
        let on = matches!(wish, Power::On | Power::Reset);
        let wanted = if on { InstanceStatus::Active } else { InstanceStatus::Shutoff };
        let judge = |found: Option<&Found>| match found {
            Some(found) if found.instance.status == wanted => Ok(Some(())),
            Some(_) => Ok(None),
            None => Err(missing()),
        };
        Ok(self.site.wait(name, judge).await?)
    }

    async fn delete(&self, name: &str, progress: Progress<'_>) -> Result<(), StepError> {
        let found = self.site.machines().await?;
        let own: Vec<&Found> = found.iter().filter(|found| found.instance.server_name == name).collect();
        if own.is_empty() {
            return Ok(());
        }
        let workspace = self.site.workspace().await?;
        for one in &own {
            progress("deleting".to_owned());
            self.site.client.delete_instance(&workspace, &one.instance.id, name).await?;
        }
        let ids: Vec<_> = own.iter().map(|found| found.instance.id.as_str()).collect();
        Ok(self.site.wait_until_gone(&ids).await?)
    }
}

impl Machines {
    /// A machine in the words that all platforms share.
    async fn machine(&self, found: &Found) -> Result<Machine, Error> {
        let Found { instance, addresses } = found;
        let (client, workspace) = (&self.site.client, self.site.workspace().await?);
        let (region, zone) = (&client.place().region, client.zone());
        Ok(Machine {
            name: instance.server_name.clone(),
            id: instance.id.clone(),
            provider_id: format!("ibmpowervs://{region}/{zone}/{}/{}", workspace.guid, instance.id),
            power: power_state(instance.status),
            state: match instance.status {
                InstanceStatus::Error => format!("error: {}", instance.reason()),
                status => word(status),
            },
            addresses: addresses.clone(),
        })
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
