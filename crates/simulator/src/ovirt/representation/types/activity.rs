//! The root of the API, and what reports on activity: actions, faults, jobs, events, statistics.

use super::super::schema::types;
use super::words::{
    AUTO_PINNING, JOB_STATUS, POLICY_UNIT, SEVERITY, STATISTIC_KIND, STATISTIC_UNIT, STEP_TYPE, VALUE_TYPE,
};
use super::{
    CLUSTER, DATA_CENTER, DISK, DISK_PROFILE, HOST, HOST_NIC, IDENTIFIED, IMAGE_TRANSFER, LEASE, NIC, PERMISSION,
    PROPERTY, QUOTA, SNAPSHOT, STORAGE_DOMAIN, TAG, TEMPLATE, USER, VERSION, VM,
};

types! {
    PRODUCT_INFO = "product_info" { "name": text, "vendor": text, "version": one(VERSION), "instance_id": text }
    SPECIAL_OBJECTS = "special_objects" { "blank_template": one(TEMPLATE), "root_tag": one(TAG) }
    SUMMARY_ITEM = "summary_item" { "total": int, "active": int }
    API_SUMMARY = "summary" {
        "vms": one(SUMMARY_ITEM), "hosts": one(SUMMARY_ITEM), "users": one(SUMMARY_ITEM),
        "storage_domains": one(SUMMARY_ITEM),
    }
    API = "api" {
        "special_objects": one(SPECIAL_OBJECTS), "product_info": one(PRODUCT_INFO), "summary": one(API_SUMMARY),
        "time": date, "authenticated_user": one(USER), "effective_user": one(USER),
    }
    FAULT = "fault" { "detail": text, "reason": text }
    CREATION = "creation" { "status": text, "fault": one(FAULT) }
    GRACE_PERIOD = "grace_period" { "expiry": int }
    TICKET = "ticket" { "value": text, "expiry": int }
    PROXY_TICKET = "proxy_ticket" { "value": text }
    ACTION = "action" : IDENTIFIED {
        "async": bool, "auto_pinning_policy": word(AUTO_PINNING), "clone": bool, "clone_permissions": bool,
        "cluster": one(CLUSTER), "commit_on_success": bool, "correlation_id": text, "data_center": one(DATA_CENTER),
        "deploy_hosted_engine": bool, "discard_snapshots": bool, "disk": one(DISK), "disk_profile": one(DISK_PROFILE),
        "disks": list(DISK), "exclusive": bool, "fault": one(FAULT), "fence_type": text, "filter": bool, "force": bool,
        "grace_period": one(GRACE_PERIOD), "host": one(HOST), "image_transfer": one(IMAGE_TRANSFER), "job": one(JOB),
        "maintenance_enabled": bool, "migrate_vms_in_affinity_closure": bool, "optimize_cpu_settings": bool,
        "pause": bool, "permission": one(PERMISSION), "proxy_ticket": one(PROXY_TICKET), "quota": one(QUOTA),
        "reason": text, "reassign_bad_macs": bool, "reboot": bool, "restore_memory": bool, "seal": bool,
        "snapshot": one(SNAPSHOT), "status": text, "storage_domain": one(STORAGE_DOMAIN),
        "storage_domains": list(STORAGE_DOMAIN), "succeeded": bool, "template": one(TEMPLATE), "ticket": one(TICKET),
        "timeout": int, "use_cloud_init": bool, "use_ignition": bool, "use_initialization": bool, "use_sysprep": bool,
        "vm": one(VM), "volatile": bool, "undeploy_hosted_engine": bool, "stop_gluster_service": bool,
        "lease": one(LEASE), "remote_viewer_connection_file": text,
    }
    JOB = "job" : IDENTIFIED {
        "status": word(JOB_STATUS), "start_time": date, "end_time": date, "last_updated": date, "external": bool,
        "auto_cleared": bool, "owner": one(USER), "steps": list(STEP),
    }
    STEP = "step" : IDENTIFIED {
        "type": word(STEP_TYPE), "number": int, "status": word(JOB_STATUS), "start_time": date, "end_time": date,
        "external": bool, "parent_step": one(STEP), "job": one(JOB), "progress": int, "statistics": list(STATISTIC),
        "execution_host": one(HOST),
    }
    EVENT = "event" : IDENTIFIED {
        "index": int, "code": int, "severity": word(SEVERITY), "time": date, "correlation_id": text, "origin": text,
        "custom_id": int, "flood_rate": int, "log_on_host": bool, "custom_data": text, "user": one(USER), "vm": one(VM),
        "storage_domain": one(STORAGE_DOMAIN), "host": one(HOST), "template": one(TEMPLATE), "cluster": one(CLUSTER),
        "data_center": one(DATA_CENTER),
    }
    VALUE = "value" { "datum": decimal, "detail": text }
    STATISTIC = "statistic" : IDENTIFIED {
        "values": list(VALUE), "kind": word(STATISTIC_KIND), "type": word(VALUE_TYPE), "unit": word(STATISTIC_UNIT),
        "disk": one(DISK), "host": one(HOST), "host_nic": one(HOST_NIC), "nic": one(NIC), "vm": one(VM),
    }
    SYSTEM_OPTION_VALUE = "system_option_value" { "value": text, "version": text }
    SYSTEM_OPTION = "system_option" : IDENTIFIED { "values": list(SYSTEM_OPTION_VALUE) }
    SCHEDULING_POLICY_UNIT = "scheduling_policy_unit" : IDENTIFIED {
        "type": word(POLICY_UNIT), "internal": bool, "enabled": bool, "properties": list(PROPERTY),
    }
}
