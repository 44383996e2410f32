//! A virtual machine: created, fitted out, started.

use async_trait::async_trait;
use landfall_platform::{Context, ErrorClass, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Engine;
use crate::{
    Error,
    client::{self, VmStatus},
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A virtual machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// Its name in the engine, which is its host name too.
    pub name: String,
    /// What it is for: `bootstrap`, `master`, or the name of a compute pool.
    pub role: String,
    /// Id of the cluster of hosts.
    pub cluster_id: String,
    /// Name of the template.
    pub template: String,
    /// Id of the storage domain of its disks.
    pub storage_domain_id: String,
    /// Id of the vNIC profile of its network interface; none keeps the template's interfaces.
    pub vnic_profile_id: Option<String>,
    /// Processors and memory.
    pub size: Size,
    /// Size of the disk that it boots from.
    pub os_disk_gib: u32,
    /// `desktop`, `server` or `high_performance`.
    pub kind: String,
    /// Whether its disks are independent of the template.
    pub clone: bool,
    /// Whether its disks take up only what is written; none keeps the template's choice.
    pub sparse: Option<bool>,
    /// `raw` or `cow`; none keeps the template's choice.
    pub format: Option<String>,
    /// Size of huge pages in KiB.
    pub hugepages: Option<u32>,
    /// Whether its processors are pinned to the host's.
    pub pinned: bool,
    /// Whether the engine restarts it when its host fails.
    pub high_availability: bool,
    /// Names of its affinity groups in the engine.
    pub affinity_groups: Vec<String>,
    /// Name of the tag that it carries.
    pub tag: String,
    /// Name of the file with its Ignition config. The config itself holds secrets and stays out of plans and journals.
    pub ignition: String,
}

/// Processors and memory: the engine takes one or the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Those of an instance type.
    InstanceType(String),
    /// Given in numbers.
    Custom {
        /// Sockets.
        sockets: u32,
        /// Cores per socket.
        cores: u32,
        /// Threads per core.
        threads: u32,
        /// Memory.
        memory_mib: u32,
        /// Memory that the host must have free.
        guaranteed_memory_mib: u32,
    },
}

pub(super) struct VmStep {
    pub(super) engine: Engine,
    pub(super) desired: Vm,
}

#[async_trait]
impl Step for VmStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let Self { engine, desired } = self;
        let vm = match engine.fleet.get(&desired.name).await? {
            Some(vm) if !engine.mark.is_on(&vm.description) => {
                return Err(engine.foreign(format!("machine {}", desired.name)).into());
            }
            Some(vm) => vm,
            None => {
                context.report("creating");
                self.create().await?;
                self.settled().await?
            }
        };
        // A machine that has been started was fitted out before, because starting is the last thing that happens.
        if matches!(vm.status, VmStatus::Down | VmStatus::ImageLocked) {
            context.report("copying disks");
            let vm = self.settled().await?;
            context.report("fitting out");
            self.fit_out(&vm).await?;
            context.report("starting");
            self.start(&vm).await?;
        }
        let vm = self.running().await?;
        Ok(Outputs::default().with("id", vm.id))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let Self { engine, desired } = self;
        let ours = |vm: Option<client::Vm>| vm.filter(|vm| engine.mark.is_on(&vm.description));
        let Some(vm) = ours(engine.fleet.get(&desired.name).await?) else { return Ok(()) };
        if !matches!(vm.status, VmStatus::Down | VmStatus::ImageLocked) {
            context.report("stopping");
            engine.client.act_on_vm(&vm, "stop", &json!({ "force": "true" })).await?;
        }
        let Some(vm) = self.down_or_gone().await? else { return Ok(()) };
        // Whatever else hangs on the machine, such as a volume of a workload, is not the cluster's to delete.
        for disk in vm.other_disks() {
            context.report(format!("keeping disk {}", disk.alias));
            engine.client.detach_disk(&vm, disk).await?;
        }
        context.report("deleting");
        engine.client.delete_vm(&vm).await?;
        self.gone().await?;
        Ok(())
    }
}

impl VmStep {
    /// Creates the machine, unless an earlier attempt whose answer was lost has.
    async fn create(&self) -> Result<(), StepError> {
        let Self { engine, desired } = self;
        let ignition = engine.ignition.get(&desired.ignition).ok_or_else(|| {
            StepError::new(ErrorClass::Bug, format!("there is no file {} to start {} with", desired.ignition, desired.name))
        })?;
        let template = engine.client.usable_template(&desired.template).await?;
        let script = String::from_utf8_lossy(&ignition.contents);
        let body = body(desired, &template, &engine.mark.description(&desired.role), &script);
        match engine.client.create_vm(&desired.name, &body, desired.clone).await {
            Err(error) if !error.is_name_taken() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Everything that cannot be said when a machine is created. Each part looks before it acts, so it can be cut off and
    /// repeated anywhere.
    async fn fit_out(&self, vm: &client::Vm) -> Result<(), StepError> {
        let Self { engine, desired } = self;
        if desired.kind == "high_performance" {
            for console in vm.graphics_consoles() {
                engine.client.remove_console(vm, console).await?;
            }
        }
        if let Some(profile) = &desired.vnic_profile_id
            && !vm.nics().iter().any(|nic| nic.uses(profile))
        {
            match vm.nics().first() {
                Some(nic) => engine.client.move_nic(vm, nic, profile).await?,
                None => engine.client.add_nic(vm, "nic1", profile).await?,
            }
        }
        if !vm.has_tag(&desired.tag) {
            engine.client.tag_vm(vm, &desired.tag).await?;
        }
        if !desired.affinity_groups.is_empty() {
            self.join_groups(vm).await?;
        }
        if desired.pinned {
            let parameters = json!({ "optimize_cpu_settings": "true" });
            engine.client.act_on_vm(vm, "autopincpuandnumanodes", &parameters).await?;
        }
        self.grow_disk(vm).await
    }

    async fn join_groups(&self, vm: &client::Vm) -> Result<(), StepError> {
        let Self { engine, desired } = self;
        let groups = engine.client.affinity_groups(&desired.cluster_id).await?;
        for name in &desired.affinity_groups {
            let group = groups.iter().find(|group| group.name == *name).ok_or_else(|| Error::Missing {
                object: format!("affinity group {name}"),
                engine: engine.client.engine().host(),
            })?;
            if !group.holds(&vm.id) {
                engine.client.join_affinity_group(&desired.cluster_id, group, &vm.id).await?;
            }
        }
        Ok(())
    }

    async fn grow_disk(&self, vm: &client::Vm) -> Result<(), StepError> {
        let Self { engine, desired } = self;
        let wanted = u64::from(desired.os_disk_gib) * GIB;
        let Some(disk) = vm.boot_disk().filter(|disk| disk.provisioned_size < wanted) else { return Ok(()) };
        engine.client.grow_disk(disk, wanted).await?;
        engine
            .fleet
            .wait(&desired.name, |vm| {
                let disk = vm.and_then(client::Vm::boot_disk);
                Ok(disk.filter(|disk| disk.status == "ok" && disk.provisioned_size >= wanted).map(drop))
            })
            .await?;
        Ok(())
    }

    async fn start(&self, vm: &client::Vm) -> Result<(), StepError> {
        Ok(self.engine.client.act_on_vm(vm, "start", &json!({ "use_ignition": "true" })).await?)
    }

    /// Waits until the machine exists and nothing is being done to its disks.
    async fn settled(&self) -> Result<client::Vm, Error> {
        self.wait(|vm| Ok(vm.filter(|vm| vm.status != VmStatus::ImageLocked).cloned())).await
    }

    /// Waits until the machine runs.
    async fn running(&self) -> Result<client::Vm, Error> {
        self.wait(|vm| match vm {
            Some(vm) if vm.status == VmStatus::Up => Ok(Some(vm.clone())),
            Some(vm) if matches!(vm.status, VmStatus::Down | VmStatus::Paused | VmStatus::Suspended) => {
                Err(self.stuck(&format!("{:?} instead of running", vm.status).to_lowercase()))
            }
            Some(_) => Ok(None),
            None => Err(self.stuck("gone")),
        })
        .await
    }

    /// Waits until the machine is down, or is not there any more.
    async fn down_or_gone(&self) -> Result<Option<client::Vm>, Error> {
        self.wait(|vm| match vm {
            None => Ok(Some(None)),
            Some(vm) if vm.status == VmStatus::Down => Ok(Some(Some(vm.clone()))),
            Some(_) => Ok(None),
        })
        .await
    }

    async fn gone(&self) -> Result<(), Error> {
        self.wait(|vm| Ok(vm.is_none().then_some(()))).await
    }

    async fn wait<T>(&self, judge: impl FnMut(Option<&client::Vm>) -> Result<Option<T>, Error>) -> Result<T, Error> {
        self.engine.fleet.wait(&self.desired.name, judge).await
    }

    fn stuck(&self, state: &str) -> Error {
        Error::State {
            object: format!("machine {}", self.desired.name),
            engine: self.engine.client.engine().host(),
            state: state.to_owned(),
        }
    }
}

/// The request that creates a machine. Pure, so that it can be pinned.
fn body(desired: &Vm, template: &client::UsableTemplate, description: &str, ignition: &str) -> Value {
    let mut body = json!({
        "name": desired.name,
        "description": description,
        "cluster": { "id": desired.cluster_id },
        "template": { "id": template.id },
        "type": desired.kind,
        // Any other type makes the engine hand over the Ignition config as cloud-init, which breaks it.
        "os": { "type": "rhcos_x64" },
        "initialization": { "host_name": desired.name, "custom_script": ignition },
        "high_availability": { "enabled": desired.high_availability.to_string() },
    });
    match &desired.size {
        Size::InstanceType(id) => body["instance_type"] = json!({ "id": id }),
        Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } => {
            let bytes = |mib: &u32| (u64::from(*mib) * MIB).to_string();
            body["cpu"] = json!({ "topology": {
                "sockets": sockets.to_string(), "cores": cores.to_string(), "threads": threads.to_string(),
            }});
            body["memory"] = bytes(memory_mib).into();
            body["memory_policy"] = json!({ "guaranteed": bytes(guaranteed_memory_mib), "max": bytes(memory_mib) });
        }
    }
    if desired.clone {
        let disks: Vec<_> = template
            .disk_ids
            .iter()
            .map(|id| {
                let mut disk = json!({ "id": id, "storage_domains": { "storage_domain": [{ "id": desired.storage_domain_id }] } });
                if let Some(sparse) = desired.sparse {
                    disk["sparse"] = sparse.to_string().into();
                }
                if let Some(format) = &desired.format {
                    disk["format"] = format.as_str().into();
                }
                json!({ "disk": disk })
            })
            .collect();
        body["disk_attachments"] = json!({ "disk_attachment": disks });
    }
    if desired.kind == "high_performance" {
        // What the engine's own dialogue sets for this type.
        body["cpu"]["mode"] = "host_passthrough".into();
        body["memory_policy"]["ballooning"] = "false".into();
        body["soundcard_enabled"] = "false".into();
        body["console"] = json!({ "enabled": "true" });
        body["placement_policy"] = json!({ "affinity": "user_migratable" });
    }
    if let Some(kib) = desired.hugepages {
        body["custom_properties"] =
            json!({ "custom_property": [{ "name": "hugepages", "value": kib.to_string() }] });
    }
    body
}
