//! Whatever clients do in whatever order: no illegal state, no lost disk, no lock that is left behind.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::lab::Lab;
use super::restart::restart;
use crate::ovirt::model::{DiskStatus, HostStatus, JobStatus, SnapshotStatus, TemplateStatus, VmStatus};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Something that a client, an administrator or time does. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Deed {
    CreateVm { template: usize, clone: bool },
    Vm(usize, &'static str),
    MigrateTo(usize, usize),
    UpdateVm(usize, u8),
    RemoveVm(usize, &'static str),
    CloneVm(usize),
    AddDisk { raw: bool, gib: u8 },
    Attach(usize, usize),
    Detach(usize),
    Disk(usize, &'static str),
    ResizeDisk(usize, u8),
    RemoveDisk(usize),
    Snapshot(usize),
    RestoreSnapshot(usize),
    RemoveSnapshot(usize),
    MakeTemplate(usize),
    RemoveTemplate(usize),
    Transfer(usize, &'static str),
    TransferAction(usize, &'static str),
    Host(usize, &'static str),
    Group(Vec<usize>, bool, bool),
    RemoveGroup,
    AddNic(usize),
    RemoveNic(usize),
    Misfortune(usize, &'static str),
    Restart,
    Pass(u16),
}

fn deed() -> impl Strategy<Value = Deed> {
    let some = 0..8_usize;
    let vm_action = prop::sample::select(vec![
        "start",
        "start",
        "start",
        "stop",
        "shutdown",
        "reboot",
        "reset",
        "suspend",
        "migrate",
        "cancelmigration",
    ]);
    let misfortune = prop::sample::select(vec!["io_error", "hang", "recover", "guest_off"]);
    prop_oneof![
        3 => (0..4_usize, any::<bool>()).prop_map(|(template, clone)| Deed::CreateVm { template, clone }),
        6 => (some.clone(), vm_action).prop_map(|(vm, action)| Deed::Vm(vm, action)),
        1 => (some.clone(), some.clone()).prop_map(|(vm, host)| Deed::MigrateTo(vm, host)),
        2 => (some.clone(), 1..6_u8).prop_map(|(vm, gib)| Deed::UpdateVm(vm, gib)),
        2 => (some.clone(), prop::sample::select(vec!["", "?async=true", "?detach_only=true", "?force=true"])).prop_map(|(vm, how)| Deed::RemoveVm(vm, how)),
        1 => some.clone().prop_map(Deed::CloneVm),
        3 => (any::<bool>(), 1..40_u8).prop_map(|(raw, gib)| Deed::AddDisk { raw, gib }),
        3 => (some.clone(), some.clone()).prop_map(|(vm, disk)| Deed::Attach(vm, disk)),
        1 => some.clone().prop_map(Deed::Detach),
        2 => (some.clone(), prop::sample::select(vec!["copy", "move", "sparsify"])).prop_map(|(disk, action)| Deed::Disk(disk, action)),
        1 => (some.clone(), 1..60_u8).prop_map(|(disk, gib)| Deed::ResizeDisk(disk, gib)),
        1 => some.clone().prop_map(Deed::RemoveDisk),
        2 => some.clone().prop_map(Deed::Snapshot),
        1 => some.clone().prop_map(Deed::RestoreSnapshot),
        1 => some.clone().prop_map(Deed::RemoveSnapshot),
        1 => some.clone().prop_map(Deed::MakeTemplate),
        1 => some.clone().prop_map(Deed::RemoveTemplate),
        1 => (some.clone(), prop::sample::select(vec!["upload", "download"])).prop_map(|(disk, way)| Deed::Transfer(disk, way)),
        2 => (some.clone(), prop::sample::select(vec!["finalize", "cancel", "pause", "resume"])).prop_map(|(t, action)| Deed::TransferAction(t, action)),
        1 => (some.clone(), prop::sample::select(vec!["activate", "deactivate"])).prop_map(|(host, action)| Deed::Host(host, action)),
        1 => (prop::collection::vec(some.clone(), 0..4), any::<bool>(), any::<bool>()).prop_map(|(vms, positive, hard)| Deed::Group(vms, positive, hard)),
        1 => Just(Deed::RemoveGroup),
        1 => some.clone().prop_map(Deed::AddNic),
        1 => some.clone().prop_map(Deed::RemoveNic),
        1 => (some, misfortune).prop_map(|(vm, event)| Deed::Misfortune(vm, event)),
        1 => Just(Deed::Restart),
        8 => (0..90_u16).prop_map(Deed::Pass),
    ]
}

fn pick(ids: &[Id], index: usize) -> Option<Id> {
    (!ids.is_empty()).then(|| ids[index % ids.len()])
}

struct Run {
    lab: Lab,
    made: usize,
}

impl Run {
    fn vm(&self, index: usize) -> Option<Id> {
        pick(&self.state().vms.iter().map(|vm| vm.id).collect::<Vec<_>>(), index)
    }

    fn disk(&self, index: usize) -> Option<Id> {
        pick(&self.state().disks.iter().map(|disk| disk.id).collect::<Vec<_>>(), index)
    }

    fn state(&self) -> &State {
        self.lab.engine.state()
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("n{}", self.made)
    }

    /// Does something, if there is something to do it to. Refusals are part of life; server errors are not.
    #[allow(clippy::too_many_lines, reason = "one arm per deed")]
    fn perform(&mut self, deed: &Deed) -> Option<()> {
        let answer = match deed.clone() {
            Deed::CreateVm { template, clone } => {
                let templates: Vec<Id> = self.state().templates.iter().map(|template| template.id).collect();
                let (template, name) = (pick(&templates, template)?, self.name());
                let body = format!(
                    "<vm><name>{name}</name><cluster><name>main</name></cluster><template id=\"{template}\"/></vm>"
                );
                self.lab.post(&format!("/vms?clone={clone}"), &body)
            }
            Deed::Vm(vm, action) => {
                let vm = self.vm(vm)?;
                self.lab.post(&format!("/vms/{vm}/{action}"), "<action/>")
            }
            Deed::MigrateTo(vm, host) => {
                let hosts: Vec<Id> = self.state().hosts.iter().map(|host| host.id).collect();
                let (vm, host) = (self.vm(vm)?, pick(&hosts, host)?);
                self.lab.post(&format!("/vms/{vm}/migrate"), &format!("<action><host id=\"{host}\"/></action>"))
            }
            Deed::UpdateVm(vm, gib) => {
                let vm = self.vm(vm)?;
                self.lab.put(&format!("/vms/{vm}"), &format!("<vm><memory>{}</memory></vm>", u64::from(gib) << 30))
            }
            Deed::RemoveVm(vm, how) => {
                let vm = self.vm(vm)?;
                self.lab.delete(&format!("/vms/{vm}{how}"))
            }
            Deed::CloneVm(vm) => {
                let (vm, name) = (self.vm(vm)?, self.name());
                self.lab.post(&format!("/vms/{vm}/clone"), &format!("<action><vm><name>{name}</name></vm></action>"))
            }
            Deed::AddDisk { raw, gib } => {
                let (format, sparse) = if raw { ("raw", false) } else { ("cow", true) };
                let body = format!(
                    "<disk><alias>{}</alias><format>{format}</format><sparse>{sparse}</sparse><provisioned_size>{}</provisioned_size>\
                     <storage_domain><name>{}</name></storage_domain></disk>",
                    self.name(),
                    u64::from(gib) << 30,
                    if gib % 2 == 0 { "data" } else { "more" }
                );
                self.lab.post("/disks", &body)
            }
            Deed::Attach(vm, disk) => {
                let (vm, disk) = (self.vm(vm)?, self.disk(disk)?);
                let body =
                    format!("<disk_attachment><interface>virtio</interface><disk id=\"{disk}\"/></disk_attachment>");
                self.lab.post(&format!("/vms/{vm}/diskattachments"), &body)
            }
            Deed::Detach(disk) => {
                let disk = self.disk(disk)?;
                let vm = *self.state().disks.get(disk)?.vms.first()?;
                self.lab.delete(&format!("/vms/{vm}/diskattachments/{disk}"))
            }
            Deed::Disk(disk, action) => {
                let disk = self.disk(disk)?;
                let body = "<action><storage_domain><name>more</name></storage_domain></action>";
                self.lab.post(&format!("/disks/{disk}/{action}"), body)
            }
            Deed::ResizeDisk(disk, gib) => {
                let disk = self.disk(disk)?;
                let body = format!("<disk><provisioned_size>{}</provisioned_size></disk>", u64::from(gib) << 30);
                self.lab.put(&format!("/disks/{disk}"), &body)
            }
            Deed::RemoveDisk(disk) => {
                let disk = self.disk(disk)?;
                self.lab.delete(&format!("/disks/{disk}"))
            }
            Deed::Snapshot(vm) => {
                let vm = self.vm(vm)?;
                self.lab.post(&format!("/vms/{vm}/snapshots"), "<snapshot><description>s</description></snapshot>")
            }
            Deed::RestoreSnapshot(vm) | Deed::RemoveSnapshot(vm) => {
                let vm = self.vm(vm)?;
                let snapshot = self.state().vms.get(vm)?.snapshots.last()?.id;
                let path = format!("/vms/{vm}/snapshots/{snapshot}");
                match deed {
                    Deed::RestoreSnapshot(_) => self.lab.post(&format!("{path}/restore"), "<action/>"),
                    _ => self.lab.delete(&path),
                }
            }
            Deed::MakeTemplate(vm) => {
                let (vm, name) = (self.vm(vm)?, self.name());
                self.lab.post("/templates", &format!("<template><name>{name}</name><vm id=\"{vm}\"/></template>"))
            }
            Deed::RemoveTemplate(template) => {
                let templates: Vec<Id> = self.state().templates.iter().map(|template| template.id).collect();
                let template = pick(&templates, template)?;
                self.lab.delete(&format!("/templates/{template}"))
            }
            Deed::Transfer(disk, way) => {
                let disk = self.disk(disk)?;
                let body =
                    format!("<image_transfer><disk id=\"{disk}\"/><direction>{way}</direction></image_transfer>");
                self.lab.post("/imagetransfers", &body)
            }
            Deed::TransferAction(transfer, action) => {
                let transfers: Vec<Id> = self.state().transfers.iter().map(|transfer| transfer.id).collect();
                let transfer = pick(&transfers, transfer)?;
                self.lab.post(&format!("/imagetransfers/{transfer}/{action}"), "<action/>")
            }
            Deed::Host(host, action) => {
                let hosts: Vec<Id> = self.state().hosts.iter().map(|host| host.id).collect();
                let host = pick(&hosts, host)?;
                self.lab.post(&format!("/hosts/{host}/{action}"), "<action/>")
            }
            Deed::Group(vms, positive, hard) => {
                let cluster = self.state().clusters.iter().next()?.id;
                let members = vms.iter().filter_map(|vm| self.vm(*vm)).map(|vm| format!("<vm id=\"{vm}\"/>"));
                let members = members.collect::<Vec<_>>().concat();
                let body = format!(
                    "<affinity_group><name>{}</name><vms_rule><positive>{positive}</positive><enforcing>{hard}</enforcing>\
                     </vms_rule><vms>{members}</vms></affinity_group>",
                    self.name()
                );
                self.lab.post(&format!("/clusters/{cluster}/affinitygroups"), &body)
            }
            Deed::RemoveGroup => {
                let group = self.state().affinity_groups.iter().next()?;
                let path = format!("/clusters/{}/affinitygroups/{}", group.cluster, group.id);
                self.lab.delete(&path)
            }
            Deed::AddNic(vm) => {
                let (vm, name) = (self.vm(vm)?, self.name());
                self.lab.post(&format!("/vms/{vm}/nics"), &format!("<nic><name>{name}</name></nic>"))
            }
            Deed::RemoveNic(vm) => {
                let vm = self.vm(vm)?;
                let nic = self.state().vms.get(vm)?.nics.first()?.id;
                self.lab.delete(&format!("/vms/{vm}/nics/{nic}"))
            }
            Deed::Misfortune(vm, event) => {
                let vm = self.vm(vm)?;
                self.lab.admin("POST", &format!("/vms/{vm}/events"), &format!("{{\"event\":\"{event}\"}}"))?
            }
            Deed::Restart => {
                restart(&mut self.lab);
                return None;
            }
            Deed::Pass(seconds) => {
                self.lab.seconds(seconds.into());
                return None;
            }
        };
        assert!(answer.status < 500, "{deed:?}: {}", answer.text);
        Some(())
    }
}

/// What must hold at every moment.
fn check(state: &State) {
    for vm in state.vms.iter() {
        let booked: BTreeSet<Id> =
            state.hosts.iter().filter(|host| host.vms.contains_key(&vm.id)).map(|host| host.id).collect();
        let expected: BTreeSet<Id> = vm.host.into_iter().chain(vm.destination).collect();
        assert_eq!(booked, expected, "{} is {}", vm.name, vm.status);
        assert_eq!(vm.host.is_some(), vm.is_running(), "{} is {}", vm.name, vm.status);
        assert_eq!(vm.destination.is_some(), vm.status == VmStatus::Migrating, "{} is {}", vm.name, vm.status);
        let locked = state.operations.values().any(|operation| operation.work.concerns(vm.id));
        // A running VM is not locked but kept busy, and stays so if it goes off meanwhile.
        let kept_busy = vm.is_running() || state.busy.contains(&vm.id);
        assert_eq!(vm.status == VmStatus::ImageLocked, locked && !kept_busy, "{} is {}", vm.name, vm.status);
        for attachment in &vm.disks {
            let disk = state.disks.get(attachment.disk).unwrap_or_else(|| panic!("{} lost a disk", vm.name));
            assert!(disk.vms.contains(&vm.id), "{} does not know that {} has it", disk.name, vm.name);
        }
        assert!(state.templates.contains(vm.template), "the template of {} is gone", vm.name);
    }
    for disk in state.disks.iter() {
        for vm in &disk.vms {
            let vm = state.vms.get(*vm).unwrap_or_else(|| panic!("the VM of {} is gone", disk.name));
            assert!(vm.disks.iter().any(|attachment| attachment.disk == disk.id), "{} is not attached", disk.name);
        }
        if let Some(template) = disk.template {
            let template = state.templates.get(template).expect("a template's disk goes with it");
            assert!(template.disks.iter().any(|attachment| attachment.disk == disk.id));
        }
        let going = state.operations.values().any(|operation| operation.work.removes(disk.id));
        if let Some(base) = disk.backing.filter(|_| !going) {
            assert!(state.disks.contains(base), "what {} lies on is gone", disk.name);
        }
        if disk.status == DiskStatus::Locked {
            let work = state.operations.values().any(|operation| {
                operation.work.concerns(disk.id)
                    || disk.vms.iter().any(|vm| operation.work.concerns(*vm))
                    || disk.template.is_some_and(|template| operation.work.concerns(template))
            });
            let moved =
                state.transfers.iter().any(|transfer| transfer.disk == disk.id && !transfer.phase.is_finished());
            assert!(work || moved, "{} is locked for no reason", disk.name);
        }
    }
    for domain in state.storage_domains.iter() {
        let on_it = state.disks.iter().filter(|disk| disk.storage_domains.contains(&domain.id));
        let (used, committed) = on_it.fold((0, 0), |(used, committed), disk| {
            (used + disk.actual_bytes + disk.snapshot_bytes, committed + disk.provisioned_bytes)
        });
        assert_eq!((domain.used_bytes, domain.committed_bytes), (used, committed), "{} does not add up", domain.name);
    }
    for host in state.hosts.iter() {
        assert!(host.vms.keys().all(|vm| state.vms.contains(*vm)), "{} runs a VM that is gone", host.name);
    }
    for id in &state.busy {
        assert!(state.operations.values().any(|operation| operation.work.concerns(*id)), "{id} is busy for no reason");
    }
}

/// What must hold when nothing is due any more.
fn check_rest(state: &State) {
    assert!(state.operations.is_empty(), "{:?}", state.operations);
    assert!(state.busy.is_empty(), "{:?}", state.busy);
    for vm in state.vms.iter() {
        let resting = matches!(
            vm.status,
            VmStatus::Down | VmStatus::Up | VmStatus::Paused | VmStatus::Suspended | VmStatus::NotResponding
        );
        assert!(resting && vm.pending.is_none() && vm.job.is_none(), "{} is {}", vm.name, vm.status);
        assert!(vm.snapshots.iter().all(|snapshot| snapshot.status == SnapshotStatus::Ok), "{}", vm.name);
    }
    let open = |disk: Id| state.transfers.iter().any(|transfer| transfer.disk == disk && transfer.phase.is_open());
    for disk in state.disks.iter() {
        assert!(disk.status != DiskStatus::Locked || open(disk.id), "{} is locked", disk.name);
    }
    assert!(state.templates.iter().all(|template| template.status == TemplateStatus::Ok));
    assert!(state.hosts.iter().all(|host| matches!(host.status, HostStatus::Up | HostStatus::Maintenance)));
    for job in state.jobs.iter().filter(|job| job.status == JobStatus::Started) {
        let transfer = state.transfers.iter().any(|transfer| transfer.job == job.id && transfer.phase.is_open());
        assert!(transfer, "the job {} never ended", job.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_calls_breaks_the_engine(deeds in prop::collection::vec(deed(), 1..60)) {
        let mut run = Run { lab: Lab::small(), made: 0 };
        for name in ["first", "second"] {
            run.lab.vm(name, "fcos");
        }
        for deed in &deeds {
            run.perform(deed);
            check(run.state());
        }
        run.lab.run_out();
        check(run.state());
        check_rest(run.state());
    }
}
