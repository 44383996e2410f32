//! Data centres, clusters, hosts, and what places VMs on hosts.

use super::super::schema::types;
use super::words::{
    ARCHITECTURE, BIOS, DATA_CENTER_STATUS, EXTERNAL_STATUS, FIPS, FIREWALL, HOST_STATUS, HOST_TYPE, LOG_THRESHOLD,
    ON_ERROR, QUOTA_MODE, SE_LINUX, SPM_STATUS, STORAGE_FORMAT, SWITCH,
};
use super::{
    CERTIFICATE, CPU, DISPLAY_, HOST_DEVICE, HOST_NIC, HOST_STORAGES, IDENTIFIED, MAC_POOL, MEMORY_POLICY, MIGRATION,
    NETWORK, NETWORK_ATTACHMENT, NETWORK_FILTER, NUMA_NODE, OPERATING_SYSTEM, PERMISSION, PERMIT, PROPERTY, QOS_,
    QUOTA, SERIAL_NUMBER, STATISTIC, STORAGE_DOMAIN, TAG, TRANSPARENT_HUGE_PAGES, VERSION, VM,
};

types! {
    DATA_CENTER = "data_center" : IDENTIFIED {
        "local": bool, "storage_format": word(STORAGE_FORMAT), "version": one(VERSION),
        "supported_versions": list(VERSION), "status": word(DATA_CENTER_STATUS), "quota_mode": word(QUOTA_MODE),
        "mac_pool": one(MAC_POOL), "storage_domains": list(STORAGE_DOMAIN), "clusters": list(CLUSTER),
        "networks": list(NETWORK), "permissions": list(PERMISSION), "quotas": list(QUOTA), "qoss": list(QOS_),
        "iscsi_bonds": list(ISCSI_BOND),
    }
    ISCSI_BOND = "iscsi_bond" : IDENTIFIED {}
    ERROR_HANDLING = "error_handling" { "on_error": word(ON_ERROR) }
    KSM = "ksm" { "enabled": bool, "merge_across_nodes": bool }
    SKIP_IF_SD_ACTIVE = "skip_if_sd_active" { "enabled": bool }
    SKIP_IF_CONNECTIVITY_BROKEN = "skip_if_connectivity_broken" { "enabled": bool, "threshold": int }
    FENCING_POLICY = "fencing_policy" {
        "enabled": bool, "skip_if_sd_active": one(SKIP_IF_SD_ACTIVE),
        "skip_if_connectivity_broken": one(SKIP_IF_CONNECTIVITY_BROKEN),
        "skip_if_gluster_bricks_up": bool, "skip_if_gluster_quorum_not_met": bool,
    }
    CLUSTER = "cluster" : IDENTIFIED {
        "cpu": one(CPU), "memory_policy": one(MEMORY_POLICY), "version": one(VERSION),
        "supported_versions": list(VERSION), "error_handling": one(ERROR_HANDLING), "virt_service": bool,
        "gluster_service": bool, "threads_as_cores": bool, "tunnel_migration": bool, "trusted_service": bool,
        "ha_reservation": bool, "vnc_encryption": bool, "bios_type": word(BIOS), "optional_reason": bool,
        "maintenance_reason_required": bool, "ballooning_enabled": bool, "display": one(DISPLAY_), "ksm": one(KSM),
        "serial_number": one(SERIAL_NUMBER), "required_rng_sources": texts("required_rng_source"),
        "fencing_policy": one(FENCING_POLICY), "migration": one(MIGRATION),
        "custom_scheduling_policy_properties": list(PROPERTY), "switch_type": word(SWITCH),
        "firewall_type": word(FIREWALL), "log_max_memory_used_threshold": int,
        "log_max_memory_used_threshold_type": word(LOG_THRESHOLD), "scheduling_policy": one(SCHEDULING_POLICY),
        "data_center": one(DATA_CENTER), "management_network": one(NETWORK), "mac_pool": one(MAC_POOL),
        "affinity_groups": list(AFFINITY_GROUP), "cpu_profiles": list(CPU_PROFILE), "networks": list(NETWORK),
        "permissions": list(PERMISSION), "network_filters": list(NETWORK_FILTER), "fips_mode": word(FIPS),
        "enabled_features": list(CLUSTER_FEATURE), "external_network_providers": list(EXTERNAL_PROVIDER),
        "upgrade_in_progress": bool, "upgrade_percent_complete": int, "upgrade_correlation_id": text,
    }
    CLUSTER_FEATURE = "cluster_feature" : IDENTIFIED {}
    EXTERNAL_PROVIDER = "external_provider" : IDENTIFIED {}
    CPU_TYPE = "cpu_type" { "name": text, "level": int, "architecture": word(ARCHITECTURE) }
    CLUSTER_LEVEL = "cluster_level" : IDENTIFIED { "cpu_types": list(CPU_TYPE), "permits": list(PERMIT) }
    CPU_PROFILE = "cpu_profile" : IDENTIFIED {
        "qos": one(QOS_), "cluster": one(CLUSTER), "permissions": list(PERMISSION),
    }
    SCHEDULING_POLICY = "scheduling_policy" : IDENTIFIED {
        "locked": bool, "default_policy": bool, "properties": list(PROPERTY), "balances": list(POLICY_PART),
        "filters": list(POLICY_PART), "weights": list(POLICY_PART),
    }
    POLICY_PART = "filter" : IDENTIFIED { "position": int, "factor": int }
    SPM = "spm" { "priority": int, "status": word(SPM_STATUS) }
    HARDWARE_INFORMATION = "hardware_information" {
        "manufacturer": text, "version": text, "serial_number": text, "product_name": text, "uuid": text,
        "family": text, "supported_rng_sources": texts("supported_rng_source"),
    }
    AGENT = "agent" : IDENTIFIED { "type": text, "address": text, "order": int }
    PM_PROXY = "pm_proxy" { "type": text }
    POWER_MANAGEMENT = "power_management" {
        "enabled": bool, "automatic_pm_enabled": bool, "kdump_detection": bool, "pm_proxies": list(PM_PROXY),
        "agents": list(AGENT),
    }
    SSH = "ssh" : IDENTIFIED { "port": int, "fingerprint": text, "authentication_method": text }
    SE_LINUX_ = "se_linux" { "mode": word(SE_LINUX) }
    VM_SUMMARY = "summary" { "active": int, "migrating": int, "total": int }
    HOSTED_ENGINE = "hosted_engine" { "configured": bool, "active": bool, "score": int }
    DEVICE_PASSTHROUGH = "device_passthrough" { "enabled": bool }
    ISCSI_DETAILS = "iscsi" { "initiator": text }
    HOST = "host" : IDENTIFIED {
        "address": text, "status": word(HOST_STATUS), "status_detail": text, "certificate": one(CERTIFICATE),
        "external_status": word(EXTERNAL_STATUS), "port": int, "type": word(HOST_TYPE), "spm": one(SPM),
        "version": one(VERSION), "hardware_information": one(HARDWARE_INFORMATION),
        "power_management": one(POWER_MANAGEMENT), "ksm": one(KSM),
        "transparent_huge_pages": one(TRANSPARENT_HUGE_PAGES), "iscsi": one(ISCSI_DETAILS), "ssh": one(SSH),
        "cpu": one(CPU), "memory": int, "max_scheduling_memory": int, "summary": one(VM_SUMMARY), "protocol": text,
        "os": one(OPERATING_SYSTEM), "libvirt_version": one(VERSION), "hosted_engine": one(HOSTED_ENGINE),
        "kdump_status": text, "se_linux": one(SE_LINUX_), "auto_numa_status": text, "numa_supported": bool,
        "update_available": bool, "network_operation_in_progress": bool, "reinstallation_required": bool,
        "device_passthrough": one(DEVICE_PASSTHROUGH), "vgpu_placement": text, "ovn_configured": bool,
        "cluster": one(CLUSTER), "affinity_labels": list(AFFINITY_LABEL), "devices": list(HOST_DEVICE),
        "host_devices": list(HOST_DEVICE), "agents": list(AGENT), "network_attachments": list(NETWORK_ATTACHMENT),
        "nics": list(HOST_NIC), "host_nics": list(HOST_NIC), "numa_nodes": list(NUMA_NODE),
        "host_numa_nodes": list(NUMA_NODE), "permissions": list(PERMISSION), "statistics": list(STATISTIC),
        "host_storages": list(HOST_STORAGES), "tags": list(TAG), "hooks": list(HOOK),
        "unmanaged_networks": list(UNMANAGED_NETWORK), "root_password": text, "override_iptables": bool,
        "storage_connection_extensions": list(STORAGE_CONNECTION_EXTENSION), "vms": list(VM),
    }
    HOOK = "hook" : IDENTIFIED { "event_name": text, "md5": text }
    UNMANAGED_NETWORK = "unmanaged_network" : IDENTIFIED {}
    STORAGE_CONNECTION_EXTENSION = "storage_connection_extension" : IDENTIFIED {}
    AFFINITY_RULE = "rule" { "positive": bool, "enforcing": bool, "enabled": bool }
    AFFINITY_GROUP = "affinity_group" : IDENTIFIED {
        "positive": bool, "enforcing": bool, "vms_rule": one(AFFINITY_RULE), "hosts_rule": one(AFFINITY_RULE),
        "priority": decimal, "broken": bool, "cluster": one(CLUSTER), "vms": list(VM), "hosts": list(HOST),
        "vm_labels": list(AFFINITY_LABEL), "host_labels": list(AFFINITY_LABEL),
    }
    AFFINITY_LABEL = "affinity_label" : IDENTIFIED {
        "hosts": list(HOST), "vms": list(VM), "read_only": bool, "has_implicit_affinity_group": bool,
    }
}
