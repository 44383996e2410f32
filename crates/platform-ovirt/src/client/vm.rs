//! Virtual machines.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Disk, Reference, search};
use crate::{Client, Error, mark::Mark};

/// A virtual machine, with what hangs on it.
#[derive(Clone, Debug, Deserialize)]
pub struct Vm {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// Its state.
    #[serde(default)]
    pub status: VmStatus,
    /// Its memory in bytes.
    #[serde(default, deserialize_with = "super::number::required")]
    pub memory: u64,
    #[serde(default)]
    os: Os,
    #[serde(default)]
    cpu: Cpu,
    #[serde(default)]
    initialization: Initialization,
    #[serde(default)]
    disk_attachments: DiskAttachments,
    #[serde(default)]
    nics: Nics,
    #[serde(default)]
    tags: Tags,
    #[serde(default)]
    graphics_consoles: Consoles,
    #[serde(default)]
    reported_devices: ReportedDevices,
}

/// The state of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VmStatus {
    /// It is being made, copied or removed.
    ImageLocked,
    /// It is switched off.
    Down,
    /// A host is being chosen.
    WaitForLaunch,
    /// It is starting.
    PoweringUp,
    /// It runs.
    Up,
    /// It is stopping.
    PoweringDown,
    /// It is restarting.
    RebootInProgress,
    /// It moves to another host.
    Migrating,
    /// It has stopped because of an error or by hand, and holds its host.
    Paused,
    /// Its state is being written to disk.
    SavingState,
    /// Its state is on disk.
    Suspended,
    /// It comes back from disk.
    RestoringState,
    /// It runs, and does not answer its host.
    NotResponding,
    /// The engine does not know, or says something that this client does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Os {
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Cpu {
    #[serde(default)]
    topology: Topology,
}

/// Processors of a machine; their number is the product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Topology {
    /// Sockets.
    #[serde(default, deserialize_with = "super::number::required")]
    pub sockets: u64,
    /// Cores per socket.
    #[serde(default, deserialize_with = "super::number::required")]
    pub cores: u64,
    /// Threads per core.
    #[serde(default, deserialize_with = "super::number::required")]
    pub threads: u64,
}

#[derive(Clone, Default, Deserialize)]
struct Initialization {
    custom_script: Option<String>,
    host_name: Option<String>,
}

/// Ignition configs hold secrets.
impl std::fmt::Debug for Initialization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Initialization({} bytes)", self.custom_script.as_ref().map_or(0, String::len))
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Mac {
    #[serde(default)]
    address: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct DiskAttachments {
    #[serde(default)]
    disk_attachment: Vec<DiskAttachment>,
}

/// How a disk hangs on a machine.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DiskAttachment {
    /// Whether the machine boots from it.
    #[serde(default, deserialize_with = "super::number::boolean")]
    pub bootable: bool,
    /// The disk.
    pub disk: Disk,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Nics {
    #[serde(default)]
    nic: Vec<Nic>,
}

/// A network interface.
#[derive(Clone, Debug, Deserialize)]
pub struct Nic {
    /// Its id.
    pub id: String,
    /// Its name in the engine.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    mac: Mac,
    vnic_profile: Option<Reference>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Tags {
    #[serde(default)]
    tag: Vec<TagName>,
}

#[derive(Clone, Debug, Deserialize)]
struct TagName {
    #[serde(default)]
    name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Consoles {
    #[serde(default)]
    graphics_console: Vec<Reference>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ReportedDevices {
    #[serde(default)]
    reported_device: Vec<ReportedDevice>,
}

#[derive(Clone, Debug, Deserialize)]
struct ReportedDevice {
    #[serde(default)]
    ips: Ips,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Ips {
    #[serde(default)]
    ip: Vec<Ip>,
}

#[derive(Clone, Debug, Deserialize)]
struct Ip {
    #[serde(default)]
    address: String,
}

#[derive(Deserialize)]
struct Vms {
    #[serde(default)]
    vm: Vec<Vm>,
}

/// How many machines an answer has at most. Each is some 8 KiB with all that hangs on it.
const PAGE: usize = 1000;
/// Web servers take about 8 KiB of address; an id with what is around it is some 50 bytes of that.
const IDS_AT_ONCE: usize = 100;
/// What of a machine is read together with it, so that a whole fleet is one call.
const FOLLOW: &str = "disk_attachments.disk,nics,tags,graphics_consoles,reported_devices";

impl Vm {
    /// The disk that it boots from.
    pub fn boot_disk(&self) -> Option<&Disk> {
        self.disk_attachments.disk_attachment.iter().find(|attachment| attachment.bootable).map(|found| &found.disk)
    }

    /// Disks that it was not made with, and that are not deleted with it: volumes of workloads, or whatever people attached.
    /// Its own are the one that it boots from, and those that are named after it.
    pub fn foreign_disks(&self) -> impl Iterator<Item = &Disk> {
        self.disk_attachments
            .disk_attachment
            .iter()
            .filter(|attachment| !self.is_own(attachment))
            .map(|attachment| &attachment.disk)
    }

    /// Ids of the disks that it was made with.
    pub fn own_disks(&self) -> impl Iterator<Item = &str> {
        let own = self.disk_attachments.disk_attachment.iter().filter(|attachment| self.is_own(attachment));
        own.map(|attachment| attachment.disk.id.as_str())
    }

    /// A machine that was renamed has disks that are named after it as it was, as the disk is that it boots from.
    fn is_own(&self, attachment: &DiskAttachment) -> bool {
        let machine = attachment.disk.machine();
        let was_called = self.boot_disk().and_then(Disk::machine);
        attachment.bootable || machine.is_some() && (machine == Some(&self.name) || machine == was_called)
    }

    /// Its operating system type, as the engine spells it.
    pub fn os(&self) -> &str {
        &self.os.kind
    }

    /// Its processors.
    pub fn topology(&self) -> Topology {
        self.cpu.topology
    }

    /// The Ignition config that it was given, if [all content](Client::vms_in_full) was asked for.
    pub fn ignition(&self) -> Option<&str> {
        self.initialization.custom_script.as_deref().filter(|script| !script.is_empty())
    }

    /// Its network interfaces.
    pub fn nics(&self) -> &[Nic] {
        &self.nics.nic
    }

    /// Whether it carries a tag.
    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.tag.iter().any(|tag| tag.name == name)
    }

    /// Ids of its graphics consoles.
    pub fn graphics_consoles(&self) -> impl Iterator<Item = &str> {
        self.graphics_consoles.graphics_console.iter().map(|console| console.id.as_str())
    }

    /// Addresses that the guest reports.
    pub fn addresses(&self) -> impl Iterator<Item = std::net::IpAddr> + '_ {
        self.reported_devices
            .reported_device
            .iter()
            .flat_map(|device| &device.ips.ip)
            .filter_map(|ip| ip.address.parse().ok())
    }
}

impl Nic {
    /// Its hardware address.
    pub fn mac(&self) -> &str {
        &self.mac.address
    }

    /// Whether it is attached through a profile.
    pub fn uses(&self, vnic_profile_id: &str) -> bool {
        self.vnic_profile.as_ref().is_some_and(|profile| profile.id == vnic_profile_id)
    }
}

impl Client {
    /// Machines whose name begins with a text, with what hangs on them: one call, however many there are.
    pub async fn vms_named(&self, prefix: &str) -> Result<Vec<Vm>, Error> {
        let vms = self.vm_pages(&format!("name={prefix}*"), &format!("follow={FOLLOW}")).await?;
        Ok(vms.into_iter().filter(|vm| vm.name.starts_with(prefix)).collect())
    }

    /// Machines whose description carries a mark, whatever their names are, with what hangs on them: one call, however many
    /// there are.
    pub async fn vms_marked(&self, mark: &Mark) -> Result<Vec<Vm>, Error> {
        let vms = self.vm_pages(&format!("description={}", mark.pattern()), &format!("follow={FOLLOW}")).await?;
        Ok(vms.into_iter().filter(|vm| mark.is_on(&vm.description)).collect())
    }

    /// Machines with a name, of which there is at most one in a data centre.
    pub async fn vms_called(&self, name: &str) -> Result<Vec<Vm>, Error> {
        let Vms { vm } = self.get(&format!("{}&follow={FOLLOW}", search("vms", &format!("name={name}")))).await?;
        Ok(vm.into_iter().filter(|vm| vm.name == name).collect())
    }

    /// The machine with an id, with what hangs on it.
    pub async fn vm(&self, id: &str) -> Result<Option<Vm>, Error> {
        self.get_existing(&format!("vms/{id}?follow={FOLLOW}")).await
    }

    /// Machines with these ids, with what hangs on them. What it costs the engine does not grow with what else there is.
    pub async fn vms_with_ids(&self, ids: &[String]) -> Result<Vec<Vm>, Error> {
        let mut found = Vec::new();
        for some in ids.chunks(IDS_AT_ONCE) {
            let wanted: Vec<_> = some.iter().map(|id| format!("id={id}")).collect();
            let path = format!("{}&follow={FOLLOW}", search("vms", &wanted.join(" or ")));
            let Vms { vm } = self.get(&path).await?;
            found.extend(vm.into_iter().filter(|vm| some.contains(&vm.id)));
        }
        Ok(found)
    }

    /// The same with everything that the engine knows about them, their Ignition configs included.
    pub async fn vms_in_full(&self, prefix: &str) -> Result<Vec<Vm>, Error> {
        let vms = self.vm_pages(&format!("name={prefix}*"), &format!("all_content=true&follow={FOLLOW}")).await?;
        Ok(vms.into_iter().filter(|vm| vm.name.starts_with(prefix)).collect())
    }

    /// All machines, without what hangs on them but with the addresses that their guests report.
    pub async fn all_vms(&self) -> Result<Vec<Vm>, Error> {
        self.vm_pages("", "follow=reported_devices").await
    }

    /// Machines that a search finds, page by page: an answer with ten thousand is too much for one. One that comes while the pages are read may be
    /// on two of them; one that goes may take another from both, so whoever misses a machine looks for it by its name.
    async fn vm_pages(&self, wanted: &str, parameters: &str) -> Result<Vec<Vm>, Error> {
        let mut found: Vec<Vm> = Vec::new();
        for page in 1.. {
            let path = search("vms", format!("{wanted} sortby name asc page {page}").trim_start());
            let Vms { vm } = self.get(&format!("{path}&max={PAGE}&{parameters}")).await?;
            let is_last = vm.len() < PAGE;
            found.extend(vm);
            if is_last {
                break;
            }
        }
        found.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        found.dedup_by(|one, other| one.id == other.id);
        Ok(found)
    }

    /// Creates a machine and returns its id. `clone` makes its disks independent of the template.
    pub async fn create_vm(&self, name: &str, body: &Value, clone: bool) -> Result<String, Error> {
        let made: Reference =
            self.post(&format!("creating machine {name}"), &format!("vms?clone={clone}"), body).await?;
        Ok(made.id)
    }

    /// Starts a machine, handing it its Ignition config at the first start.
    pub async fn start_vm(&self, vm: &Vm) -> Result<(), Error> {
        let parameters = json!({ "use_ignition": "true" });
        let error = match self.act_on_vm(vm, "start", &parameters).await {
            Err(error @ Error::Fault { .. }) => error,
            other => return other,
        };
        let Error::Fault { fault, .. } = &error else { return Err(error) };
        // The answer may be an empty list of reasons; what the engine logged is the only explanation then.
        let events = self.troubles(&fault.correlation).await.unwrap_or_default();
        Err(Error::Start { machine: vm.name.clone(), engine: self.engine().host(), events, source: Box::new(error) })
    }

    /// Empties the user data that the engine keeps of a machine. `initialization` may be changed in any state (`VmBase.vmInit` is an
    /// `EditableVmField` without restriction) and is stored at once, also of a machine that runs, which is not restarted for it. The host
    /// name is given again because the engine takes the whole of `initialization` from the request.
    pub async fn empty_user_data(&self, vm: &Vm) -> Result<(), Error> {
        let host_name = vm.initialization.host_name.as_deref().unwrap_or(&vm.name);
        let body = json!({ "initialization": { "host_name": host_name, "custom_script": "" } });
        let attempt = format!("emptying the user data of machine {}", vm.name);
        let _: Value = self.put(&attempt, &format!("vms/{}", vm.id), &body).await?;
        Ok(())
    }

    /// Carries out an action on a machine: `stop`, `stop`, `shutdown`, …
    pub async fn act_on_vm(&self, vm: &Vm, action: &str, parameters: &Value) -> Result<(), Error> {
        let attempt = format!("{action} of machine {}", vm.name);
        let _: Value = self.post(&attempt, &format!("vms/{}/{action}", vm.id), parameters).await?;
        Ok(())
    }

    /// Attaches a disk that the machine boots from.
    pub async fn attach_boot_disk(&self, vm: &Vm, disk_id: &str) -> Result<(), Error> {
        let body = json!({
            "disk": { "id": disk_id }, "bootable": "true", "active": "true", "interface": "virtio_scsi",
        });
        let attempt = format!("attaching a disk to machine {}", vm.name);
        let _: Value = self.post(&attempt, &format!("vms/{}/diskattachments", vm.id), &body).await?;
        Ok(())
    }

    /// Takes a disk off a machine, and keeps it.
    pub async fn detach_disk(&self, vm: &Vm, disk: &Disk) -> Result<(), Error> {
        let attempt = format!("detaching disk {} from machine {}", disk.alias, vm.name);
        self.delete(&attempt, &format!("vms/{}/diskattachments/{}?detach_only=true", vm.id, disk.id)).await
    }

    /// Adds a network interface.
    pub async fn add_nic(&self, vm: &Vm, name: &str, vnic_profile_id: &str) -> Result<(), Error> {
        let body = json!({ "name": name, "interface": "virtio", "vnic_profile": { "id": vnic_profile_id } });
        let attempt = format!("adding a network interface to machine {}", vm.name);
        let _: Value = self.post(&attempt, &format!("vms/{}/nics", vm.id), &body).await?;
        Ok(())
    }

    /// Attaches a network interface through another profile.
    pub async fn move_nic(&self, vm: &Vm, nic: &Nic, vnic_profile_id: &str) -> Result<(), Error> {
        let body = json!({ "vnic_profile": { "id": vnic_profile_id } });
        let attempt = format!("changing network interface {} of machine {}", nic.name, vm.name);
        let _: Value = self.put(&attempt, &format!("vms/{}/nics/{}", vm.id, nic.id), &body).await?;
        Ok(())
    }

    /// Removes a graphics console, so that the machine is headless.
    pub async fn remove_console(&self, vm: &Vm, console_id: &str) -> Result<(), Error> {
        let attempt = format!("removing a console of machine {}", vm.name);
        self.delete(&attempt, &format!("vms/{}/graphicsconsoles/{console_id}", vm.id)).await
    }

    /// Puts a tag on a machine.
    pub async fn tag_vm(&self, vm: &Vm, tag: &str) -> Result<(), Error> {
        let attempt = format!("putting tag {tag} on machine {}", vm.name);
        let _: Value = self.post(&attempt, &format!("vms/{}/tags", vm.id), &json!({ "name": tag })).await?;
        Ok(())
    }

    /// Deletes a machine that is down. The engine refuses if a disk is attached to it, except where it can leave the disk.
    pub async fn delete_vm(&self, vm: &Vm) -> Result<(), Error> {
        self.delete(&format!("deleting machine {}", vm.name), &format!("vms/{}?detach_only=true", vm.id)).await
    }

    /// Deletes a disk that is attached to a machine that is down.
    pub async fn delete_attached_disk(&self, vm: &Vm, disk: &str) -> Result<(), Error> {
        let path = format!("vms/{}/diskattachments/{disk}?detach_only=false", vm.id);
        self.delete(&format!("deleting disk {disk} of machine {}", vm.name), &path).await
    }
}
