//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{ErrorClass, Listing, Machine, MachineSpec, Power, PowerState, Progress, StepError};
use serde::Deserialize;
use serde_json::json;

pub use spec::{Size, Vm};

use crate::{
    Error,
    client::{self, VmStatus},
    site::Site,
};

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
        Ok(machine(&self.make(&desired, Some(&spec.user_data), progress).await?))
    }

    async fn list(&self) -> Result<Listing, StepError> {
        let vms = self.site.fleet.list().await?;
        let own = vms.iter().filter(|vm| self.site.mark.is_on(&vm.description));
        Ok(own.map(machine).collect::<Vec<Machine>>().into())
    }

    async fn get(&self, name: &str) -> Result<Option<Machine>, StepError> {
        Ok(self.ours(name).await?.as_ref().map(machine))
    }

    async fn power(&self, name: &str, wish: Power) -> Result<(), StepError> {
        let missing = || Error::Missing { object: object(name), engine: self.site.client.engine().host() };
        let vm = self.ours(name).await?.ok_or_else(missing)?;
        match wish {
            Power::On if matches!(vm.status, VmStatus::Down | VmStatus::Paused | VmStatus::Suspended) => {
                self.site.client.start_vm(&vm).await?;
            }
            Power::Off => self.stop(&vm).await?,
            Power::ShutDown if vm.status != VmStatus::Down => {
                self.site.client.act_on_vm(&vm, "shutdown", &json!({})).await?;
            }
            Power::On | Power::ShutDown => {}
            Power::Reset => {
                self.stop(&vm).await?;
                self.site.client.start_vm(&self.off_or_gone(name).await?.ok_or_else(missing)?).await?;
            }
        }
        match wish {
            Power::On | Power::Reset => self.running(name).await.map(drop)?,
            Power::Off | Power::ShutDown => self.off_or_gone(name).await.map(drop)?,
        }
        Ok(())
    }

    async fn delete(&self, name: &str, progress: Progress<'_>) -> Result<(), StepError> {
        match self.site.fleet.get(name).await? {
            Some(vm) if !self.site.mark.is_on(&vm.description) => return Ok(()),
            Some(vm) => self.take_down(&vm, progress).await?,
            None => {}
        }
        Ok(self.clear_disks(name, progress).await?)
    }
}

impl Machines {
    /// The machine with a name, if it carries the cluster's mark.
    pub(crate) async fn ours(&self, name: &str) -> Result<Option<client::Vm>, Error> {
        Ok(self.site.fleet.get(name).await?.filter(|vm| self.site.mark.is_on(&vm.description)))
    }

    /// Stops a machine and deletes it.
    async fn take_down(&self, vm: &client::Vm, progress: Progress<'_>) -> Result<(), Error> {
        progress("stopping".to_owned());
        let Some(vm) = self.switched_off(vm).await? else { return Ok(()) };
        for disk in vm.foreign_disks() {
            progress(format!("keeping disk {}", disk.alias));
            self.site.client.detach_disk(&vm, disk).await?;
        }
        progress("deleting".to_owned());
        self.site.client.delete_vm(&vm).await?;
        self.site.fleet.wait(&vm.name, |now| Ok(now.is_none_or(|now| now.id != vm.id).then_some(()))).await
    }

    /// Switches a machine off, and waits until it is off, or gone.
    async fn switched_off(&self, vm: &client::Vm) -> Result<Option<client::Vm>, Error> {
        let mut told = vm.clone();
        loop {
            self.stop(&told).await?;
            // Whoever else deletes it may have made another with its name meanwhile, which is not the one to go.
            let judge = |now: Option<&client::Vm>| match now.filter(|now| now.id == vm.id) {
                None => Ok(Some(None)),
                Some(now) => Ok(has_news(told.status, now.status).then(|| Some(now.clone()))),
            };
            match self.site.fleet.wait(&vm.name, judge).await? {
                Some(now) if now.status != VmStatus::Down => told = now,
                off_or_gone => return Ok(off_or_gone),
            }
        }
    }

    /// Waits until the engine has removed the disks of a machine that is gone, and removes those that it left behind.
    async fn clear_disks(&self, machine: &str, progress: Progress<'_>) -> Result<(), Error> {
        loop {
            // A disk that is locked is being removed.
            let left = self.site.fleet.wait_for_loose_disks(machine, |disks| {
                let left = disks.iter().find(|disk| disk.status != "locked").map(|&disk| disk.clone());
                (left.is_some() || disks.is_empty()).then_some(left)
            });
            let Some(disk) = left.await? else { return Ok(()) };
            progress(format!("deleting disk {}", disk.alias));
            self.site.client.delete_disk(&disk).await?;
        }
    }

    /// Switches a machine off at once, unless it is off or not yet made.
    async fn stop(&self, vm: &client::Vm) -> Result<(), Error> {
        if matches!(vm.status, VmStatus::Down | VmStatus::ImageLocked) {
            return Ok(());
        }
        self.site.client.act_on_vm(vm, "stop", &json!({ "force": "true" })).await
    }

    /// Waits until the machine exists and nothing is being done to its disks.
    pub(crate) async fn settled(&self, name: &str) -> Result<client::Vm, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            Some(vm) if vm.status == VmStatus::ImageLocked => Ok(None),
            Some(vm) => Ok(Some(vm.clone())),
            None => Err(self.site.stuck(object(name), "gone")),
        };
        self.site.fleet.wait(name, judge).await
    }

    /// Waits until the machine runs.
    async fn running(&self, name: &str) -> Result<client::Vm, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            Some(vm) if vm.status == VmStatus::Up => Ok(Some(vm.clone())),
            Some(vm) if matches!(vm.status, VmStatus::Down | VmStatus::Paused | VmStatus::Suspended) => {
                Err(self.site.stuck(object(name), word(vm.status)))
            }
            Some(_) => Ok(None),
            None => Err(self.site.stuck(object(name), "gone")),
        };
        self.site.fleet.wait(name, judge).await
    }

    /// Waits until the machine is off, or is not there any more.
    async fn off_or_gone(&self, name: &str) -> Result<Option<client::Vm>, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            None => Ok(Some(None)),
            Some(vm) if vm.status == VmStatus::Down => Ok(Some(Some(vm.clone()))),
            Some(_) => Ok(None),
        };
        self.site.fleet.wait(name, judge).await
    }
}

/// Whether there is something to do for whoever has told a machine to stop: it is off, or it can be told for the first time. While its
/// disks are being made nobody can stop it, and whoever makes it starts it right after that.
fn has_news(told: VmStatus, now: VmStatus) -> bool {
    now == VmStatus::Down || (told == VmStatus::ImageLocked && now != VmStatus::ImageLocked)
}

/// A machine in the words that all platforms share.
fn machine(vm: &client::Vm) -> Machine {
    Machine {
        name: vm.name.clone(),
        id: vm.id.clone(),
        provider_id: format!("ovirt://{}", vm.id),
        power: power_state(vm.status),
        state: word(vm.status),
        addresses: vm.addresses().collect(),
    }
}

fn power_state(status: VmStatus) -> PowerState {
    match status {
        VmStatus::ImageLocked => PowerState::Pending,
        VmStatus::Down | VmStatus::Suspended => PowerState::Off,
        VmStatus::WaitForLaunch | VmStatus::PoweringUp | VmStatus::RestoringState => PowerState::Starting,
        VmStatus::Up | VmStatus::Migrating | VmStatus::RebootInProgress => PowerState::On,
        VmStatus::PoweringDown | VmStatus::SavingState => PowerState::Stopping,
        VmStatus::Paused => PowerState::Paused,
        VmStatus::NotResponding | VmStatus::Unknown => PowerState::Unknown,
    }
}

/// The engine's own word for a state.
fn word(status: VmStatus) -> String {
    serde_json::to_value(status).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

fn object(name: &str) -> String {
    format!("machine {name}")
}
