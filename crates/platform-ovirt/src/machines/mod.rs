//! The machine verbs.

mod make;
mod spec;

use async_trait::async_trait;
use landfall_platform::{
    ErrorClass, Listing, Machine, MachineRef, MachineSpec, Power, PowerState, Progress, StepError,
};
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
        Ok(self.site.fleet.list().await?.iter().map(machine).collect::<Vec<Machine>>().into())
    }

    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Machine>, StepError> {
        Ok(self.ours(machine).await?.as_ref().map(self::machine))
    }

    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError> {
        let missing = || Error::Missing { object: object(machine.name), engine: self.site.client.engine().host() };
        let vm = self.ours(machine).await?.ok_or_else(missing)?;
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
                self.site.client.start_vm(&self.off_or_gone(&vm.id).await?.ok_or_else(missing)?).await?;
            }
        }
        match wish {
            Power::On | Power::Reset => self.running(&vm.id, machine.name).await.map(drop)?,
            Power::Off | Power::ShutDown => self.off_or_gone(&vm.id).await.map(drop)?,
        }
        Ok(())
    }

    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError> {
        let known = if machine.id.is_some() { self.ours(machine).await? } else { None };
        self.clear_away(machine.name, known, progress).await
    }
}

impl Machines {
    /// The cluster's machine: the one with the id as long as its mark or its name says that it is the cluster's, or, where no id
    /// is known, the one with the name and the mark.
    pub(crate) async fn ours(&self, machine: MachineRef<'_>) -> Result<Option<client::Vm>, Error> {
        let is_marked = |vm: &client::Vm| self.site.mark.is_on(&vm.description);
        let Some(id) = machine.id else {
            return Ok(self.site.fleet.called(machine.name).await?.into_iter().find(is_marked));
        };
        match self.site.client.vm(id).await? {
            Some(vm) if !is_marked(&vm) && vm.name != machine.name => {
                Err(self.site.foreign(format!("{} with the id {id} of {}", object(&vm.name), machine.name)))
            }
            found => Ok(found),
        }
    }

    /// Empties what the engine keeps of the user data of a machine: of the one with an id that the cluster's own journal has, whatever has
    /// become of its name and mark, or of the one with the name and the mark. A machine that is gone has none.
    pub(crate) async fn empty_user_data(&self, machine: MachineRef<'_>) -> Result<(), Error> {
        let found = match machine.id {
            Some(id) => self.site.client.vm(id).await?,
            None => self.ours(machine).await?,
        };
        match found {
            Some(vm) => self.site.client.empty_user_data(&vm).await,
            None => Ok(()),
        }
    }

    /// Removes the machine with an id that the cluster's own journal has, whatever has become of its name and mark, and all with
    /// the name and the mark.
    pub(crate) async fn erase(&self, name: &str, id: Option<&str>, progress: Progress<'_>) -> Result<(), StepError> {
        let recorded = match id {
            Some(id) => self.site.client.vm(id).await?,
            None => None,
        };
        self.clear_away(name, recorded, progress).await
    }

    /// Removes a machine that is known, all with a name and the mark, and their disks.
    async fn clear_away(&self, name: &str, known: Option<client::Vm>, progress: Progress<'_>) -> Result<(), StepError> {
        let named = self.site.fleet.called(name).await?;
        let marked = named.into_iter().filter(|vm| self.site.mark.is_on(&vm.description));
        let further = marked.filter(|vm| known.as_ref().is_none_or(|known| known.id != vm.id)).collect::<Vec<_>>();
        let mut disks = Vec::new();
        for vm in known.iter().chain(&further) {
            disks.extend(vm.own_disks().map(str::to_owned));
            match self.take_down(vm, progress).await {
                // Another deletion of the same machine came first.
                Err(error) if error.class() == ErrorClass::NotFound && self.site.client.vm(&vm.id).await?.is_none() => {
                }
                done => done?,
            }
        }
        Ok(self.clear_disks(name, &disks, progress).await?)
    }

    /// Stops a machine and deletes it: its own disks first, so that the engine is never asked to delete what is attached to it. A
    /// volume that is attached meanwhile would go with the machine.
    async fn take_down(&self, vm: &client::Vm, progress: Progress<'_>) -> Result<(), Error> {
        progress("stopping".to_owned());
        let Some(vm) = self.switched_off(vm).await? else { return Ok(()) };
        for disk in vm.foreign_disks() {
            progress(format!("keeping disk {}", disk.alias));
            self.site.client.detach_disk(&vm, disk).await?;
        }
        progress("deleting".to_owned());
        for disk in vm.own_disks() {
            self.site.client.delete_attached_disk(&vm, disk).await?;
        }
        let is_bare =
            |now: Option<&client::Vm>| Ok(now.is_none_or(|now| now.own_disks().next().is_none()).then_some(()));
        self.site.fleet.wait(&vm.id, is_bare).await?;
        self.site.client.delete_vm(&vm).await?;
        self.site.fleet.wait(&vm.id, |now| Ok(now.is_none().then_some(()))).await
    }

    /// Switches a machine off, and waits until it is off, or gone.
    async fn switched_off(&self, vm: &client::Vm) -> Result<Option<client::Vm>, Error> {
        let mut told = vm.clone();
        loop {
            self.stop(&told).await?;
            let judge = |now: Option<&client::Vm>| match now {
                None => Ok(Some(None)),
                Some(now) => Ok(has_news(told.status, now.status).then(|| Some(now.clone()))),
            };
            match self.site.fleet.wait(&vm.id, judge).await? {
                Some(now) if now.status != VmStatus::Down => told = now,
                off_or_gone => return Ok(off_or_gone),
            }
        }
    }

    /// Waits until the engine has removed the disks of a machine that is gone, and removes those that it left behind. Disks carry no
    /// mark: which are the machine's own was seen on it before, and one that only has such a name is left alone.
    async fn clear_disks(&self, machine: &str, own: &[String], progress: Progress<'_>) -> Result<(), Error> {
        loop {
            // A disk that is locked is being removed.
            let left = self.site.fleet.wait_for_loose_disks(machine, own, |disks| {
                let left = disks.iter().find(|disk| disk.status != "locked" && own.contains(&disk.id));
                let is_busy = disks.iter().any(|disk| disk.status == "locked");
                (left.is_some() || !is_busy).then(|| left.map(|disk| (*disk).clone()))
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

    /// Waits until the machine with an id exists and nothing is being done to its disks.
    pub(crate) async fn settled(&self, id: &str, name: &str) -> Result<client::Vm, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            Some(vm) if vm.status == VmStatus::ImageLocked => Ok(None),
            Some(vm) => Ok(Some(vm.clone())),
            None => Err(self.site.stuck(object(name), "gone")),
        };
        self.site.fleet.wait(id, judge).await
    }

    /// Waits until the machine with an id runs.
    async fn running(&self, id: &str, name: &str) -> Result<client::Vm, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            Some(vm) if vm.status == VmStatus::Up => Ok(Some(vm.clone())),
            Some(vm) if matches!(vm.status, VmStatus::Down | VmStatus::Paused | VmStatus::Suspended) => {
                Err(self.site.stuck(object(name), word(vm.status)))
            }
            Some(_) => Ok(None),
            None => Err(self.site.stuck(object(name), "gone")),
        };
        self.site.fleet.wait(id, judge).await
    }

    /// Waits until the machine with an id is off, or is not there any more.
    async fn off_or_gone(&self, id: &str) -> Result<Option<client::Vm>, Error> {
        let judge = |vm: Option<&client::Vm>| match vm {
            None => Ok(Some(None)),
            Some(vm) if vm.status == VmStatus::Down => Ok(Some(Some(vm.clone()))),
            Some(_) => Ok(None),
        };
        self.site.fleet.wait(id, judge).await
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
