//! Making a machine: created, fitted out, started.

use landfall_platform::{ErrorClass, Progress, StepError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Machines, Vm, object, spec::body};
use crate::{
    Error,
    client::{self, VmStatus},
};

const GIB: u64 = 1 << 30;

/// A machine that exists.
pub(crate) struct Begun {
    pub(crate) id: String,
    status: VmStatus,
}

impl Machines {
    /// Makes a machine exist and run. The user data is needed only if the machine does not exist yet.
    pub(crate) async fn make(
        &self,
        desired: &Vm,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<client::Vm, StepError> {
        let begun = self.begin(desired, None, user_data, progress).await?;
        self.finish(desired, &begun, progress).await
    }

    /// Makes a machine exist: the one with the id that was recorded, else the one with the name and the mark, else a new one.
    pub(crate) async fn begin(
        &self,
        desired: &Vm,
        recorded: Option<&str>,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<Begun, StepError> {
        if let Some(id) = recorded
            && let Some(vm) = self.site.client.vm(id).await?
        {
            return Ok(Begun { id: vm.id, status: vm.status });
        }
        if let Some(vm) = self.named(&desired.name).await? {
            return Ok(Begun { id: vm.id, status: vm.status });
        }
        progress("creating".to_owned());
        Ok(Begun { id: self.create(desired, user_data).await?, status: VmStatus::ImageLocked })
    }

    /// Fits out a machine that exists, starts it and waits until it runs.
    pub(crate) async fn finish(
        &self,
        desired: &Vm,
        begun: &Begun,
        progress: Progress<'_>,
    ) -> Result<client::Vm, StepError> {
        // A machine that has been started was fitted out before, because starting is the last thing that happens.
        if matches!(begun.status, VmStatus::Down | VmStatus::ImageLocked) {
            progress("copying disks".to_owned());
            let vm = self.settled(&begun.id, &desired.name).await?;
            progress("fitting out".to_owned());
            self.fit_out(desired, &vm).await?;
            progress("starting".to_owned());
            self.site.client.start_vm(&vm).await?;
        }
        Ok(self.running(&begun.id, &desired.name).await?)
    }

    /// The machine with a name and the mark. One with the name alone is an error.
    pub(crate) async fn named(&self, name: &str) -> Result<Option<client::Vm>, Error> {
        match self.site.fleet.called(name).await?.into_iter().next() {
            Some(vm) if !self.site.mark.is_on(&vm.description) => Err(self.site.foreign(object(name))),
            found => Ok(found),
        }
    }

    /// Creates the machine, unless an earlier attempt whose answer was lost has. Returns its id.
    async fn create(&self, desired: &Vm, user_data: Option<&SecretString>) -> Result<String, StepError> {
        let user_data = user_data.ok_or_else(|| {
            let reason = format!("there is no file {} to start {} with", desired.ignition, desired.name);
            StepError::new(ErrorClass::Bug, reason)
        })?;
        let template = self.site.client.usable_template(&desired.template).await?;
        let description = self.site.mark.description(&desired.role);
        let body = body(desired, &template, &description, user_data.expose_secret());
        match self.site.client.create_vm(&desired.name, &body, desired.clone).await {
            Err(error) if error.is_name_taken() => match self.named(&desired.name).await? {
                Some(vm) => Ok(vm.id),
                None => Err(error.into()),
            },
            made => Ok(made?),
        }
    }

    /// Everything that cannot be said when a machine is created. Each part looks before it acts, so it can be cut off and
    /// repeated anywhere.
    async fn fit_out(&self, desired: &Vm, vm: &client::Vm) -> Result<(), StepError> {
        let client = &self.site.client;
        if desired.kind == "high_performance" {
            for console in vm.graphics_consoles() {
                client.remove_console(vm, console).await?;
            }
        }
        if let Some(profile) = &desired.vnic_profile_id
            && !vm.nics().iter().any(|nic| nic.uses(profile))
        {
            match vm.nics().first() {
                Some(nic) => client.move_nic(vm, nic, profile).await?,
                None => client.add_nic(vm, "nic1", profile).await?,
            }
        }
        if !vm.has_tag(&desired.tag) {
            client.tag_vm(vm, &desired.tag).await?;
        }
        if !desired.affinity_groups.is_empty() {
            self.join_groups(desired, vm).await?;
        }
        if desired.pinned {
            let parameters = json!({ "optimize_cpu_settings": "true" });
            client.act_on_vm(vm, "autopincpuandnumanodes", &parameters).await?;
        }
        self.grow_disk(desired, vm).await
    }

    async fn join_groups(&self, desired: &Vm, vm: &client::Vm) -> Result<(), StepError> {
        let client = &self.site.client;
        let groups = client.affinity_groups(&desired.cluster_id).await?;
        for name in &desired.affinity_groups {
            let group = groups.iter().find(|group| group.name == *name).ok_or_else(|| Error::Missing {
                object: format!("affinity group {name}"),
                engine: client.engine().host(),
            })?;
            if !group.holds(&vm.id) {
                client.join_affinity_group(&desired.cluster_id, group, &vm.id).await?;
            }
        }
        Ok(())
    }

    async fn grow_disk(&self, desired: &Vm, vm: &client::Vm) -> Result<(), StepError> {
        let wanted = u64::from(desired.os_disk_gib) * GIB;
        let Some(disk) = vm.boot_disk().filter(|disk| disk.provisioned_size < wanted) else { return Ok(()) };
        self.site.client.grow_disk(disk, wanted).await?;
        let grown = |vm: Option<&client::Vm>| {
            let vm = vm.ok_or_else(|| self.site.stuck(object(&desired.name), "gone"))?;
            Ok(vm.boot_disk().filter(|disk| disk.status == "ok" && disk.provisioned_size >= wanted).map(drop))
        };
        Ok(self.site.fleet.wait(&vm.id, grown).await?)
    }
}
