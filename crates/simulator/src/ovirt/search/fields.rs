//! The fields that each kind can be searched by, and the objects that a search may refer to.

use crate::ovirt::api::kind::Kind;

/// The fields that a kind can be searched by; `None` if it cannot be searched.
#[allow(clippy::too_many_lines, reason = "a table")]
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
