//! The roles that every engine has, and what their permits allow.

use super::model::Role;
use super::table::{Id, Table};

/// May do everything.
pub(crate) const SUPER_USER: Id = Id::from_u128(1);
/// May use a VM.
pub(crate) const USER_ROLE: Id = Id::from_u128(0x0000_0000_0000_0000_0001_0000_0000_0001);
/// May do everything with a VM; who makes one gets it.
pub(crate) const USER_VM_MANAGER: Id = Id::from_u128(0xdef0_0006_0000_0000_0000_def0_0000_0006);

/// A role: id, name, whether it is administrative, what it is for, its permits.
type Definition = (Id, &'static str, bool, &'static str, &'static [&'static str]);

/// Every permit, as a list of the engine's action groups; administrators' roles have them all.
const ALL: &[&str] = &[
    "create_vm",
    "delete_vm",
    "edit_vm_properties",
    "reboot_vm",
    "reset_vm",
    "stop_vm",
    "shut_down_vm",
    "hibernate_vm",
    "run_vm",
    "change_vm_cd",
    "migrate_vm",
    "connect_to_serial_console",
    "connect_to_vm",
    "import_export_vm",
    "configure_vm_network",
    "configure_vm_storage",
    "move_vm",
    "manipulate_vm_snapshots",
    "reconnect_to_vm",
    "change_vm_custom_properties",
    "edit_admin_vm_properties",
    "create_instance",
    "create_host",
    "edit_host_configuration",
    "delete_host",
    "manipulate_host",
    "configure_host_network",
    "create_template",
    "edit_template_properties",
    "delete_template",
    "copy_template",
    "configure_template_network",
    "edit_admin_template_properties",
    "create_cluster",
    "edit_cluster_configuration",
    "delete_cluster",
    "configure_cluster_network",
    "assign_cluster_network",
    "manipulate_users",
    "manipulate_roles",
    "manipulate_permissions",
    "add_users_and_groups_from_directory",
    "create_storage_domain",
    "edit_storage_domain_configuration",
    "delete_storage_domain",
    "manipulate_storage_domain",
    "create_storage_pool",
    "delete_storage_pool",
    "edit_storage_pool_configuration",
    "configure_storage_pool_network",
    "configure_engine",
    "configure_quota",
    "consume_quota",
    "create_disk",
    "attach_disk",
    "edit_disk_properties",
    "configure_disk_storage",
    "delete_disk",
    "sparsify_disk",
    "reduce_disk",
    "backup_disk",
    LOGIN,
    "inject_external_events",
    "inject_external_tasks",
    "tag_management",
    "bookmark_management",
    "audit_log_management",
    "manipulate_affinity_groups",
];

const LOGIN: &str = "login";
const VM: &[&str] = &[
    LOGIN,
    "edit_vm_properties",
    "delete_vm",
    "configure_vm_network",
    "configure_vm_storage",
    "run_vm",
    "stop_vm",
    "shut_down_vm",
    "hibernate_vm",
    "reboot_vm",
    "reset_vm",
    "manipulate_vm_snapshots",
    "create_disk",
    "attach_disk",
    "edit_disk_properties",
    "delete_disk",
    "connect_to_vm",
    "manipulate_permissions",
];

static DEFINITIONS: &[Definition] = &[
    (SUPER_USER, "SuperUser", true, "Roles management administrator", ALL),
    (
        USER_ROLE,
        "UserRole",
        false,
        "Standard User Role",
        &[LOGIN, "run_vm", "stop_vm", "shut_down_vm", "hibernate_vm", "reboot_vm", "reset_vm", "connect_to_vm"],
    ),
    (USER_VM_MANAGER, "UserVmManager", false, "User Role, with permission for any operation on Vms", VM),
    (
        Id::from_u128(0xdef0_000a_0000_0000_0000_def0_0000_000a),
        "VmCreator",
        false,
        "User Role, permission to create VMs",
        &[LOGIN, "create_vm"],
    ),
    (
        Id::from_u128(0xdef0_000b_0000_0000_0000_def0_0000_000b),
        "TemplateCreator",
        false,
        "User Role, permission to create Templates",
        &[LOGIN, "create_template"],
    ),
    (
        Id::from_u128(0xdef0_000d_0000_0000_0000_def0_0000_000d),
        "DiskCreator",
        false,
        "User Role, permission to create Disks",
        &[LOGIN, "create_disk"],
    ),
    (
        Id::from_u128(0xdef0_000f_0000_0000_0000_def0_0000_000f),
        "DiskOperator",
        false,
        "User Role, permissions for all operations on a specific disk",
        &[LOGIN, "attach_disk", "edit_disk_properties", "delete_disk"],
    ),
    (
        Id::from_u128(0xdef0_0008_0000_0000_0000_def0_0000_0008),
        "TemplateOwner",
        false,
        "User Role, permissions for all operations on Templates",
        &[LOGIN, "edit_template_properties", "delete_template", "manipulate_permissions"],
    ),
    (Id::from_u128(0xdef0_0003_0000_0000_0000_def0_0000_0003), "TemplateUser", false, "Template User", &[LOGIN]),
    (
        Id::from_u128(0xdef0_0010_0000_0000_0000_def0_0000_0010),
        "VnicProfileUser",
        false,
        "VM Network Interface Profile User",
        &[LOGIN, "configure_vm_network"],
    ),
    (Id::from_u128(0xdef0_0011_0000_0000_0000_def0_0000_0011), "QuotaConsumer", false, "Quota Consumer", &[LOGIN]),
    (
        Id::from_u128(0x0000_0000_0000_0000_0001_0000_0000_0002),
        "PowerUserRole",
        false,
        "User Role, allowed to create VMs, Templates and Disks",
        &[LOGIN, "create_vm", "create_template", "create_disk"],
    ),
    (
        Id::from_u128(0xdef0_0004_0000_0000_0000_def0_0000_0004),
        "ClusterAdmin",
        true,
        "Administrator Role, permission for all the objects underneath a specific Cluster",
        ALL,
    ),
    (
        Id::from_u128(0xdef0_0005_0000_0000_0000_def0_0000_0005),
        "DataCenterAdmin",
        true,
        "Administrator Role, permission for all the objects underneath a specific Data Center, except Storage",
        ALL,
    ),
    (
        Id::from_u128(0xdef0_0007_0000_0000_0000_def0_0000_0007),
        "StorageAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Storage Domain",
        ALL,
    ),
    (
        Id::from_u128(0xdef0_0009_0000_0000_0000_def0_0000_0009),
        "HostAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Host",
        ALL,
    ),
    (
        Id::from_u128(0xdef0_0012_0000_0000_0000_def0_0000_0012),
        "NetworkAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Logical Network",
        ALL,
    ),
    (
        Id::from_u128(0xdef0_0013_0000_0000_0000_def0_0000_0013),
        "TagManager",
        true,
        "Administrator Role, permission for all operations on tags",
        &[LOGIN, "tag_management"],
    ),
    (
        Id::from_u128(0xdef0_0014_0000_0000_0000_def0_0000_0014),
        "ReadOnlyAdmin",
        true,
        "Read Only Administrator Role",
        &[LOGIN],
    ),
];

/// All of them.
pub(crate) fn all() -> Table<Role> {
    let mut roles = Table::default();
    for (id, name, administrative, description, permits) in DEFINITIONS {
        roles.insert(Role {
            id: *id,
            name: (*name).into(),
            description: (*description).into(),
            administrative: *administrative,
            mutable: false,
            permits: permits.iter().map(|permit| (*permit).into()).collect(),
        });
    }
    roles
}
