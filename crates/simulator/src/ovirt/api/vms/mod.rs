//! Virtual machines.

mod add;
mod config;
mod power;
mod remove;
mod render;
mod update;

pub(crate) use add::{add, blank_vm};
pub(crate) use config::{configurable, sized, sized_unchecked, valid_name};
pub(crate) use power::{ACTIONS, act};
pub(crate) use remove::remove;
pub(crate) use render::{config_body, render};
pub(crate) use update::update;

use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::owner::Owner;
use super::{
    devices, disk_attachments, graphics_consoles, nics, permissions, reported_devices, snapshots, statistics, tags,
};
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Object, Vm};
use crate::ovirt::state::State;

/// A VM, or what is under it.
pub(crate) fn at<'s>(state: &'s State, vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let path = || format!("vms/{}", vm.id);
    match parts {
        [] => Ok(Found::subject(Subject::Vm(vm))),
        ["diskattachments", rest @ ..] => disk_attachments::sub(Owner::Vm(vm), rest),
        ["nics", rest @ ..] => nics::sub(Owner::Vm(vm), rest),
        ["graphicsconsoles", rest @ ..] => graphics_consoles::sub(Owner::Vm(vm), rest),
        ["reporteddevices", rest @ ..] => reported_devices::sub(vm, None, rest),
        ["snapshots", rest @ ..] => snapshots::sub(state, vm, rest),
        ["tags", rest @ ..] => tags::assigned(state, path(), &vm.tags, rest),
        ["statistics", rest @ ..] => statistics::of_vm(vm, rest),
        ["permissions", rest @ ..] => permissions::of(state, Object::Vm(vm.id), rest),
        ["affinitylabels", rest @ ..] => {
            let labels = state.affinity_labels.iter().filter(|label| label.vms.contains(&vm.id));
            let mut labels = labels.map(Subject::AffinityLabel);
            match rest {
                [] => Ok(Found::subjects(Kind::AffinityLabel, labels.collect())),
                [id] => {
                    let id = super::found::parse_id(id)?;
                    labels.find(|label| label.id() == id).map(Found::subject).ok_or_else(Fault::not_found)
                }
                _ => Err(Fault::not_found()),
            }
        }
        ["cdroms", rest @ ..] => devices::cdroms(vm, rest),
        ["watchdogs", rest @ ..] => devices::watchdogs(vm, rest),
        ["numanodes", rest @ ..] => devices::numa_nodes(vm, rest),
        ["applications"] => Ok(Found::nothing("applications", "application")),
        ["sessions"] => Ok(Found::nothing("sessions", "session")),
        ["hostdevices"] => Ok(Found::nothing("host_devices", "host_device")),
        ["mediateddevices"] => Ok(Found::nothing("vm_mediated_devices", "vm_mediated_device")),
        ["backups"] => Ok(Found::nothing("backups", "backup")),
        ["checkpoints"] => Ok(Found::nothing("checkpoints", "checkpoint")),
        _ => Err(Fault::not_found()),
    }
}
