//! What a user may see and do. Administrators see and may do everything, unless they ask for a user's view.

use super::found::parse_id;
use super::kind::Subject;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Disk, Holder, Object, Permission};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The group that everybody is in.
pub(crate) const EVERYONE: Id = Id::from_u128(0xeee0_0000_0000_0000_0000_1234_5678_9eee);

/// Who asks, and how much of the world that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    user: Option<Id>,
    admin: bool,
    filtered: bool,
}

impl Access {
    /// The access of a user who asks for a filtered view, for an unfiltered one, or for neither.
    pub(crate) fn of(state: &State, user: Id, filter: Option<bool>) -> Result<Self, Fault> {
        let admin = state.is_administrator(user);
        if !admin && filter == Some(false) {
            return Err(Fault::new(403, "Operation Failed", "query execution failed due to insufficient permissions."));
        }
        Ok(Self { user: Some(user), admin, filtered: filter.unwrap_or(!admin) })
    }

    /// Who asks.
    pub(crate) fn user(&self) -> Option<Id> {
        self.user
    }

    /// Whether hosts are shown: where a VM runs is not a user's business.
    pub(crate) fn sees_hosts(&self) -> bool {
        !self.filtered
    }

    /// Whether an entity is shown.
    pub(crate) fn sees(&self, state: &State, subject: Subject) -> bool {
        if !self.filtered {
            return true;
        }
        match subject {
            Subject::Vm(vm) => self.holds(state, |object| covers_vm(state, object, vm.id, vm.cluster)),
            Subject::Template(template) => self.holds(state, |object| match object {
                Object::System => true,
                Object::Template(id) => id == template.id,
                Object::Cluster(id) => template.cluster == Some(id),
                Object::DataCenter(id) => {
                    template.cluster.and_then(|cluster| state.data_center_of(cluster)) == Some(id)
                }
                _ => false,
            }),
            Subject::Disk(disk) => self.sees_disk(state, disk),
            Subject::Host(_) => false,
            Subject::User(user) => self.user == Some(user.id),
            Subject::Permission(permission) => self.user.is_some_and(|user| permission.holder == Holder::User(user)),
            Subject::Job(job) => self.user == Some(job.owner),
            Subject::Event(event) => self.user == event.user,
            Subject::Transfer(transfer) => {
                state.disks.get(transfer.disk).is_none_or(|disk| self.sees_disk(state, disk))
            }
            _ => true,
        }
    }

    fn sees_disk(&self, state: &State, disk: &Disk) -> bool {
        self.holds(state, |object| match object {
            Object::System => true,
            Object::Disk(id) => id == disk.id,
            Object::StorageDomain(id) => disk.storage_domains.contains(&id),
            Object::Template(id) => disk.template == Some(id),
            object => disk
                .vms
                .iter()
                .filter_map(|vm| state.vms.get(*vm))
                .any(|vm| covers_vm(state, object, vm.id, vm.cluster)),
        })
    }

    fn holds(&self, state: &State, covers: impl Fn(Object) -> bool) -> bool {
        self.permissions(state).any(|permission| covers(permission.object))
    }

    fn permissions<'s>(&self, state: &'s State) -> impl Iterator<Item = &'s Permission> {
        let user = self.user;
        state.permissions.iter().filter(move |permission| match permission.holder {
            Holder::User(id) => Some(id) == user,
            Holder::Group(id) => id == EVERYONE,
        })
    }

    /// Whether a change is allowed.
    pub(crate) fn allow(&self, state: &State, method: &str, parts: &[&str]) -> Result<(), Fault> {
        if self.admin {
            return Ok(());
        }
        let allowed = demand(method, parts).is_some_and(|(permit, object)| {
            self.permissions(state).any(|held| {
                let role = state.roles.get(held.role);
                let permitted = role.is_some_and(|role| role.permits.iter().any(|given| **given == *permit));
                permitted && object.is_none_or(|wanted| encloses(state, held.object, wanted))
            })
        });
        if allowed { Ok(()) } else { Err(Fault::forbidden("User is not authorized to perform this action.")) }
    }
}

fn covers_vm(state: &State, object: Object, vm: Id, cluster: Id) -> bool {
    match object {
        Object::System => true,
        Object::Vm(id) => id == vm,
        Object::Cluster(id) => id == cluster,
        Object::DataCenter(id) => state.data_center_of(cluster) == Some(id),
        _ => false,
    }
}

/// Whether a permission on `held` reaches `wanted`.
fn encloses(state: &State, held: Object, wanted: Object) -> bool {
    held == wanted
        || held == Object::System
        || match wanted {
            Object::Vm(id) => state.vms.get(id).is_some_and(|vm| covers_vm(state, held, vm.id, vm.cluster)),
            Object::Disk(id) => state.disks.get(id).is_some_and(|disk| match held {
                Object::StorageDomain(domain) => disk.storage_domains.contains(&domain),
                held => disk.vms.iter().any(|vm| encloses(state, held, Object::Vm(*vm))),
            }),
            _ => false,
        }
}

/// The permit that a user who is no administrator needs, and on what; `None` if no permit of a user is enough.
#[allow(clippy::match_same_arms, reason = "one line per address")]
fn demand(method: &str, parts: &[&str]) -> Option<(&'static str, Option<Object>)> {
    let vm = |id: &str| parse_id(id).ok().map(Object::Vm);
    let disk = |id: &str| parse_id(id).ok().map(Object::Disk);
    let template = |id: &str| parse_id(id).ok().map(Object::Template);
    match (method, parts) {
        ("POST", ["vms"]) => Some(("create_vm", None)),
        ("PUT", ["vms", id]) => Some(("edit_vm_properties", vm(id))),
        ("DELETE", ["vms", id]) => Some(("delete_vm", vm(id))),
        (_, ["vms", id, "nics", ..]) => Some(("configure_vm_network", vm(id))),
        (_, ["vms", id, "diskattachments", ..]) => Some(("configure_vm_storage", vm(id))),
        (_, ["vms", id, "snapshots", ..]) => Some(("manipulate_vm_snapshots", vm(id))),
        (_, ["vms", id, "permissions", ..]) => Some(("manipulate_permissions", vm(id))),
        ("POST", ["vms", id, "start"]) => Some(("run_vm", vm(id))),
        ("POST", ["vms", id, "stop" | "shutdown" | "suspend"]) => Some(("stop_vm", vm(id))),
        ("POST", ["vms", id, "reboot" | "reset"]) => Some(("reboot_vm", vm(id))),
        (_, ["vms", id, ..]) => Some(("edit_vm_properties", vm(id))),
        ("POST", ["disks"]) => Some(("create_disk", None)),
        ("DELETE", ["disks", id]) => Some(("delete_disk", disk(id))),
        (_, ["disks", id, ..]) => Some(("edit_disk_properties", disk(id))),
        (_, ["imagetransfers", ..]) => Some(("create_disk", None)),
        ("POST", ["templates"]) => Some(("create_template", None)),
        ("DELETE", ["templates", id]) => Some(("delete_template", template(id))),
        ("PUT", ["templates", id]) => Some(("edit_template_properties", template(id))),
        _ => None,
    }
}
