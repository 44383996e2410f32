//! The representation of a VM.

use super::power::ACTIONS;
use crate::ovirt::api::view::View;
use crate::ovirt::model::{Vm, VmStatus};
use crate::ovirt::representation::Tree;
use crate::ovirt::table::Id;

const LINKS: &[&str] = &[
    "affinitylabels",
    "applications",
    "backups",
    "cdroms",
    "checkpoints",
    "diskattachments",
    "graphicsconsoles",
    "hostdevices",
    "mediateddevices",
    "nics",
    "numanodes",
    "permissions",
    "reporteddevices",
    "sessions",
    "snapshots",
    "statistics",
    "tags",
    "watchdogs",
];

/// Writes a VM.
pub(crate) fn render(view: &mut View, element: &'static str, vm: &Vm) {
    let path = format_args!("vms/{}", vm.id);
    view.open(element, path, vm.id);
    view.names(&vm.name, &vm.description, &vm.comment);
    let config = match &vm.next_run {
        Some(next) if view.params.flag("next_run") == Some(true) => next,
        _ => &vm.config,
    };
    config_body(view, config);
    view.date("creation_time", vm.created);
    view.out.text("origin", "ovirt");
    view.out.text("next_run_configuration_exists", vm.next_run.is_some());
    placement(view, vm);
    view.out.text("run_once", vm.run_once);
    view.out.text("status", vm.status);
    if vm.status == VmStatus::Paused {
        view.out.text("status_detail", "none");
    }
    view.maybe_date("start_time", vm.started.filter(|_| vm.is_running()));
    view.maybe_date("stop_time", vm.stopped);
    view.out.maybe("stop_reason", vm.stop_reason.as_deref());
    guest(view, vm);
    view.reference("cluster", "clusters", vm.cluster);
    view.maybe_reference("cpu_profile", "cpuprofiles", vm.cpu_profile);
    view.maybe_reference("host", "hosts", vm.host.filter(|_| view.access.sees_hosts()));
    view.maybe_reference("instance_type", "instancetypes", vm.instance_type);
    view.reference("original_template", "templates", existing(view, vm.original_template));
    if let Some(quota) = vm.quota.and_then(|quota| view.state.quotas.get(quota)) {
        view.reference_to("quota", format_args!("datacenters/{}/quotas/{}", quota.data_center, quota.id), quota.id);
    }
    view.reference("template", "templates", existing(view, vm.template));
    view.links(path, LINKS);
    view.actions(path, ACTIONS);
    view.close();
}

/// A template that was removed since leaves its VMs with Blank.
fn existing(view: &View, template: Id) -> Id {
    if view.state.templates.contains(template) { template } else { Id::nil() }
}

/// Writes a configuration: all of it but what is never told.
pub(crate) fn config_body(view: &mut View, config: &Tree) {
    for (name, value) in config.iter() {
        match (name, config.sub(name)) {
            ("initialization", Some(initialization)) => {
                view.out.open("initialization");
                for (name, value) in initialization.iter().filter(|(name, _)| *name != "root_password") {
                    view.out.value(name, value);
                }
                view.close();
            }
            _ => view.out.value(name, value),
        }
    }
}

fn placement(view: &mut View, vm: &Vm) {
    view.out.open("placement_policy");
    view.out.text("affinity", vm.placement.affinity);
    if !vm.placement.hosts.is_empty() && view.access.sees_hosts() {
        view.out.open_list("hosts", "host");
        vm.placement.hosts.iter().for_each(|host| view.reference("host", "hosts", *host));
        view.close();
    }
    view.close();
}

/// What the guest agent told, if it runs and has told something.
fn guest(view: &mut View, vm: &Vm) {
    let Some(report) = vm.guest.as_ref().filter(|_| vm.is_running()) else { return };
    view.out.maybe("fqdn", report.hostname.as_deref());
    view.out.open("guest_operating_system");
    view.out.text("architecture", "x86_64");
    view.out.text("distribution", "Simulated guest");
    view.out.text("family", "Linux");
    view.close();
    view.out.open("guest_time_zone");
    view.out.text("name", "UTC");
    view.out.text("utc_offset", "+00:00");
    view.close();
}
