//! Hosts, and the collections under them.

use super::call::{Call, Done, Outcome};
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{permissions, statistics, tags};
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::hosts;
use crate::ovirt::model::{Host, Object, VmStatus};
use crate::ovirt::representation::types::HOST;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const LINKS: &[&str] = &[
    "affinitylabels",
    "devices",
    "fenceagents",
    "hooks",
    "networkattachments",
    "nics",
    "numanodes",
    "permissions",
    "statistics",
    "storage",
    "storageconnectionextensions",
    "tags",
    "unmanagednetworks",
];

/// Writes a host.
pub(crate) fn render(view: &mut View, element: &'static str, host: &Host) {
    let path = format_args!("hosts/{}", host.id);
    view.open(element, path, host.id);
    view.names(&host.name, &host.description, &host.comment);
    view.out.text("address", &host.address);
    view.out.text("auto_numa_status", "unknown");
    view.out.open("cpu");
    view.out.text("name", "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz");
    view.out.text("speed", "2100.0");
    view.out.open("topology");
    view.out.text("cores", host.cores);
    view.out.text("sockets", host.sockets);
    view.out.text("threads", host.threads);
    view.close();
    view.out.text("type", "Intel Cascadelake Server Family");
    view.close();
    flag(view, "device_passthrough", false);
    view.out.text("external_status", "ok");
    view.out.open("hardware_information");
    view.out.text("manufacturer", "Landfall");
    view.out.text("product_name", "Simulated host");
    view.out.text("uuid", host.id);
    view.close();
    view.out.text("kdump_status", "disabled");
    flag(view, "ksm", false);
    view.out.text("max_scheduling_memory", hosts::free_bytes(view.state, host));
    view.out.text("memory", host.memory_bytes);
    view.out.text("network_operation_in_progress", false);
    view.out.text("numa_supported", true);
    view.out.open("os");
    view.out.text("type", "RHEL");
    view.out.open("version");
    view.out.text("full_version", "9 - 4.el9");
    view.close();
    view.close();
    view.out.text("ovn_configured", true);
    view.out.text("port", 54321);
    flag(view, "power_management", false);
    view.out.text("protocol", "stomp");
    view.out.text("reinstallation_required", false);
    view.out.open("se_linux");
    view.out.text("mode", "enforcing");
    view.close();
    view.out.open("spm");
    view.out.text("priority", 5);
    view.out.text("status", if host.spm { "spm" } else { "none" });
    view.close();
    view.out.open("ssh");
    view.out.text("port", 22);
    view.close();
    view.out.text("status", host.status);
    summary(view, host);
    flag(view, "transparent_huge_pages", true);
    view.out.text("type", "rhel");
    view.out.text("update_available", false);
    view.out.open("version");
    view.out.text("full_version", "vdsm-4.50.5.1-1.el9");
    view.out.text("major", 4);
    view.out.text("minor", 50);
    view.close();
    view.out.text("vgpu_placement", "consolidated");
    view.reference("cluster", "clusters", host.cluster);
    view.links(path, LINKS);
    view.actions(path, &["activate", "deactivate"]);
    view.close();
}

fn flag(view: &mut View, name: &'static str, enabled: bool) {
    view.out.open(name);
    view.out.text("enabled", enabled);
    view.close();
}

fn summary(view: &mut View, host: &Host) {
    let state = view.state;
    let count = |wanted: fn(VmStatus) -> bool| {
        host.vms.keys().filter(|id| state.vms.get(**id).is_some_and(|vm| wanted(vm.status))).count()
    };
    view.out.open("summary");
    view.out.text("active", count(|status| status == VmStatus::Up));
    view.out.text("migrating", count(|status| status == VmStatus::Migrating));
    view.out.text("total", host.vms.len());
    view.close();
}

/// A host, or what is under it.
pub(crate) fn at<'s>(state: &'s State, host: &'s Host, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Host(host))),
        ["statistics", rest @ ..] => statistics::of_host(host, rest),
        ["tags", rest @ ..] => tags::assigned(state, format!("hosts/{}", host.id), &host.tags, rest),
        ["permissions", rest @ ..] => permissions::of(state, Object::Host(host.id), rest),
        ["affinitylabels"] => {
            let labels = state.affinity_labels.iter().filter(|label| label.hosts.contains(&host.id));
            Ok(Found::subjects(Kind::AffinityLabel, labels.map(Subject::AffinityLabel).collect()))
        }
        ["nics"] => Ok(Found::list("host_nics", "host_nic", move |view| nic(view, "host_nic", host))),
        ["nics", id] if *id == nic_id(host).to_string() => {
            Ok(Found::item("host_nic", move |view, element| nic(view, element, host)))
        }
        ["networkattachments"] => Ok(Found::nothing("network_attachments", "network_attachment")),
        ["devices"] => Ok(Found::nothing("host_devices", "host_device")),
        ["fenceagents"] => Ok(Found::nothing("agents", "agent")),
        ["hooks"] => Ok(Found::nothing("hooks", "hook")),
        ["numanodes"] => Ok(Found::nothing("host_numa_nodes", "host_numa_node")),
        ["storage"] => Ok(Found::nothing("host_storages", "host_storage")),
        ["storageconnectionextensions"] => {
            Ok(Found::nothing("storage_connection_extensions", "storage_connection_extension"))
        }
        ["unmanagednetworks"] => Ok(Found::nothing("unmanaged_networks", "unmanaged_network")),
        _ => Err(Fault::not_found()),
    }
}

/// A host has one interface, which carries the management network.
fn nic(view: &mut View, element: &'static str, host: &Host) {
    view.open(element, format_args!("hosts/{}/nics/{}", host.id, nic_id(host)), nic_id(host));
    view.out.text("name", "eno1");
    view.out.text("boot_protocol", "dhcp");
    view.out.text("bridged", true);
    view.out.open("ip");
    view.out.text("address", &host.address);
    view.close();
    view.out.text("mtu", 1500);
    view.out.text("speed", 10_000_000_000_u64);
    view.out.text("status", "up");
    view.reference("host", "hosts", host.id);
    if let Some(cluster) = view.state.clusters.get(host.cluster) {
        view.reference("network", "networks", cluster.management_network);
    }
    view.close();
}

fn nic_id(host: &Host) -> Id {
    Id::from_u128(host.id.as_u128() ^ 0x1)
}

/// Changes what a client may change of a host.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&HOST)?;
    if let Some(name) = tree.text("name") {
        call.state.hosts.rename(id, name);
    }
    let host = call.state.hosts.get_mut(id).ok_or_else(Fault::not_found)?;
    tree.update("comment", &mut host.comment);
    tree.update("description", &mut host.description);
    Ok(Done::Updated { path: format!("hosts/{id}") })
}

/// `activate` and `deactivate`.
pub(crate) fn act(call: &mut Call, id: Id, action: &str) -> Outcome {
    call.read_action()?;
    match action {
        "activate" => hosts::activate(call.state, id)?,
        "deactivate" => hosts::deactivate(call.state, id)?,
        _ => return Err(Fault::not_found()),
    }
    Ok(Done::Acted { job: None, pending: false })
}
