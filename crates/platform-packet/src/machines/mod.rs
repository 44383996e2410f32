//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{
    ErrorClass, Listing, Machine, MachineRef, MachineSpec, Power, PowerState, Progress, StepError,
};
use serde::Deserialize;

pub use spec::{Candidate, Device, Price};

use crate::{
    Error, Site,
    client::{self, DeviceState},
};

/// The machines of a cluster.
#[derive(Clone)]
pub struct Machines {
    pub(crate) site: Site,
    /// Where machines that boot from the network find their script.
    pub(crate) script_url: Option<String>,
}

#[async_trait]
impl landfall_platform::Machines for Machines {
    async fn ensure(&self, spec: &MachineSpec, progress: Progress<'_>) -> Result<Machine, StepError> {
        let desired =
            Device::deserialize(&spec.platform).map_err(|error| StepError::new(ErrorClass::Invalid, error))?;
        let desired = Device { name: spec.name.clone(), ..desired };
        Ok(machine(&self.make(&desired, Some(&spec.user_data), progress).await?))
    }

    async fn list(&self) -> Result<Listing, StepError> {
        Ok(self.site.devices().await?.iter().map(machine).collect::<Vec<Machine>>().into())
    }

    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError> {
        Ok(self.site.device(machine).await?.as_ref().map(self::machine))
    }

    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError> {
        let missing = || Error::Missing { object: format!("machine {}", machine.name), api: self.site.client.host() };
        let device = self.site.device(machine).await?.ok_or_else(missing)?;
        let is_on = device.state == DeviceState::Active;
        let action = match wish {
            Power::On => (!is_on).then_some("power_on"),
            // There is no button to press, only a plug to pull.
            Power::Off | Power::ShutDown => is_on.then_some("power_off"),
            Power::Reset => Some(if is_on { "reboot" } else { "power_on" }),
        };
        if let Some(action) = action {
            self.site.client.act_on_device(&device, action).await?;
        }
        let wanted = if matches!(wish, Power::On | Power::Reset) { DeviceState::Active } else { DeviceState::Inactive };
        let judge = |device: Option<&client::Device>| match device {
            Some(device) if device.state == wanted => Ok(Some(())),
            Some(_) => Ok(None),
            None => Err(missing()),
        };
        Ok(self.site.wait(&device.id, judge).await?)
    }

    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError> {
        let known = if machine.id.is_some() { self.site.device(machine).await? } else { None };
        Ok(self.clear_away(machine.name, known, progress).await?)
    }
}

impl Machines {
    /// Removes the device with an id that the cluster's own journal has, whatever has become of its name and tags, and all with the
    /// name and the mark.
    pub(crate) async fn erase(&self, name: &str, id: Option<&str>, progress: Progress<'_>) -> Result<(), Error> {
        let recorded = match id {
            Some(id) => self.site.known(id).await?,
            None => None,
        };
        self.clear_away(name, recorded, progress).await
    }

    /// Removes a device that is known, and all with a name and the mark.
    async fn clear_away(&self, name: &str, known: Option<client::Device>, progress: Progress<'_>) -> Result<(), Error> {
        let all = self.site.devices().await?;
        let is_further = |device: &&client::Device| {
            device.hostname == name && known.as_ref().is_none_or(|known| known.id != device.id)
        };
        let own: Vec<&client::Device> = known.iter().chain(all.iter().filter(is_further)).collect();
        for device in own.iter().filter(|device| device.state != DeviceState::Deprovisioning) {
            progress("deleting".to_owned());
            self.delete_one(device, progress).await?;
        }
        for device in own {
            self.site.wait(&device.id, |now| Ok(now.is_none().then_some(()))).await?;
        }
        Ok(())
    }

    /// Deletes a device. The platform refuses that while it is being provisioned, so the end of that is waited for here: whoever
    /// only tried again with growing pauses would come minutes after it.
    async fn delete_one(&self, device: &client::Device, progress: Progress<'_>) -> Result<(), Error> {
        match self.site.client.delete_device(device).await {
            Err(error) if error.class() == ErrorClass::Locked => {
                progress("waiting until it is provisioned, since it cannot be deleted before".to_owned());
                let is_settled = |now: Option<&client::Device>| {
                    let busy = |state| matches!(state, DeviceState::Queued | DeviceState::Provisioning);
                    Ok(now.is_none_or(|now| !busy(now.state)).then_some(()))
                };
                self.site.wait(&device.id, is_settled).await?;
                self.site.client.delete_device(device).await
            }
            done => done,
        }
    }
}

/// A machine in the words that all platforms share.
fn machine(device: &client::Device) -> Machine {
    Machine {
        name: device.hostname.clone(),
        id: device.id.clone(),
        provider_id: format!("equinixmetal://{}", device.id),
        power: power_state(device.state),
        state: match &device.termination_time {
            Some(time) => format!("{} (to be taken away at {time})", word(device.state)),
            None => word(device.state),
        },
        addresses: device.addresses(),
    }
}

fn power_state(state: DeviceState) -> PowerState {
    match state {
        DeviceState::Queued | DeviceState::Provisioning | DeviceState::Reinstalling | DeviceState::Deprovisioning => {
            PowerState::Pending
        }
        DeviceState::Active => PowerState::On,
        DeviceState::Inactive => PowerState::Off,
        DeviceState::PoweringOn => PowerState::Starting,
        DeviceState::PoweringOff => PowerState::Stopping,
        DeviceState::Deleted | DeviceState::Failed | DeviceState::Unknown => PowerState::Unknown,
    }
}

pub(crate) fn word(state: DeviceState) -> String {
    let debug = format!("{state:?}");
    let mut word = String::new();
    for (index, letter) in debug.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            word.push(' ');
        }
        word.extend(letter.to_lowercase());
    }
    word
}
