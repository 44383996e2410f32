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

const LOGIN: &str = "login";
const VM: &[&str] = &[
    LOGIN,
    "edit_vm_properties",
    "delete_vm",
    "configure_vm_network",
    "configure_vm_storage",
    "vm_basic_operations",
    "run_vm",
    "stop_vm",
    "reboot_vm",
    "manipulate_vm_snapshots",
    "create_disk",
    "attach_disk",
    "edit_disk_properties",
    "delete_disk",
    "connect_to_vm",
    "manipulate_permissions",
];

static DEFINITIONS: &[Definition] = &[
    (SUPER_USER, "SuperUser", true, "Roles management administrator", &["*"]),
    (
        USER_ROLE,
        "UserRole",
        false,
        "Standard User Role",
        &[LOGIN, "vm_basic_operations", "run_vm", "stop_vm", "reboot_vm", "connect_to_vm"],
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
        &["*"],
    ),
    (
        Id::from_u128(0xdef0_0005_0000_0000_0000_def0_0000_0005),
        "DataCenterAdmin",
        true,
        "Administrator Role, permission for all the objects underneath a specific Data Center, except Storage",
        &["*"],
    ),
    (
        Id::from_u128(0xdef0_0007_0000_0000_0000_def0_0000_0007),
        "StorageAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Storage Domain",
        &["*"],
    ),
    (
        Id::from_u128(0xdef0_0009_0000_0000_0000_def0_0000_0009),
        "HostAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Host",
        &["*"],
    ),
    (
        Id::from_u128(0xdef0_0012_0000_0000_0000_def0_0000_0012),
        "NetworkAdmin",
        true,
        "Administrator Role, permission for all operations on a specific Logical Network",
        &["*"],
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
