//! Virtual servers as they are shown.

use serde_json::{Value, json};

use crate::powervs::cloud::Cloud;
use crate::powervs::power::{DhcpServer, Instance, Workspace, crn};
use crate::powervs::tags;

/// The networks of a virtual server. On a network with a DHCP server they have no address: the leases know it. Lists show
/// less, and name networks where a single one has ids.
pub(super) fn networks(own: &Workspace, instance: &Instance, single: bool) -> Vec<Value> {
    let shown = instance.interfaces.iter().filter_map(|id| own.interfaces.get(id)).map(|interface| {
        let network = own.networks.get(&interface.network);
        let name = network.map(|network| network.name.as_str()).unwrap_or_default();
        let leased = network.is_some_and(|network| network.dhcp_managed);
        let address = if leased { None } else { interface.address };
        let address = address.map(|address| address.to_string()).unwrap_or_default();
        let key = if single { interface.network.as_str() } else { name };
        let mut shown = json!({
            "ip": address,
            "ipAddress": address,
            "macAddress": interface.mac,
            "networkName": name,
            "type": if leased { "dynamic" } else { "fixed" },
            "version": 4,
            "href": own.href(&format!("pvm-instances/{}/networks/{key}", instance.id)),
        });
        if single {
            shown["networkID"] = json!(interface.network);
            shown["networkInterfaceID"] = json!(interface.id);
            shown["externalIP"] = json!("");
        }
        shown
    });
    shown.collect()
}

fn common(cloud: &Cloud, own: &Workspace, instance: &Instance, single: bool) -> Value {
    let networks = networks(own, instance, single);
    let reason = match instance.health.as_str() {
        "OK" => "",
        "CRITICAL" => "the virtual server failed",
        _ => "rmc_state - inactive",
    };
    let dedicated = instance.processor_type == "dedicated";
    #[allow(clippy::cast_possible_truncation, reason = "machines have some hundred cores")]
    let cores = (instance.processors.ceil() as i64).max(1);
    let disk = instance.volumes.iter().filter_map(|id| own.volumes.get(id)).map(|volume| volume.size_gb).sum::<f64>();
    let mut shown = json!({
        "pvmInstanceID": instance.id,
        "serverName": instance.name,
        "status": instance.status,
        "health": { "status": instance.health, "reason": reason, "lastUpdate": cloud.time(instance.updated) },
        "imageID": instance.image,
        "memory": instance.memory_gib,
        "minmem": 2,
        "maxmem": instance.memory_gib * 8.0,
        "processors": instance.processors,
        "minproc": if dedicated { 1.0 } else { 0.25 },
        "maxproc": instance.processors * 8.0,
        "procType": instance.processor_type,
        "sysType": instance.system,
        "virtualCores": { "assigned": cores, "max": cores * 8, "min": 1 },
        "networks": networks,
        "addresses": networks,
        "diskSize": disk,
        "osType": instance.operating_system,
        "operatingSystem": instance.operating_system,
        "storageType": instance.storage_type,
        "storagePool": instance.pool,
        "storagePoolAffinity": true,
        "storageConnection": "vSCSI",
        "pinPolicy": instance.pin_policy,
        "hostID": instance.host,
        "srcs": [],
        "progress": if instance.status == "BUILD" { 0 } else { 100 },
        "creationDate": cloud.time(instance.created),
        "updatedDate": cloud.time(instance.updated),
        "crn": crn(cloud, own, "pvm-instance", &instance.id),
    });
    if let Some(task) = &instance.task {
        shown["taskState"] = json!(task);
    }
    if let Some(group) = &instance.placement_group {
        shown["placementGroup"] = json!(group);
    }
    if let Some(fault) = &instance.fault {
        shown["fault"] =
            json!({ "code": 500, "message": fault, "details": fault, "created": cloud.time(instance.updated) });
    }
    shown
}

/// A virtual server among others.
pub(in crate::powervs::power) fn show_row(cloud: &Cloud, own: &Workspace, instance: &Instance) -> Value {
    let mut shown = common(cloud, own, instance, false);
    shown["href"] = json!(own.href(&format!("pvm-instances/{}", instance.id)));
    shown
}

/// A virtual server alone.
pub(in crate::powervs) fn show_one(cloud: &Cloud, own: &Workspace, instance: &Instance) -> Value {
    let mut shown = common(cloud, own, instance, true);
    shown["userTags"] = json!(tags::of(cloud, &crn(cloud, own, "pvm-instance", &instance.id)));
    let networks: Vec<&str> = instance
        .interfaces
        .iter()
        .filter_map(|id| own.interfaces.get(id))
        .map(|interface| interface.network.as_str())
        .collect();
    shown["networkIDs"] = json!(networks);
    shown["volumeIDs"] = json!(instance.volumes);
    shown
}

/// The virtual server of a DHCP server, which no list shows.
pub(super) fn hidden(cloud: &Cloud, own: &Workspace, server: &DhcpServer) -> Value {
    let instance = Instance {
        id: server.id.clone(),
        name: format!("DHCPSERVER{}", server.name),
        status: if server.status == "DELETING" { "ACTIVE" } else { server.status.as_str() }.to_owned(),
        task: (server.status == "DELETING").then(|| "deleting".to_owned()),
        health: if server.status == "ERROR" { "CRITICAL" } else { "OK" }.to_owned(),
        fault: (server.status == "ERROR").then(|| "the dhcp server could not be configured".to_owned()),
        image: String::new(),
        memory_gib: 2.0,
        processors: 0.25,
        processor_type: "shared".to_owned(),
        system: "s922".to_owned(),
        operating_system: "rhel".to_owned(),
        interfaces: Vec::new(),
        volumes: Vec::new(),
        storage_type: "tier3".to_owned(),
        pool: "Tier3-Flash-1".to_owned(),
        pin_policy: "none".to_owned(),
        placement_group: None,
        key: None,
        user_data: String::new(),
        host: 1,
        created: server.created,
        updated: server.created,
        guest_started: false,
        guest_up: false,
    };
    show_one(cloud, own, &instance)
}
