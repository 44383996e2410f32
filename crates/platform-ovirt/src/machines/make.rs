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

impl Machines {
    /// Makes a machine exist and run. The user data is needed only if the machine does not exist yet.
    pub(crate) async fn make(
        &self,
        desired: &Vm,
        user_data: Option<&SecretString>,
        progress: Progress<'_>,
    ) -> Result<client::Vm, StepError> {
        let found = self.site.fleet.get(&desired.name).await?;
        let status = match found {
            Some(vm) if !self.site.mark.is_on(&vm.description) => {
                return Err(self.site.foreign(object(&desired.name)).into());
            }
            Some(vm) => vm.status,
            None => {
                progress("creating".to_owned());
                self.create(desired, user_data).await?;
                VmStatus::ImageLocked
            }
        };
        // A machine that has been started was fitted out before, because starting is the last thing that happens.
        if matches!(status, VmStatus::Down | VmStatus::ImageLocked) {
            progress("copying disks".to_owned());
            let vm = self.settled(&desired.name).await?;
            progress("fitting out".to_owned());
            self.fit_out(desired, &vm).await?;
            progress("starting".to_owned());
            self.site.client.start_vm(&vm).await?;
        }
        Ok(self.running(&desired.name).await?)
    }

    /// Creates the machine, unless an earlier attempt whose answer was lost has.
    async fn create(&self, desired: &Vm, user_data: Option<&SecretString>) -> Result<(), StepError> {
        let user_data = user_data.ok_or_else(|| {
            let reason = format!("there is no file {} to start {} with", desired.ignition, desired.name);
            StepError::new(ErrorClass::Bug, reason)
        })?;
        let template = self.site.client.usable_template(&desired.template).await?;
        let description = self.site.mark.description(&desired.role);
        let body = body(desired, &template, &description, user_data.expose_secret());
        match self.site.client.create_vm(&desired.name, &body, desired.clone).await {
            Err(error) if !error.is_name_taken() => Err(error.into()),
            // Whose it is shows at the next look.
            Err(error) if self.site.fleet.get(&desired.name).await?.is_none() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Everything that cannot be said when a machine is created. Each part looks before it acts, so it can be cut off and
    /// repeated anywhere.
    async fn fit_out(&self, desired: &Vm, vm: &client::Vm) -> Result<(), StepError> {
        let client = &self.site.client;
        if !self.site.mark.is_on(&vm.description) {
            return Err(self.site.foreign(object(&desired.name)).into());
        }
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
        Ok(self.site.fleet.wait(&desired.name, grown).await?)
    }
}
