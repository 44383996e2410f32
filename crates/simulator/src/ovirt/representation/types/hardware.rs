//! What a virtual machine is made of: the elements that a VM, a template and an instance type share.

use super::super::schema::types;
use super::words::{
    ARCHITECTURE, AUTO_PINNING, BANDWIDTH, BIOS, BOOT_PROTOCOL, CLOUD_INIT_PROTOCOL, CPU_MODE, CPU_PINNING, DISPLAY,
    INHERITABLE, IP_VERSION, PARALLEL_MIGRATIONS, PAYLOAD_DEVICE, RESUME, RNG, SERIAL, USB, VIDEO, VM_AFFINITY,
    VM_TYPE,
};
use super::{CLUSTER, CPU_PROFILE, DOMAIN, HOST, QUOTA, STORAGE_DOMAIN};

types! {
    IDENTIFIED = "identified" { "name": text, "description": text, "comment": text }
    BOOT_MENU = "boot_menu" { "enabled": bool }
    BIOS_ = "bios" { "boot_menu": one(BOOT_MENU), "type": word(BIOS) }
    BOOT = "boot" { "devices": texts("device") }
    OPERATING_SYSTEM = "os" {
        "type": text, "boot": one(BOOT), "kernel": text, "initrd": text, "cmdline": text,
        "reported_kernel_cmdline": text, "custom_kernel_cmdline": text, "description": text, "version": one(VERSION),
    }
    VERSION = "version" : IDENTIFIED {
        "major": int, "minor": int, "build": int, "revision": int, "full_version": text,
    }
    CPU_TOPOLOGY = "topology" { "sockets": int, "cores": int, "threads": int }
    VCPU_PIN = "vcpu_pin" { "vcpu": int, "cpu_set": text }
    CPU_TUNE = "cpu_tune" { "vcpu_pins": list(VCPU_PIN) }
    CORE = "core" { "index": int, "socket": int }
    CPU = "cpu" {
        "type": text, "topology": one(CPU_TOPOLOGY), "level": int, "name": text, "speed": decimal,
        "cpu_tune": one(CPU_TUNE), "mode": word(CPU_MODE), "architecture": word(ARCHITECTURE), "cores": list(CORE),
    }
    DYNAMIC_CPU = "dynamic_cpu" { "topology": one(CPU_TOPOLOGY), "cpu_tune": one(CPU_TUNE) }
    HIGH_AVAILABILITY = "high_availability" { "enabled": bool, "priority": int }
    CERTIFICATE = "certificate" : IDENTIFIED { "organization": text, "subject": text, "content": text }
    DISPLAY_ = "display" {
        "type": word(DISPLAY), "video_type": word(VIDEO), "address": text, "port": int, "secure_port": int,
        "monitors": int, "single_qxl_pci": bool, "allow_override": bool, "certificate": one(CERTIFICATE),
        "smartcard_enabled": bool, "keyboard_layout": text, "proxy": text, "file_transfer_enabled": bool,
        "copy_paste_enabled": bool, "disconnect_action": text, "disconnect_action_delay": int,
    }
    METHOD = "method" {}
    SSO = "sso" { "methods": list(METHOD) }
    RATE = "rate" { "bytes": int, "period": int }
    RNG_DEVICE = "rng_device" { "rate": one(RATE), "source": word(RNG) }
    CONSOLE = "console" { "enabled": bool }
    USB_ = "usb" { "enabled": bool, "type": word(USB) }
    VIRTIO_SCSI = "virtio_scsi" { "enabled": bool }
    SERIAL_NUMBER = "serial_number" { "policy": word(SERIAL), "value": text }
    MIGRATION_BANDWIDTH = "bandwidth" { "assignment_method": word(BANDWIDTH), "custom_value": int }
    MIGRATION_POLICY = "policy" : IDENTIFIED {}
    MIGRATION = "migration" {
        "auto_converge": word(INHERITABLE), "compressed": word(INHERITABLE), "encrypted": word(INHERITABLE),
        "parallel_migrations_policy": word(PARALLEL_MIGRATIONS), "custom_parallel_migrations": int,
        "bandwidth": one(MIGRATION_BANDWIDTH), "policy": one(MIGRATION_POLICY),
    }
    IO = "io" { "threads": int }
    CUSTOM_PROPERTY = "custom_property" { "name": text, "value": text, "regexp": text }
    PROPERTY = "property" { "name": text, "value": text }
    TIME_ZONE = "time_zone" { "name": text, "utc_offset": text }
    ICON = "icon" : IDENTIFIED { "media_type": text, "data": text }
    MEMORY_OVER_COMMIT = "over_commit" { "percent": int }
    TRANSPARENT_HUGE_PAGES = "transparent_huge_pages" { "enabled": bool }
    MEMORY_POLICY = "memory_policy" {
        "guaranteed": int, "max": int, "ballooning": bool, "over_commit": one(MEMORY_OVER_COMMIT),
        "transparent_huge_pages": one(TRANSPARENT_HUGE_PAGES),
    }
    LEASE = "lease" { "storage_domain": one(STORAGE_DOMAIN) }
    PLACEMENT_POLICY = "placement_policy" { "affinity": word(VM_AFFINITY), "hosts": list(HOST) }
    IP = "ip" { "address": text, "netmask": text, "gateway": text, "version": word(IP_VERSION) }
    NIC_CONFIGURATION = "nic_configuration" {
        "name": text, "ip": one(IP), "boot_protocol": word(BOOT_PROTOCOL), "ipv6": one(IP),
        "ipv6_boot_protocol": word(BOOT_PROTOCOL), "on_boot": bool,
    }
    CONFIGURATION = "configuration" { "type": text, "data": text }
    FILE = "file" : IDENTIFIED { "content": text, "type": text, "storage_domain": one(STORAGE_DOMAIN) }
    INITIALIZATION = "initialization" {
        "configuration": one(CONFIGURATION), "host_name": text, "domain": text, "timezone": text,
        "authorized_ssh_keys": text, "regenerate_ssh_keys": bool, "regenerate_ids": bool, "dns_servers": text,
        "dns_search": text, "nic_configurations": list(NIC_CONFIGURATION), "windows_license_key": text,
        "root_password": text, "custom_script": text, "input_locale": text, "ui_language": text, "system_locale": text,
        "user_locale": text, "user_name": text, "active_directory_ou": text, "org_name": text,
        "cloud_init_network_protocol": word(CLOUD_INIT_PROTOCOL),
    }
    PAYLOAD = "payload" { "files": list(FILE), "volume_id": text, "type": word(PAYLOAD_DEVICE) }
    /// The elements that can be configured on a VM, a template and an instance type alike.
    VM_BASE = "vm_base" : IDENTIFIED {
        "type": word(VM_TYPE), "memory": int, "cpu": one(CPU), "cpu_shares": int, "bios": one(BIOS_),
        "os": one(OPERATING_SYSTEM), "creation_time": date, "origin": text, "stateless": bool,
        "delete_protected": bool, "high_availability": one(HIGH_AVAILABILITY), "display": one(DISPLAY_),
        "sso": one(SSO), "rng_device": one(RNG_DEVICE), "console": one(CONSOLE), "domain": one(DOMAIN),
        "usb": one(USB_), "soundcard_enabled": bool, "tunnel_migration": bool, "migration_downtime": int,
        "virtio_scsi": one(VIRTIO_SCSI), "serial_number": one(SERIAL_NUMBER), "start_paused": bool,
        "migration": one(MIGRATION), "io": one(IO), "custom_properties": list(CUSTOM_PROPERTY),
        "custom_emulated_machine": text, "custom_cpu_model": text, "time_zone": one(TIME_ZONE),
        "small_icon": one(ICON), "large_icon": one(ICON), "initialization": one(INITIALIZATION),
        "memory_policy": one(MEMORY_POLICY), "custom_compatibility_version": one(VERSION), "cluster": one(CLUSTER),
        "storage_domain": one(STORAGE_DOMAIN), "cpu_profile": one(CPU_PROFILE), "quota": one(QUOTA),
        "lease": one(LEASE), "storage_error_resume_behaviour": word(RESUME),
        "placement_policy": one(PLACEMENT_POLICY), "multi_queues_enabled": bool,
        "virtio_scsi_multi_queues_enabled": bool, "virtio_scsi_multi_queues": int, "tpm_enabled": bool,
        "auto_pinning_policy": word(AUTO_PINNING), "cpu_pinning_policy": word(CPU_PINNING),
        "creation_status": text,
    }
}
