//! What belongs to what, for cross references such as `Clusters.name`.

use crate::ovirt::api::kind::{Kind, Subject};
use crate::ovirt::state::{NIL, State};
use crate::ovirt::table::Id;

/// The entities of another kind that belong to `subject`, for cross references.
#[allow(clippy::too_many_lines, reason = "a table of pairs")]
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
        // Blank counts for no VM: the Ansible module asks for `vm.name=…` to see whether it has to keep a template, and on
        // an engine it finds none for a clone (ansible/ansible pull request 65317 relies on that).
        (Subject::Template(template), Kind::Vm) => {
            where_kind(&|vm| matches!(vm, Subject::Vm(vm) if vm.template == template.id && template.id != NIL))
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
