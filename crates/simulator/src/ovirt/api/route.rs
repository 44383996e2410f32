//! The addresses of the API: what each leads to, and what can be changed there.

use super::access::Access;
use super::affinity_groups::Set;
use super::call::{Call, Outcome};
use super::found::{Found, Lookup, parse_id};
use super::kind::{Kind, Subject};
use super::{
    affinity_groups, affinity_labels, bookmarks, catalogue, clusters, cpu_profiles, creation, data_centers, devices,
    disk_attachments, disk_profiles, disks, events, graphics_consoles, groups, hosts, image_transfers, instance_types,
    jobs, networks, nics, permissions, quotas, roles, root, snapshots, storage_domains, tags, templates, users, vms,
    vnic_profiles,
};
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Holder, Object};
use crate::ovirt::search;
use crate::ovirt::state::State;

/// What is at an address.
pub(crate) fn find<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::item("api", root::render)),
        [.., "creation_status", job] => creation::status(state, job),
        ["clusterlevels", rest @ ..] => catalogue::cluster_levels(state, rest),
        ["domains", rest @ ..] => catalogue::domains(state, rest),
        ["events", rest @ ..] if !rest.is_empty() => events::at(state, rest),
        ["externalhostproviders"] => Ok(Found::nothing("external_host_providers", "external_host_provider")),
        ["icons"] => Ok(Found::nothing("icons", "icon")),
        ["macpools", rest @ ..] => catalogue::mac_pools(state, rest),
        ["networkfilters", rest @ ..] => catalogue::network_filters(rest),
        ["openstackimageproviders"] => Ok(Found::nothing("openstack_image_providers", "openstack_image_provider")),
        ["operatingsystems", rest @ ..] => catalogue::operating_systems(rest),
        ["schedulingpolicies", rest @ ..] => catalogue::scheduling_policies(rest),
        ["vmpools"] => Ok(Found::nothing("vm_pools", "vm_pool")),
        [path, rest @ ..] => {
            let kind = Kind::at(path).ok_or_else(Fault::not_found)?;
            let Some((id, rest)) = rest.split_first() else { return Ok(search::collection(state, kind)) };
            if let [action, _] = rest
                && vms::ACTIONS.contains(action)
            {
                return creation::action(state, rest);
            }
            under(state, super::found::subject(state, kind, id)?, rest)
        }
    }
}

/// An entity of a collection at the root, or what is under it.
fn under<'s>(state: &'s State, subject: Subject<'s>, rest: &[&str]) -> Lookup<'s> {
    match subject {
        Subject::AffinityLabel(label) => affinity_labels::at(state, label, rest),
        Subject::Bookmark(bookmark) => bookmarks::at(bookmark, rest),
        Subject::Cluster(cluster) => clusters::at(state, cluster, rest),
        Subject::CpuProfile(profile) => cpu_profiles::at(state, profile, rest),
        Subject::DataCenter(dc) if rest.is_empty() => Ok(Found::subject(Subject::DataCenter(dc))),
        Subject::DataCenter(dc) => data_centers::sub(state, dc, rest),
        Subject::DiskProfile(profile) => disk_profiles::at(state, profile, rest),
        Subject::Disk(disk) => disks::at(state, disk, rest),
        Subject::Group(group) => groups::at(state, group, rest),
        Subject::Host(host) => hosts::at(state, host, rest),
        Subject::Transfer(transfer) => image_transfers::at(transfer, rest),
        Subject::InstanceType(kind) => instance_types::at(kind, rest),
        Subject::Job(job) => jobs::at(job, rest),
        Subject::Network(network) => networks::at(state, network, rest),
        Subject::Permission(permission) => permissions::at(permission, rest),
        Subject::Role(role) => roles::at(role, rest),
        Subject::StorageDomain(domain) => storage_domains::at(state, domain, rest),
        Subject::Tag(tag) => tags::at(tag, rest),
        Subject::Template(template) => templates::at(state, template, rest),
        Subject::User(user) => users::at(state, user, rest),
        Subject::Vm(vm) => vms::at(state, vm, rest),
        Subject::VnicProfile(profile) => vnic_profiles::at(state, profile, rest),
        Subject::Event(_) => Err(Fault::not_found()),
    }
}

/// Whether the caller may see what is at an address: it may if it may see the entity at the address's beginning.
pub(crate) fn is_visible(state: &State, access: &Access, parts: &[&str]) -> bool {
    let [path, id, ..] = parts else { return true };
    let subject = Kind::at(path).and_then(|kind| super::found::subject(state, kind, id).ok());
    subject.is_none_or(|subject| access.sees(state, subject))
}

/// Changes what is at an address. An address that is there but cannot be changed so is another fault than one that is
/// not there.
pub(crate) fn change(call: &mut Call, method: &str, parts: &[&str]) -> Outcome {
    match method {
        "POST" => post(call, parts),
        "PUT" => put(call, parts),
        "DELETE" => delete(call, parts),
        _ => Err(Fault::method_not_allowed()),
    }
}

fn post(call: &mut Call, parts: &[&str]) -> Outcome {
    match parts {
        ["affinitylabels"] => affinity_labels::add(call),
        ["affinitylabels", id, "vms"] => affinity_labels::add_member(call, parse_id(id)?, Kind::Vm),
        ["affinitylabels", id, "hosts"] => affinity_labels::add_member(call, parse_id(id)?, Kind::Host),
        ["bookmarks"] => bookmarks::add(call),
        ["clusters"] => clusters::add(call),
        ["clusters", id, "networks"] => clusters::add_network(call, existing(call, Kind::Cluster, id)?),
        ["clusters", id, "affinitygroups"] => affinity_groups::add(call, existing(call, Kind::Cluster, id)?),
        ["clusters", _, "affinitygroups", id, set] => affinity_groups::add_member(call, parse_id(id)?, set_at(set)?),
        ["datacenters"] => data_centers::add(call),
        ["datacenters", id, "networks"] => networks::add(call, Some(existing(call, Kind::DataCenter, id)?)),
        ["datacenters", id, "quotas"] => quotas::add(call, existing(call, Kind::DataCenter, id)?),
        ["datacenters", _, "quotas", id, limits @ ("quotaclusterlimits" | "quotastoragelimits")] => {
            quotas::add_limit(call, parse_id(id)?, limits)
        }
        ["datacenters", _, "storagedomains", id, action] => storage_domains::act(call, parse_id(id)?, action),
        ["disks"] => disks::add(call),
        ["disks", id, action] if *action != "permissions" => disks::act(call, existing(call, Kind::Disk, id)?, action),
        ["events"] => events::add(call),
        ["hosts", id, "tags"] => tags::assign(call, Kind::Host, existing(call, Kind::Host, id)?),
        ["hosts", id, "affinitylabels"] => affinity_labels::assign(call, Kind::Host, existing(call, Kind::Host, id)?),
        ["hosts", id, action @ ("activate" | "deactivate")] => {
            hosts::act(call, existing(call, Kind::Host, id)?, action)
        }
        ["imagetransfers"] => image_transfers::add(call),
        ["imagetransfers", id, action] => image_transfers::act(call, parse_id(id)?, action),
        ["instancetypes"] => instance_types::add(call),
        ["jobs"] => jobs::add(call),
        ["jobs", id, "steps"] => jobs::add_step(call, existing(call, Kind::Job, id)?),
        ["jobs", id, action] => jobs::act(call, existing(call, Kind::Job, id)?, None, action),
        ["jobs", id, "steps", step, action] => {
            jobs::act(call, existing(call, Kind::Job, id)?, Some(parse_id(step)?), action)
        }
        ["networks"] => networks::add(call, None),
        ["networks", id, "vnicprofiles"] => vnic_profiles::add(call, Some(existing(call, Kind::Network, id)?)),
        ["permissions"] => permissions::add(call, Object::System),
        ["storagedomains", id, action] if *action != "permissions" => storage_domains::act(call, parse_id(id)?, action),
        ["tags"] => tags::add(call),
        ["templates"] => templates::add(call),
        ["templates", id, "tags"] => tags::assign(call, Kind::Template, existing(call, Kind::Template, id)?),
        ["users"] => users::add(call),
        ["users", id, "permissions"] => {
            let user = existing(call, Kind::User, id)?;
            permissions::add_for(call, Holder::User(user))
        }
        ["vms"] => vms::add(call),
        ["vms", id, rest @ ..] => {
            let vm = existing(call, Kind::Vm, id)?;
            match rest {
                ["affinitylabels"] => affinity_labels::assign(call, Kind::Vm, vm),
                ["diskattachments"] => disk_attachments::add(call, vm),
                ["graphicsconsoles"] => graphics_consoles::add(call, vm),
                ["nics"] => nics::add(call, vm),
                ["nics", nic, "networkfilterparameters"] => nics::add_parameter(call, vm, parse_id(nic)?),
                ["nics", nic, action @ ("activate" | "deactivate")] => nics::act(call, vm, parse_id(nic)?, action),
                ["snapshots"] => snapshots::add(call, vm),
                ["snapshots", snapshot, "restore"] => snapshots::restore(call, vm, parse_id(snapshot)?),
                ["tags"] => tags::assign(call, Kind::Vm, vm),
                ["watchdogs"] => devices::add_watchdog(call, vm),
                [action] if vms::ACTIONS.contains(action) => vms::act(call, vm, action),
                _ => grant(call, parts),
            }
        }
        ["vnicprofiles"] => vnic_profiles::add(call, None),
        _ => grant(call, parts),
    }
}

/// Everything with permissions takes new ones in the same way.
fn grant(call: &mut Call, parts: &[&str]) -> Outcome {
    let [path, id, "permissions"] = parts else { return Err(unchangeable(call, parts)) };
    let kind = Kind::at(path).ok_or_else(Fault::not_found)?;
    let id = existing(call, kind, id)?;
    let object = match kind {
        Kind::Cluster => Object::Cluster(id),
        Kind::CpuProfile => Object::CpuProfile(id),
        Kind::DataCenter => Object::DataCenter(id),
        Kind::Disk => Object::Disk(id),
        Kind::DiskProfile => Object::DiskProfile(id),
        Kind::Host => Object::Host(id),
        Kind::Network => Object::Network(id),
        Kind::StorageDomain => Object::StorageDomain(id),
        Kind::Template => Object::Template(id),
        Kind::Vm => Object::Vm(id),
        Kind::VnicProfile => Object::VnicProfile(id),
        _ => return Err(unchangeable(call, parts)),
    };
    permissions::add(call, object)
}

fn put(call: &mut Call, parts: &[&str]) -> Outcome {
    match parts {
        ["affinitylabels", id] => affinity_labels::update(call, existing(call, Kind::AffinityLabel, id)?),
        ["bookmarks", id] => bookmarks::update(call, existing(call, Kind::Bookmark, id)?),
        ["clusters", id] => clusters::update(call, existing(call, Kind::Cluster, id)?),
        ["clusters", cluster, "affinitygroups", id] => {
            affinity_groups::update(call, existing(call, Kind::Cluster, cluster)?, parse_id(id)?)
        }
        ["datacenters", id] => data_centers::update(call, existing(call, Kind::DataCenter, id)?),
        ["datacenters", _, "quotas", id] => quotas::update(call, parse_id(id)?),
        ["disks", id] => disks::update(call, existing(call, Kind::Disk, id)?),
        ["hosts", id] => hosts::update(call, existing(call, Kind::Host, id)?),
        ["instancetypes", id] => instance_types::update(call, existing(call, Kind::InstanceType, id)?),
        ["networks", id] | ["datacenters", _, "networks", id] => {
            networks::update(call, existing(call, Kind::Network, id)?)
        }
        ["storagedomains", id] => storage_domains::update(call, existing(call, Kind::StorageDomain, id)?),
        ["tags", id] => tags::update(call, existing(call, Kind::Tag, id)?),
        ["templates", id] => templates::update(call, existing(call, Kind::Template, id)?),
        ["vms", id] => vms::update(call, existing(call, Kind::Vm, id)?),
        ["vms", vm, "cdroms", id] => devices::update_cdrom(call, existing(call, Kind::Vm, vm)?, parse_id(id)?),
        ["vms", vm, "diskattachments", id] => {
            disk_attachments::update(call, existing(call, Kind::Vm, vm)?, parse_id(id)?)
        }
        ["vms", vm, "nics", id] => nics::update(call, existing(call, Kind::Vm, vm)?, parse_id(id)?),
        ["vnicprofiles", id] => vnic_profiles::update(call, existing(call, Kind::VnicProfile, id)?),
        _ => Err(unchangeable(call, parts)),
    }
}

#[allow(clippy::match_same_arms, reason = "one line per address")]
fn delete(call: &mut Call, parts: &[&str]) -> Outcome {
    match parts {
        ["affinitylabels", id] => affinity_labels::remove(call, parse_id(id)?),
        ["affinitylabels", id, "vms", vm] => {
            affinity_labels::remove_member(call, parse_id(id)?, Kind::Vm, parse_id(vm)?)
        }
        ["affinitylabels", id, "hosts", host] => {
            affinity_labels::remove_member(call, parse_id(id)?, Kind::Host, parse_id(host)?)
        }
        ["bookmarks", id] => bookmarks::remove(call, parse_id(id)?),
        ["clusters", id] => clusters::remove(call, existing(call, Kind::Cluster, id)?),
        ["clusters", id, "networks", network] => clusters::remove_network(call, parse_id(id)?, parse_id(network)?),
        ["clusters", _, "affinitygroups", id] => affinity_groups::remove(call, parse_id(id)?),
        ["clusters", _, "affinitygroups", id, set, member] => {
            affinity_groups::remove_member(call, parse_id(id)?, set_at(set)?, parse_id(member)?)
        }
        ["datacenters", id] => data_centers::remove(call, existing(call, Kind::DataCenter, id)?),
        ["datacenters", _, "quotas", id] => quotas::remove(call, parse_id(id)?),
        ["datacenters", _, "quotas", id, "quotaclusterlimits" | "quotastoragelimits", limit] => {
            quotas::remove_limit(call, parse_id(id)?, parse_id(limit)?)
        }
        ["disks", id] | ["storagedomains", _, "disks", id] => disks::remove(call, existing(call, Kind::Disk, id)?),
        ["events", id] => events::remove(call, id),
        ["hosts", id, "tags", tag] => tags::unassign(call, Kind::Host, parse_id(id)?, parse_id(tag)?),
        ["hosts", id, "affinitylabels", label] => {
            affinity_labels::remove_member(call, parse_id(label)?, Kind::Host, parse_id(id)?)
        }
        ["instancetypes", id] => instance_types::remove(call, parse_id(id)?),
        ["networks", id] | ["datacenters", _, "networks", id] => {
            networks::remove(call, existing(call, Kind::Network, id)?)
        }
        ["permissions", id] | [_, _, "permissions", id] => permissions::remove(call, parse_id(id)?),
        ["tags", id] => tags::remove(call, existing(call, Kind::Tag, id)?),
        ["templates", id] => templates::remove(call, existing(call, Kind::Template, id)?),
        ["templates", id, "tags", tag] => tags::unassign(call, Kind::Template, parse_id(id)?, parse_id(tag)?),
        ["users", id] => users::remove(call, existing(call, Kind::User, id)?),
        ["vms", id] => vms::remove(call, existing(call, Kind::Vm, id)?),
        ["vms", vm, "affinitylabels", id] => {
            affinity_labels::remove_member(call, parse_id(id)?, Kind::Vm, parse_id(vm)?)
        }
        ["vms", vm, "diskattachments", id] => disk_attachments::remove(call, parse_id(vm)?, parse_id(id)?),
        ["vms", vm, "graphicsconsoles", id] => graphics_consoles::remove(call, parse_id(vm)?, id),
        ["vms", vm, "nics", id] => nics::remove(call, parse_id(vm)?, parse_id(id)?),
        ["vms", vm, "nics", nic, "networkfilterparameters", id] => {
            nics::remove_parameter(call, parse_id(vm)?, parse_id(nic)?, parse_id(id)?)
        }
        ["vms", vm, "snapshots", id] => snapshots::remove(call, parse_id(vm)?, parse_id(id)?),
        ["vms", vm, "tags", id] => tags::unassign(call, Kind::Vm, parse_id(vm)?, parse_id(id)?),
        ["vms", vm, "watchdogs", id] => devices::remove_watchdog(call, parse_id(vm)?, parse_id(id)?),
        ["vnicprofiles", id] | ["networks", _, "vnicprofiles", id] => {
            vnic_profiles::remove(call, existing(call, Kind::VnicProfile, id)?)
        }
        _ => Err(unchangeable(call, parts)),
    }
}

/// The id of an entity that exists.
fn existing(call: &Call, kind: Kind, id: &str) -> Result<crate::ovirt::table::Id, Fault> {
    super::found::subject(call.state, kind, id).map(Subject::id)
}

fn set_at(path: &str) -> Result<Set, Fault> {
    Set::at(path).ok_or_else(Fault::not_found)
}

fn unchangeable(call: &Call, parts: &[&str]) -> Fault {
    if find(call.state, parts).is_ok() { Fault::method_not_allowed() } else { Fault::not_found() }
}
