//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{ErrorClass, Listing, Machine, MachineSpec, Power, PowerState, Progress, StepError};
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

    async fn get(&self, name: &str) -> Result<Option<Machine>, StepError> {
        Ok(self.site.device(name).await?.as_ref().map(machine))
    }

    async fn power(&self, name: &str, wish: Power) -> Result<(), StepError> {
        let missing = || Error::Missing { object: format!("machine {name}"), api: self.site.client.host() };
        let device = self.site.device(name).await?.ok_or_else(missing)?;
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
        Ok(self.site.wait(name, judge).await?)
    }

    async fn delete(&self, name: &str, progress: Progress<'_>) -> Result<(), StepError> {
        let all = self.site.devices().await?;
        let own: Vec<_> = all.iter().filter(|device| device.hostname == name).collect();
        for device in own.iter().filter(|device| device.state != DeviceState::Deprovisioning) {
            progress("deleting".to_owned());
            self.delete_one(device, progress).await?;
        }
        let ids: Vec<_> = own.iter().map(|device| device.id.as_str()).collect();
        Ok(self.site.wait_until_gone(&ids).await?)
    }
}

impl Machines {
    /// Deletes a device. The platform refuses that while it is being provisioned, so the end of that is waited for here: whoever
    /// only tried again with growing pauses would come minutes after it.
    async fn delete_one(&self, device: &client::Device, progress: Progress<'_>) -> Result<(), Error> {
        match self.site.client.delete_device(device).await {
            Err(error) if error.class() == ErrorClass::Locked => {
                progress("waiting until it is provisioned, since it cannot be deleted before".to_owned());
                let is_settled = |now: Option<&client::Device>| {
                    let busy = |state| matches!(state, DeviceState::Queued | DeviceState::Provisioning);
                    Ok(now.is_none_or(|now| now.id != device.id || !busy(now.state)).then_some(()))
                };
                self.site.wait(&device.hostname, is_settled).await?;
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
