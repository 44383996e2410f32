//! The values that an entity has in a field.

use std::fmt::Display;

use crate::core::Instant;
use crate::ovirt::api::data_centers;
use crate::ovirt::api::kind::{Kind, Subject};
use crate::ovirt::model::{
    Cluster, DataCenter, Disk, DiskFormat, Event, Group, Host, InstanceType, Network, Severity, StorageDomain,
    Template, User, Vm, VnicProfile,
};
use crate::ovirt::state::State;
use crate::ovirt::table::{Entity, Id, Table};

/// A value that a search compares.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum<'s> {
    /// Text, compared with wildcards.
    Text(&'s str),
    /// Text that is made for the search.
    Made(String),
    /// A number.
    Number(f64),
    /// A point in time, in seconds.
    Time(i64),
}

/// What takes the values.
type Visit<'v, 's> = &'v mut dyn FnMut(Datum<'s>);

/// Gives every value that `subject` has in `field` to `visit`.
pub(super) fn visit<'s>(state: &'s State, subject: Subject<'s>, field: &str, visit: Visit<'_, 's>) {
    if field == "id" && subject.kind() != Kind::Event {
        return visit(made(&subject.id()));
    }
    match subject {
        Subject::Vm(row) => vm(state, row, field, visit),
        Subject::Template(row) => template(state, row, field, visit),
        Subject::InstanceType(row) => instance_type(row, field, visit),
        Subject::Disk(row) => disk(state, row, field, visit),
        Subject::Host(row) => host(state, row, field, visit),
        Subject::Cluster(row) => cluster(state, row, field, visit),
        Subject::DataCenter(row) => data_center(state, row, field, visit),
        Subject::StorageDomain(row) => storage_domain(state, row, field, visit),
        Subject::Network(row) => network(state, row, field, visit),
        Subject::VnicProfile(row) => vnic_profile(state, row, field, visit),
        Subject::User(row) => user(row, field, visit),
        Subject::Group(row) => group(row, field, visit),
        Subject::Event(row) => event(state, row, field, visit),
        Subject::Job(row) if field == "correlation_id" => visit(Datum::Text(&row.correlation)),
        _ => {}
    }
}

fn made<'s>(value: &dyn Display) -> Datum<'s> {
    Datum::Made(value.to_string())
}

fn template<'s>(state: &'s State, template: &'s Template, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&template.name)),
        "comment" => visit(Datum::Text(&template.comment)),
        "description" => visit(Datum::Text(&template.description)),
        "status" => visit(Datum::Text(template.status.as_str())),
        "os" => visit(Datum::Text(template.config.sub("os").and_then(|os| os.text("type")).unwrap_or_default())),
        "creationdate" => visit(time(state, template.created)),
        "childcount" => visit(number(template.dependants.len() as u64)),
        "mem" => visit(mebibytes(template.config.int("memory"))),
        "cluster" => name_of(&state.clusters, template.cluster, visit),
        "datacenter" => {
            name_of(&state.data_centers, template.cluster.and_then(|id| state.data_center_of(id)), visit);
        }
        "architecture" => visit(Datum::Text("x86_64")),
        "version_name" => visit(Datum::Text(&template.version.name)),
        "version_number" => visit(number(template.version.number.into())),
        "tag" => tags(state, &template.tags, visit),
        _ => {}
    }
}

fn instance_type<'s>(kind: &'s InstanceType, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&kind.name)),
        "description" => visit(Datum::Text(&kind.description)),
        "mem" => visit(mebibytes(kind.config.int("memory"))),
        _ => {}
    }
}

fn disk<'s>(state: &'s State, disk: &'s Disk, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" | "alias" => visit(Datum::Text(&disk.name)),
        "description" => visit(Datum::Text(&disk.description)),
        "status" => visit(Datum::Text(disk.status.as_str())),
        "disk_type" => visit(Datum::Text("image")),
        "disk_content_type" => visit(Datum::Text(&disk.content)),
        "provisioned_size" | "size" => visit(number(disk.provisioned_bytes >> 30)),
        "actual_size" => visit(number(disk.actual_bytes >> 30)),
        "creation_date" => visit(time(state, disk.created)),
        "shareable" => visit(flag(disk.shareable)),
        "wipe_after_delete" => visit(flag(disk.wipe_after_delete)),
        "allocation_policy" => visit(Datum::Text(if disk.sparse { "sparse" } else { "preallocated" })),
        "format" => visit(Datum::Text(if disk.format == DiskFormat::Cow { "cow" } else { "raw" })),
        "number_of_vms" => visit(number(disk.vms.len() as u64)),
        "vm_names" => disk.vms.iter().for_each(|vm| name_of(&state.vms, Some(*vm), visit)),
        "quota" => name_of(&state.quotas, disk.quota, visit),
        _ => {}
    }
}

fn host<'s>(state: &'s State, host: &'s Host, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&host.name)),
        "comment" => visit(Datum::Text(&host.comment)),
        "status" => visit(Datum::Text(host.status.as_str())),
        "external_status" => visit(Datum::Text("ok")),
        "cluster" => name_of(&state.clusters, Some(host.cluster), visit),
        "datacenter" => name_of(&state.data_centers, state.data_center_of(host.cluster), visit),
        "address" => visit(Datum::Text(&host.address)),
        "type" => visit(Datum::Text("rhel")),
        "hw_id" => visit(made(&host.id)),
        "cpus" => visit(number(host.cpus().into())),
        "memory" => visit(number(host.memory_bytes >> 20)),
        "active_vms" => visit(number(host.vms.len() as u64)),
        "architecture" => visit(Datum::Text("x86_64")),
        "tag" => tags(state, &host.tags, visit),
        _ => {}
    }
}

fn cluster<'s>(state: &'s State, cluster: &'s Cluster, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&cluster.name)),
        "description" => visit(Datum::Text(&cluster.description)),
        "comment" => visit(Datum::Text(&cluster.comment)),
        "datacenter" => name_of(&state.data_centers, Some(cluster.data_center), visit),
        "architecture" | "cpu_type" => {
            let part = if field == "cpu_type" { "type" } else { "architecture" };
            visit(Datum::Text(cluster.config.sub("cpu").and_then(|cpu| cpu.text(part)).unwrap_or_default()));
        }
        _ => {}
    }
}

fn data_center<'s>(state: &'s State, dc: &'s DataCenter, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&dc.name)),
        "description" => visit(Datum::Text(&dc.description)),
        "comment" => visit(Datum::Text(&dc.comment)),
        "status" => visit(Datum::Text(data_centers::status(state, dc))),
        "local" => visit(flag(dc.local)),
        _ => {}
    }
}

fn storage_domain<'s>(state: &'s State, domain: &'s StorageDomain, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&domain.name)),
        "description" => visit(Datum::Text(&domain.description)),
        "comment" => visit(Datum::Text(&domain.comment)),
        "status" | "shared_status" => visit(Datum::Text(domain.status.as_str())),
        "external_status" => visit(Datum::Text("ok")),
        "datacenter" => name_of(&state.data_centers, domain.data_center, visit),
        "type" => visit(Datum::Text(domain.storage.text("type").unwrap_or(&domain.kind))),
        "size" => visit(number(domain.available_bytes() >> 30)),
        "used" => visit(number(domain.used_bytes >> 30)),
        "committed" => visit(number(domain.committed_bytes >> 30)),
        "wipe_after_delete" => visit(flag(domain.wipe_after_delete)),
        "backup" => visit(flag(domain.backup)),
        _ => {}
    }
}

fn network<'s>(state: &'s State, network: &'s Network, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&network.name)),
        "description" => visit(Datum::Text(&network.description)),
        "comment" => visit(Datum::Text(&network.comment)),
        "datacenter" => name_of(&state.data_centers, Some(network.data_center), visit),
        "vlanid" => {
            visit(Datum::Text(network.config.sub("vlan").and_then(|vlan| vlan.text("id")).unwrap_or_default()));
        }
        "mtu" => {
            visit(number(network.config.int("mtu").and_then(|mtu| u64::try_from(mtu).ok()).unwrap_or_default()));
        }
        "stp" => visit(flag(network.config.bool("stp") == Some(true))),
        "vm_network" => visit(flag(network.for_vms)),
        _ => {}
    }
}

fn vnic_profile<'s>(state: &'s State, profile: &'s VnicProfile, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&profile.name)),
        "description" => visit(Datum::Text(&profile.description)),
        "network_name" => name_of(&state.networks, Some(profile.network), visit),
        "datacenter" => {
            let network = state.networks.get(profile.network);
            name_of(&state.data_centers, network.map(|network| network.data_center), visit);
        }
        _ => {}
    }
}

fn user<'s>(user: &'s User, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" | "firstname" => visit(Datum::Text(&user.name)),
        "lastname" => visit(Datum::Text(&user.last_name)),
        "login" => visit(Datum::Text(user.principal())),
        // People search for the name alone, Ansible for the name with its domain.
        "usrname" => {
            visit(Datum::Text(user.principal()));
            visit(made(&format_args!("{}@{}", user.principal(), user.domain)));
        }
        "user_and_domain" => visit(made(&format_args!("{}@{}", user.principal(), user.domain))),
        "directory" => visit(Datum::Text(&user.domain)),
        "type" => visit(Datum::Text("user")),
        _ => {}
    }
}

fn group<'s>(group: &'s Group, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&group.name)),
        "directory" => visit(Datum::Text(&group.domain)),
        _ => {}
    }
}

fn event<'s>(state: &'s State, event: &'s Event, field: &str, visit: Visit<'_, 's>) {
    match field {
        "type" => visit(number(event.code.into())),
        "severity" => {
            visit(Datum::Text(event.severity.as_str()));
            visit(number(severity(event.severity)));
        }
        "message" => visit(Datum::Text(&event.description)),
        "time" => visit(time(state, event.time)),
        "correlation_id" => visit(Datum::Text(&event.correlation)),
        "origin" => visit(Datum::Text(&event.origin)),
        "custom_event_id" => visit(made(&event.custom_id.unwrap_or(-1))),
        "usrname" => name_of(&state.users, event.user, visit),
        "event_vm" => name_of(&state.vms, event.about.vm, visit),
        "event_host" => name_of(&state.hosts, event.about.host, visit),
        "event_template" => name_of(&state.templates, event.about.template, visit),
        "event_storage" => name_of(&state.storage_domains, event.about.storage_domain, visit),
        "event_datacenter" => name_of(&state.data_centers, event.about.data_center, visit),
        "event_vm_id" => event.about.vm.iter().for_each(|id| visit(made(id))),
        "event_host_id" => event.about.host.iter().for_each(|id| visit(made(id))),
        "event_template_id" => event.about.template.iter().for_each(|id| visit(made(id))),
        _ => {}
    }
}

fn vm<'s>(state: &'s State, vm: &'s Vm, field: &str, visit: Visit<'_, 's>) {
    match field {
        "name" => visit(Datum::Text(&vm.name)),
        "comment" => visit(Datum::Text(&vm.comment)),
        "description" => visit(Datum::Text(&vm.description)),
        "status" => visit(Datum::Text(vm.status.as_str())),
        "cluster" => name_of(&state.clusters, Some(vm.cluster), visit),
        "datacenter" => name_of(&state.data_centers, state.data_center_of(vm.cluster), visit),
        "on_host" => name_of(&state.hosts, vm.host, visit),
        "tag" => tags(state, &vm.tags, visit),
        "type" => visit(Datum::Text(vm.config.text("type").unwrap_or_default())),
        "os" => visit(Datum::Text(vm.os_type())),
        "quota" => name_of(&state.quotas, vm.quota, visit),
        "memory" => visit(number(vm.memory_bytes() >> 20)),
        "guaranteed_memory" => visit(number(vm.guaranteed_bytes() >> 20)),
        "vcpus" => visit(number(vm.cpus().into())),
        "creationdate" => visit(time(state, vm.created)),
        "architecture" => visit(Datum::Text("x86_64")),
        "next_run_config_exists" => visit(flag(vm.next_run.is_some())),
        "has_illegal_images" => visit(flag(false)),
        "fqdn" => visit(Datum::Text(vm.guest.as_ref().and_then(|guest| guest.hostname.as_deref()).unwrap_or_default())),
        "ip" => {
            let interfaces = vm.guest.iter().flat_map(|guest| &guest.interfaces);
            interfaces.flat_map(|interface| &interface.addresses).for_each(|ip| visit(Datum::Made(ip.to_string())));
        }
        "uptime" => {
            let started = vm.started.filter(|_| vm.is_running());
            if let Some(started) = started {
                visit(number(state.now.0.saturating_sub(started.0).as_secs()));
            }
        }
        "cpu_usage" | "mem_usage" | "network_usage" => visit(number(0)),
        _ => {}
    }
}

fn name_of<'s, T: Entity>(table: &'s Table<T>, id: Option<Id>, visit: Visit<'_, 's>) {
    if let Some(row) = id.and_then(|id| table.get(id)) {
        visit(Datum::Text(row.name()));
    }
}

/// What has a tag has those above it too.
fn tags<'s>(state: &'s State, assigned: &[Id], visit: Visit<'_, 's>) {
    for tag in assigned.iter().flat_map(|tag| lineage(state, *tag)) {
        name_of(&state.tags, Some(tag), visit);
    }
}

/// A tag and the tags above it.
pub(super) fn lineage(state: &State, tag: Id) -> impl Iterator<Item = Id> {
    let parent = |tag: &Id| state.tags.get(*tag).and_then(|tag| tag.parent);
    std::iter::successors(Some(tag), parent).take(state.tags.len())
}

fn severity(severity: Severity) -> u64 {
    match severity {
        Severity::Normal => 0,
        Severity::Warning => 1,
        Severity::Error => 2,
        Severity::Alert => 10,
    }
}

#[allow(clippy::cast_precision_loss, reason = "numbers that people compare; 2^53 is exact")]
fn number<'s>(value: u64) -> Datum<'s> {
    Datum::Number(value as f64)
}

fn mebibytes<'s>(bytes: Option<i64>) -> Datum<'s> {
    number(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default() >> 20)
}

fn flag<'s>(value: bool) -> Datum<'s> {
    Datum::Text(if value { "true" } else { "false" })
}

fn time<'s>(state: &State, at: Instant) -> Datum<'s> {
    Datum::Time(state.timestamp(at).as_second())
}
