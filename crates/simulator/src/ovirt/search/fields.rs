//! The fields that each kind can be searched by, and the values that an entity has in them.

use std::fmt::Display;

use crate::ovirt::api::data_centers;
use crate::ovirt::api::kind::{Kind, Subject};
use crate::ovirt::model::{DiskFormat, Severity, Vm};
use crate::ovirt::state::State;
use crate::ovirt::table::{Entity, Id};

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

/// The fields that a kind can be searched by; `None` if it cannot be searched.
pub(super) fn fields(kind: Kind) -> Option<&'static [&'static str]> {
    Some(match kind {
        Kind::Vm => &[
            "name",
            "comment",
            "description",
            "status",
            "ip",
            "on_host",
            "fqdn",
            "os",
            "creationdate",
            "memory",
            "guaranteed_memory",
            "vcpus",
            "cluster",
            "tag",
            "datacenter",
            "type",
            "quota",
            "id",
            "architecture",
            "next_run_config_exists",
            "has_illegal_images",
            "uptime",
            "cpu_usage",
            "mem_usage",
            "network_usage",
        ],
        Kind::Template => &[
            "name",
            "comment",
            "description",
            "status",
            "os",
            "creationdate",
            "childcount",
            "mem",
            "cluster",
            "datacenter",
            "quota",
            "architecture",
            "version_name",
            "version_number",
            "tag",
            "id",
            "sealed",
        ],
        Kind::InstanceType => &["name", "description", "os", "mem", "id"],
        Kind::Disk => &[
            "name",
            "alias",
            "description",
            "id",
            "status",
            "disk_type",
            "disk_content_type",
            "provisioned_size",
            "size",
            "actual_size",
            "creation_date",
            "shareable",
            "allocation_policy",
            "number_of_vms",
            "vm_names",
            "quota",
            "wipe_after_delete",
            "format",
        ],
        Kind::Host => &[
            "name",
            "comment",
            "status",
            "external_status",
            "cluster",
            "address",
            "datacenter",
            "tag",
            "type",
            "id",
            "hw_id",
            "cpus",
            "memory",
            "active_vms",
            "architecture",
            "spm_id",
        ],
        Kind::Cluster => &["name", "description", "comment", "architecture", "cpu_type", "id", "datacenter"],
        Kind::DataCenter => &["name", "description", "comment", "status", "local", "id"],
        Kind::StorageDomain => &[
            "name",
            "description",
            "comment",
            "status",
            "shared_status",
            "external_status",
            "datacenter",
            "type",
            "size",
            "used",
            "committed",
            "id",
            "wipe_after_delete",
            "backup",
        ],
        Kind::Network => &["name", "description", "comment", "datacenter", "vlanid", "mtu", "stp", "vm_network", "id"],
        Kind::VnicProfile => &["name", "description", "network_name", "datacenter", "id"],
        Kind::User => {
            &["name", "firstname", "lastname", "login", "usrname", "user_and_domain", "directory", "type", "id"]
        }
        Kind::Group => &["name", "directory", "id"],
        Kind::Event => &[
            "type",
            "severity",
            "message",
            "time",
            "usrname",
            "event_host",
            "event_vm",
            "event_template",
            "event_storage",
            "event_datacenter",
            "correlation_id",
            "origin",
            "custom_event_id",
            "event_vm_id",
            "event_host_id",
            "event_template_id",
        ],
        Kind::Job => &["correlation_id"],
        Kind::Permission
        | Kind::Role
        | Kind::Tag
        | Kind::Transfer
        | Kind::AffinityLabel
        | Kind::Bookmark
        | Kind::CpuProfile
        | Kind::DiskProfile => return None,
    })
}

/// The kind that a cross reference names, in the singular or the plural, whatever the case.
pub(super) fn object(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    Some(match name.strip_suffix('s').unwrap_or(&name) {
        "vm" => Kind::Vm,
        "host" => Kind::Host,
        "cluster" => Kind::Cluster,
        "datacenter" => Kind::DataCenter,
        "storage" => Kind::StorageDomain,
        "template" => Kind::Template,
        "disk" => Kind::Disk,
        "network" => Kind::Network,
        "user" => Kind::User,
        "event" => Kind::Event,
        "vnicprofile" => Kind::VnicProfile,
        _ => return None,
    })
}

/// Gives every value that `subject` has in `field` to `visit`.
pub(super) fn visit<'s>(state: &'s State, subject: Subject<'s>, field: &str, visit: &mut dyn FnMut(Datum<'s>)) {
    let made = |value: &dyn Display| Datum::Made(value.to_string());
    if let ("id", kind) = (field, subject.kind())
        && kind != Kind::Event
    {
        return visit(made(&subject.id()));
    }
    match subject {
        Subject::Vm(vm) => visit_vm(state, vm, field, visit),
        Subject::Template(template) => match field {
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
        },
        Subject::InstanceType(kind) => match field {
            "name" => visit(Datum::Text(&kind.name)),
            "description" => visit(Datum::Text(&kind.description)),
            "mem" => visit(mebibytes(kind.config.int("memory"))),
            _ => {}
        },
        Subject::Disk(disk) => match field {
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
        },
        Subject::Host(host) => match field {
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
        },
        Subject::Cluster(cluster) => match field {
            "name" => visit(Datum::Text(&cluster.name)),
            "description" => visit(Datum::Text(&cluster.description)),
            "comment" => visit(Datum::Text(&cluster.comment)),
            "datacenter" => name_of(&state.data_centers, Some(cluster.data_center), visit),
            "architecture" | "cpu_type" => {
                let part = if field == "cpu_type" { "type" } else { "architecture" };
                visit(Datum::Text(cluster.config.sub("cpu").and_then(|cpu| cpu.text(part)).unwrap_or_default()));
            }
            _ => {}
        },
        Subject::DataCenter(dc) => match field {
            "name" => visit(Datum::Text(&dc.name)),
            "description" => visit(Datum::Text(&dc.description)),
            "comment" => visit(Datum::Text(&dc.comment)),
            "status" => visit(Datum::Text(data_centers::status(state, dc))),
            "local" => visit(flag(dc.local)),
            _ => {}
        },
        Subject::StorageDomain(domain) => match field {
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
        },
        Subject::Network(network) => match field {
            "name" => visit(Datum::Text(&network.name)),
            "description" => visit(Datum::Text(&network.description)),
            "comment" => visit(Datum::Text(&network.comment)),
            "datacenter" => name_of(&state.data_centers, Some(network.data_center), visit),
            "vlanid" => {
                visit(Datum::Text(network.config.sub("vlan").and_then(|vlan| vlan.text("id")).unwrap_or_default()))
            }
            "mtu" => {
                visit(number(network.config.int("mtu").and_then(|mtu| u64::try_from(mtu).ok()).unwrap_or_default()))
            }
            "stp" => visit(flag(network.config.bool("stp") == Some(true))),
            "vm_network" => visit(flag(network.vm_network)),
            _ => {}
        },
        Subject::VnicProfile(profile) => match field {
            "name" => visit(Datum::Text(&profile.name)),
            "description" => visit(Datum::Text(&profile.description)),
            "network_name" => name_of(&state.networks, Some(profile.network), visit),
            "datacenter" => {
                let network = state.networks.get(profile.network);
                name_of(&state.data_centers, network.map(|network| network.data_center), visit);
            }
            _ => {}
        },
        Subject::User(user) => match field {
            "name" | "firstname" => visit(Datum::Text(&user.name)),
            "lastname" => visit(Datum::Text(&user.last_name)),
            "login" | "usrname" => visit(Datum::Text(user.principal())),
            "user_and_domain" => visit(made(&format_args!("{}@{}", user.principal(), user.domain))),
            "directory" => visit(Datum::Text(&user.domain)),
            "type" => visit(Datum::Text("user")),
            _ => {}
        },
        Subject::Group(group) => match field {
            "name" => visit(Datum::Text(&group.name)),
            "directory" => visit(Datum::Text(&group.domain)),
            _ => {}
        },
        Subject::Event(event) => match field {
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
        },
        Subject::Job(job) => {
            if field == "correlation_id" {
                visit(Datum::Text(&job.correlation));
            }
        }
        _ => {}
    }
}

fn visit_vm<'s>(state: &'s State, vm: &'s Vm, field: &str, visit: &mut dyn FnMut(Datum<'s>)) {
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
            started.iter().for_each(|started| visit(number(state.now.0.saturating_sub(started.0).as_secs())));
        }
        "cpu_usage" | "mem_usage" | "network_usage" => visit(number(0)),
        _ => {}
    }
}

/// The entities of another kind that belong to `subject`, for cross references.
pub(super) fn related<'s>(state: &'s State, subject: Subject<'s>, kind: Kind) -> Vec<Subject<'s>> {
    let one = |kind: Kind, id: Option<Id>| id.and_then(|id| kind.get(state, id)).into_iter().collect::<Vec<_>>();
    let where_kind = |wanted: &dyn Fn(Subject) -> bool| kind.all(state).filter(|other| wanted(*other)).collect();
    match (subject, kind) {
        (Subject::Vm(vm), Kind::Host) => one(kind, vm.host),
        (Subject::Vm(vm), Kind::Cluster) => one(kind, Some(vm.cluster)),
        (Subject::Vm(vm), Kind::DataCenter) => one(kind, state.data_center_of(vm.cluster)),
        (Subject::Vm(vm), Kind::Template) => one(kind, Some(vm.template)),
        (Subject::Vm(vm), Kind::Disk) => vm.disks.iter().flat_map(|disk| one(kind, Some(disk.disk))).collect(),
        (Subject::Vm(vm), Kind::StorageDomain) => {
            let disks = vm.disks.iter().filter_map(|disk| state.disks.get(disk.disk));
            disks.flat_map(|disk| disk.storage_domains.iter().flat_map(|id| one(kind, Some(*id)))).collect()
        }
        (Subject::Template(template), Kind::Cluster) => one(kind, template.cluster),
        (Subject::Template(template), Kind::DataCenter) => {
            one(kind, template.cluster.and_then(|cluster| state.data_center_of(cluster)))
        }
        (Subject::Template(template), Kind::Vm) => {
            where_kind(&|vm| matches!(vm, Subject::Vm(vm) if vm.template == template.id))
        }
        (Subject::Template(template), Kind::StorageDomain) => {
            let disks = template.disks.iter().filter_map(|disk| state.disks.get(disk.disk));
            disks.flat_map(|disk| disk.storage_domains.iter().flat_map(|id| one(kind, Some(*id)))).collect()
        }
        (Subject::Disk(disk), Kind::StorageDomain) => {
            disk.storage_domains.iter().flat_map(|id| one(kind, Some(*id))).collect()
        }
        (Subject::Disk(disk), Kind::Vm) => disk.vms.iter().flat_map(|id| one(kind, Some(*id))).collect(),
        (Subject::Disk(disk), Kind::Template) => one(kind, disk.template),
        (Subject::Disk(disk), Kind::DataCenter) => {
            let domains = disk.storage_domains.iter().filter_map(|id| state.storage_domains.get(*id));
            domains.flat_map(|domain| one(kind, domain.data_center)).collect()
        }
        (Subject::Host(host), Kind::Cluster) => one(kind, Some(host.cluster)),
        (Subject::Host(host), Kind::DataCenter) => one(kind, state.data_center_of(host.cluster)),
        (Subject::Host(host), Kind::Vm) => host.vms.keys().flat_map(|id| one(kind, Some(*id))).collect(),
        (Subject::Host(host), Kind::StorageDomain) => {
            let dc = state.data_center_of(host.cluster);
            where_kind(&|domain| matches!(domain, Subject::StorageDomain(domain) if domain.data_center == dc))
        }
        (Subject::Cluster(cluster), Kind::DataCenter) => one(kind, Some(cluster.data_center)),
        (Subject::Cluster(cluster), Kind::Host) => {
            where_kind(&|host| matches!(host, Subject::Host(host) if host.cluster == cluster.id))
        }
        (Subject::Cluster(cluster), Kind::Vm) => {
            where_kind(&|vm| matches!(vm, Subject::Vm(vm) if vm.cluster == cluster.id))
        }
        (Subject::Cluster(cluster), Kind::StorageDomain) => where_kind(
            &|domain| matches!(domain, Subject::StorageDomain(domain) if domain.data_center == Some(cluster.data_center)),
        ),
        (Subject::Cluster(cluster), Kind::Network) => {
            cluster.networks.iter().flat_map(|id| one(kind, Some(*id))).collect()
        }
        (Subject::DataCenter(dc), Kind::Cluster) => {
            where_kind(&|cluster| matches!(cluster, Subject::Cluster(cluster) if cluster.data_center == dc.id))
        }
        (Subject::DataCenter(dc), Kind::StorageDomain) => {
            where_kind(&|domain| matches!(domain, Subject::StorageDomain(domain) if domain.data_center == Some(dc.id)))
        }
        (Subject::DataCenter(dc), Kind::Network) => {
            where_kind(&|network| matches!(network, Subject::Network(network) if network.data_center == dc.id))
        }
        (Subject::StorageDomain(domain), Kind::DataCenter) => one(kind, domain.data_center),
        (Subject::StorageDomain(domain), Kind::Cluster) => where_kind(
            &|cluster| matches!(cluster, Subject::Cluster(cluster) if Some(cluster.data_center) == domain.data_center),
        ),
        (Subject::StorageDomain(domain), Kind::Disk) => {
            where_kind(&|disk| matches!(disk, Subject::Disk(disk) if disk.storage_domains.contains(&domain.id)))
        }
        (Subject::StorageDomain(domain), Kind::Host) => where_kind(
            &|host| matches!(host, Subject::Host(host) if state.data_center_of(host.cluster) == domain.data_center),
        ),
        (Subject::StorageDomain(domain), Kind::Vm) => where_kind(&|vm| match vm {
            Subject::Vm(vm) => vm
                .disks
                .iter()
                .any(|disk| state.disks.get(disk.disk).is_some_and(|disk| disk.storage_domains.contains(&domain.id))),
            _ => false,
        }),
        (Subject::StorageDomain(domain), Kind::Template) => where_kind(&|template| match template {
            Subject::Template(template) => template
                .disks
                .iter()
                .any(|disk| state.disks.get(disk.disk).is_some_and(|disk| disk.storage_domains.contains(&domain.id))),
            _ => false,
        }),
        (Subject::Network(network), Kind::DataCenter) => one(kind, Some(network.data_center)),
        (Subject::Network(network), Kind::Cluster) => where_kind(
            &|cluster| matches!(cluster, Subject::Cluster(cluster) if cluster.networks.contains(&network.id)),
        ),
        (Subject::VnicProfile(profile), Kind::Network) => one(kind, Some(profile.network)),
        (Subject::Event(event), Kind::Vm) => one(kind, event.about.vm),
        (Subject::Event(event), Kind::Host) => one(kind, event.about.host),
        (Subject::Event(event), Kind::Template) => one(kind, event.about.template),
        (Subject::Event(event), Kind::User) => one(kind, event.user),
        (Subject::Event(event), Kind::StorageDomain) => one(kind, event.about.storage_domain),
        (subject, kind) if subject.kind() == kind => vec![subject],
        _ => Vec::new(),
    }
}

fn name_of<'s, T: Entity>(table: &'s crate::ovirt::table::Table<T>, id: Option<Id>, visit: &mut dyn FnMut(Datum<'s>)) {
    if let Some(row) = id.and_then(|id| table.get(id)) {
        visit(Datum::Text(row.name()));
    }
}

/// What has a tag has those above it too.
fn tags<'s>(state: &'s State, assigned: &[Id], visit: &mut dyn FnMut(Datum<'s>)) {
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

fn time<'s>(state: &State, at: crate::core::Instant) -> Datum<'s> {
    Datum::Time(state.timestamp(at).as_second())
}
