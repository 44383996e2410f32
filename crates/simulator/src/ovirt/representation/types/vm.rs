//! Virtual machines, templates, instance types, and the collections under them.

use super::super::schema::types;
use super::words::{
    ARCHITECTURE, DISPLAY, NUMA_TUNE, SNAPSHOT_STATUS, SNAPSHOT_TYPE, TEMPLATE_STATUS, TPM, VM_POOL_TYPE, VM_STATUS,
    WATCHDOG_ACTION, WATCHDOG_MODEL,
};
use super::{
    AFFINITY_LABEL, CLUSTER, CPU, DISK, DISK_ATTACHMENT, DYNAMIC_CPU, FILE, HOST, ICON, IDENTIFIED, IP, NIC, PAYLOAD,
    PERMISSION, PROPERTY, REPORTED_DEVICE_, STATISTIC, TAG, TIME_ZONE, USER, VERSION, VM_BASE,
};

types! {
    KERNEL = "kernel" { "version": one(VERSION) }
    GUEST_OS = "guest_operating_system" {
        "architecture": text, "codename": text, "distribution": text, "kernel": one(KERNEL), "family": text,
        "version": one(VERSION),
    }
    VM = "vm" : VM_BASE {
        "status": word(VM_STATUS), "status_detail": text, "stop_reason": text, "start_time": date, "stop_time": date,
        "run_once": bool, "payloads": list(PAYLOAD), "fqdn": text, "use_latest_template_version": bool,
        "next_run_configuration_exists": bool, "numa_tune_mode": word(NUMA_TUNE), "guest_time_zone": one(TIME_ZONE),
        "guest_operating_system": one(GUEST_OS), "has_illegal_images": bool, "host": one(HOST),
        "template": one(TEMPLATE), "original_template": one(TEMPLATE), "instance_type": one(INSTANCE_TYPE),
        "nics": list(NIC), "snapshots": list(SNAPSHOT), "vm_pool": one(VM_POOL), "cdroms": list(CDROM),
        "reported_devices": list(REPORTED_DEVICE_), "watchdogs": list(WATCHDOG), "permissions": list(PERMISSION),
        "affinity_labels": list(AFFINITY_LABEL), "applications": list(APPLICATION),
        "graphics_consoles": list(GRAPHICS_CONSOLE), "host_devices": list(HOST_DEVICE),
        "vm_numa_nodes": list(VIRTUAL_NUMA_NODE), "numa_nodes": list(VIRTUAL_NUMA_NODE),
        "sessions": list(SESSION), "statistics": list(STATISTIC), "tags": list(TAG),
        "disk_attachments": list(DISK_ATTACHMENT), "dynamic_cpu": one(DYNAMIC_CPU),
        "mediated_devices": list(MEDIATED_DEVICE), "backups": list(BACKUP), "checkpoints": list(BACKUP),
        "external_data": text,
    }
    TEMPLATE_VERSION = "version" { "version_number": int, "version_name": text, "base_template": one(TEMPLATE) }
    TEMPLATE = "template" : VM_BASE {
        "status": word(TEMPLATE_STATUS), "vm": one(VM), "version": one(TEMPLATE_VERSION), "cdroms": list(CDROM),
        "graphics_consoles": list(GRAPHICS_CONSOLE), "nics": list(NIC), "permissions": list(PERMISSION),
        "tags": list(TAG), "watchdogs": list(WATCHDOG), "disk_attachments": list(DISK_ATTACHMENT),
        "mediated_devices": list(MEDIATED_DEVICE), "statistics": list(STATISTIC), "seal": bool,
    }
    INSTANCE_TYPE = "instance_type" : TEMPLATE {}
    DEVICE = "device" : IDENTIFIED {
        "template": one(TEMPLATE), "instance_type": one(INSTANCE_TYPE), "vms": list(VM), "vm": one(VM),
    }
    CDROM = "cdrom" : DEVICE { "file": one(FILE) }
    WATCHDOG = "watchdog" : DEVICE { "model": word(WATCHDOG_MODEL), "action": word(WATCHDOG_ACTION) }
    MEDIATED_DEVICE = "vm_mediated_device" : DEVICE { "spec_params": list(PROPERTY) }
    APPLICATION = "application" : IDENTIFIED { "vm": one(VM) }
    SESSION = "session" : IDENTIFIED {
        "protocol": text, "ip": one(IP), "console_user": bool, "user": one(USER), "vm": one(VM),
    }
    GRAPHICS_CONSOLE = "graphics_console" : IDENTIFIED {
        "protocol": word(DISPLAY), "port": int, "tls_port": int, "address": text, "vm": one(VM),
        "template": one(TEMPLATE), "instance_type": one(INSTANCE_TYPE),
    }
    PRODUCT = "product" : IDENTIFIED {}
    VENDOR = "vendor" : IDENTIFIED {}
    HOST_DEVICE = "host_device" : IDENTIFIED {
        "capability": text, "product": one(PRODUCT), "vendor": one(VENDOR), "iommu_group": int,
        "virtual_functions": int, "placeholder": bool, "driver": text, "host": one(HOST), "vm": one(VM),
    }
    NUMA_NODE_PIN = "numa_node_pin" { "pinned": bool, "index": int }
    NUMA_NODE = "host_numa_node" : IDENTIFIED {
        "index": int, "memory": int, "cpu": one(CPU), "node_distance": text, "host": one(HOST),
        "statistics": list(STATISTIC),
    }
    VIRTUAL_NUMA_NODE = "vm_numa_node" : NUMA_NODE {
        "numa_node_pins": list(NUMA_NODE_PIN), "numa_tune_mode": word(NUMA_TUNE), "vm": one(VM),
    }
    BACKUP = "backup" : IDENTIFIED { "phase": text, "vm": one(VM) }
    SNAPSHOT = "snapshot" : VM {
        "date": date, "snapshot_status": word(SNAPSHOT_STATUS), "persist_memorystate": bool,
        "snapshot_type": word(SNAPSHOT_TYPE), "vm": one(VM), "disks": list(DISK),
    }
    VM_POOL = "vm_pool" : IDENTIFIED {
        "size": int, "prestarted_vms": int, "max_user_vms": int, "type": word(VM_POOL_TYPE), "stateful": bool,
        "use_latest_template_version": bool, "auto_storage_select": bool, "cluster": one(CLUSTER),
        "template": one(TEMPLATE), "vm": one(VM),
    }
    OS_INFO = "operating_system" : IDENTIFIED {
        "large_icon": one(ICON), "small_icon": one(ICON), "architecture": word(ARCHITECTURE), "tpm_support": word(TPM),
    }
}
