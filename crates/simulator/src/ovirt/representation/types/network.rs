//! Networks, vNIC profiles and network interfaces.

use super::super::schema::types;
use super::words::{BOOT_PROTOCOL, NETWORK_STATUS, NIC_INTERFACE, NIC_STATUS, PASS_THROUGH, REPORTED_DEVICE};
use super::{
    CLUSTER, CUSTOM_PROPERTY, DATA_CENTER, DEVICE, HOST, IDENTIFIED, IP, PERMISSION, QOS_, STATISTIC, VERSION, VM,
};

types! {
    MAC = "mac" { "address": text }
    VLAN = "vlan" {}
    DNS_RESOLVER = "dns_resolver_configuration" { "name_servers": texts("name_server") }
    NETWORK = "network" : IDENTIFIED {
        "ip": one(IP), "vlan": one(VLAN), "stp": bool, "status": word(NETWORK_STATUS), "display": bool, "mtu": int,
        "usages": texts("usage"), "required": bool, "profile_required": bool,
        "dns_resolver_configuration": one(DNS_RESOLVER), "vdsm_name": text, "data_center": one(DATA_CENTER),
        "cluster": one(CLUSTER), "network_labels": list(NETWORK_LABEL), "permissions": list(PERMISSION),
        "vnic_profiles": list(VNIC_PROFILE), "port_isolation": bool,
    }
    NETWORK_LABEL = "network_label" : IDENTIFIED { "network": one(NETWORK) }
    NETWORK_FILTER = "network_filter" : IDENTIFIED { "version": one(VERSION) }
    NETWORK_FILTER_PARAMETER = "network_filter_parameter" : IDENTIFIED { "value": text, "nic": one(NIC) }
    PASS_THROUGH_ = "pass_through" { "mode": word(PASS_THROUGH) }
    VNIC_PROFILE = "vnic_profile" : IDENTIFIED {
        "port_mirroring": bool, "custom_properties": list(CUSTOM_PROPERTY), "pass_through": one(PASS_THROUGH_),
        "migratable": bool, "network": one(NETWORK), "qos": one(QOS_), "network_filter": one(NETWORK_FILTER),
        "permissions": list(PERMISSION),
    }
    REPORTED_DEVICE_ = "reported_device" : IDENTIFIED {
        "type": word(REPORTED_DEVICE), "mac": one(MAC), "ips": list(IP), "vm": one(VM),
    }
    NIC = "nic" : DEVICE {
        "linked": bool, "interface": word(NIC_INTERFACE), "mac": one(MAC), "plugged": bool, "synced": bool,
        "boot_protocol": word(BOOT_PROTOCOL), "on_boot": bool, "network": one(NETWORK), "statistics": list(STATISTIC),
        "vnic_profile": one(VNIC_PROFILE), "reported_devices": list(REPORTED_DEVICE_),
        "network_filter_parameters": list(NETWORK_FILTER_PARAMETER),
    }
    HOST_NIC = "host_nic" : IDENTIFIED {
        "mac": one(MAC), "ip": one(IP), "ipv6": one(IP), "boot_protocol": word(BOOT_PROTOCOL), "speed": int,
        "status": word(NIC_STATUS), "mtu": int, "bridged": bool, "custom_configuration": bool, "host": one(HOST),
        "network": one(NETWORK), "statistics": list(STATISTIC), "network_labels": list(NETWORK_LABEL),
    }
    NETWORK_ATTACHMENT = "network_attachment" : IDENTIFIED {
        "in_sync": bool, "network": one(NETWORK), "host_nic": one(HOST_NIC), "host": one(HOST),
    }
    RANGE = "range" { "from": text, "to": text }
    MAC_POOL = "mac_pool" : IDENTIFIED {
        "allow_duplicates": bool, "default_pool": bool, "ranges": list(RANGE), "permissions": list(PERMISSION),
    }
}
