//! Storage domains, disks and image transfers.

use super::super::schema::types;
use super::words::{
    DIRECTION, DISK_BACKUP, DISK_CONTENT, DISK_FORMAT, DISK_INTERFACE, DISK_STATUS, DISK_STORAGE, EXTERNAL_STATUS,
    NFS_VERSION, PHASE, QCOW, QOS, SCSI_GENERIC, STORAGE_DOMAIN_STATUS, STORAGE_DOMAIN_TYPE, STORAGE_FORMAT,
    STORAGE_TYPE, TIMEOUT_POLICY,
};
use super::{DATA_CENTER, DEVICE, FILE, HOST, IDENTIFIED, PERMISSION, QUOTA, SNAPSHOT, STATISTIC, TEMPLATE, VM};

types! {
    LOGICAL_UNIT = "logical_unit" {
        "address": text, "port": int, "target": text, "portal": text, "serial": text, "size": int, "status": text,
    }
    VOLUME_GROUP = "volume_group" { "name": text, "logical_units": list(LOGICAL_UNIT) }
    HOST_STORAGE = "storage" : IDENTIFIED {
        "address": text, "type": word(STORAGE_TYPE), "path": text, "mount_options": text, "vfs_type": text,
        "nfs_version": word(NFS_VERSION), "nfs_timeo": int, "nfs_retrans": int, "port": int, "target": text,
        "username": text, "password": text, "portal": text, "logical_units": list(LOGICAL_UNIT),
        "volume_group": one(VOLUME_GROUP), "override_luns": bool, "host": one(HOST),
    }
    HOST_STORAGES = "host_storage" : HOST_STORAGE {}
    STORAGE_CONNECTION = "storage_connection" : HOST_STORAGE {}
    STORAGE_DOMAIN = "storage_domain" : IDENTIFIED {
        "type": word(STORAGE_DOMAIN_TYPE), "status": word(STORAGE_DOMAIN_STATUS),
        "external_status": word(EXTERNAL_STATUS), "master": bool, "storage": one(HOST_STORAGE), "available": int,
        "used": int, "committed": int, "storage_format": word(STORAGE_FORMAT), "wipe_after_delete": bool,
        "discard_after_delete": bool, "supports_discard": bool, "supports_discard_zeroes_data": bool, "import": bool,
        "warning_low_space_indicator": int, "critical_space_action_blocker": int, "host": one(HOST),
        "data_center": one(DATA_CENTER), "backup": bool, "block_size": int, "data_centers": list(DATA_CENTER),
        "disks": list(DISK), "disk_profiles": list(DISK_PROFILE), "disk_snapshots": list(DISK_SNAPSHOT),
        "files": list(FILE), "images": list(IMAGE), "permissions": list(PERMISSION),
        "storage_connections": list(STORAGE_CONNECTION), "templates": list(TEMPLATE), "vms": list(VM),
    }
    IMAGE = "image" : IDENTIFIED { "storage_domain": one(STORAGE_DOMAIN), "type": text, "size": int }
    DISK = "disk" : DEVICE {
        "alias": text, "image_id": text, "provisioned_size": int, "initial_size": int, "actual_size": int,
        "total_size": int, "status": word(DISK_STATUS), "interface": word(DISK_INTERFACE), "format": word(DISK_FORMAT),
        "qcow_version": word(QCOW), "sparse": bool, "bootable": bool, "shareable": bool, "wipe_after_delete": bool,
        "propagate_errors": bool, "active": bool, "backup": word(DISK_BACKUP), "read_only": bool,
        "lun_storage": one(HOST_STORAGE), "sgio": word(SCSI_GENERIC), "uses_scsi_reservation": bool,
        "storage_type": word(DISK_STORAGE), "logical_name": text, "content_type": word(DISK_CONTENT),
        "storage_domain": one(STORAGE_DOMAIN), "storage_domains": list(STORAGE_DOMAIN), "quota": one(QUOTA),
        "disk_profile": one(DISK_PROFILE), "snapshot": one(SNAPSHOT), "permissions": list(PERMISSION),
        "disk_snapshots": list(DISK_SNAPSHOT), "statistics": list(STATISTIC), "creation_status": text,
    }
    DISK_SNAPSHOT = "disk_snapshot" : DISK { "disk": one(DISK) }
    DISK_ATTACHMENT = "disk_attachment" : IDENTIFIED {
        "bootable": bool, "pass_discard": bool, "interface": word(DISK_INTERFACE), "uses_scsi_reservation": bool,
        "active": bool, "logical_name": text, "read_only": bool, "disk": one(DISK), "vm": one(VM),
        "template": one(TEMPLATE), "creation_status": text,
    }
    DISK_PROFILE = "disk_profile" : IDENTIFIED {
        "qos": one(QOS_), "storage_domain": one(STORAGE_DOMAIN), "permissions": list(PERMISSION),
    }
    QOS_ = "qos" : IDENTIFIED { "type": word(QOS), "data_center": one(DATA_CENTER) }
    IMAGE_TRANSFER = "image_transfer" : IDENTIFIED {
        "proxy_url": text, "transfer_url": text, "phase": word(PHASE), "direction": word(DIRECTION), "active": bool,
        "transferred": int, "inactivity_timeout": int, "timeout_policy": word(TIMEOUT_POLICY), "image": one(IMAGE),
        "disk": one(DISK), "snapshot": one(DISK_SNAPSHOT), "host": one(HOST), "format": word(DISK_FORMAT),
        "shallow": bool,
    }
}
