//! What stands in the tables.

use landfall_platform_powervm::{
    Error,
    client::{Client, Group, LogicalPartition, ManagedSystem, Storage, VirtualIoServer},
};
use serde::Serialize;

pub(super) const SYSTEMS: &[&str] = &["name", "machine", "state", "memory", "free", "processors", "free"];

pub(super) fn system(system: &ManagedSystem) -> Vec<String> {
    vec![
        system.name.clone(),
        system.machine.clone(),
        system.state.clone(),
        gib(system.memory_mib),
        gib(system.free_memory_mib),
        format!("{:.2}", system.processors),
        format!("{:.2}", system.free_processors),
    ]
}

pub(super) const LPARS: &[&str] =
    &["id", "name", "type", "state", "rmc", "memory", "cpus", "units", "operating system"];

pub(super) fn lpar(lpar: &LogicalPartition) -> Vec<String> {
    let system = if lpar.operating_system == "Unknown" { "" } else { &lpar.operating_system };
    vec![
        lpar.number.to_string(),
        lpar.name.clone(),
        lpar.kind.clone(),
        lpar.state.clone(),
        lpar.rmc.clone(),
        gib(lpar.memory_mib),
        lpar.processors.to_string(),
        format!("{:.2}", lpar.processing_units),
        system.to_owned(),
    ]
}

pub(super) const VIOSES: &[&str] = &["id", "name", "state", "rmc", "memory", "cpus", "mappings", "ports"];

pub(super) fn vios(vios: &VirtualIoServer) -> Vec<String> {
    let count = |wanted: fn(&Storage) -> bool| {
        vios.mappings.iter().filter_map(|mapping| mapping.storage.as_ref()).filter(|storage| wanted(storage)).count()
    };
    let media = count(|storage| matches!(storage, Storage::OpticalMedium(_)));
    let orphans = vios.mappings.iter().filter(|mapping| mapping.partition.is_none()).count();
    let mut mappings =
        format!("{} disks, {media} media", count(|storage| !matches!(storage, Storage::OpticalMedium(_))));
    if orphans > 0 {
        mappings = format!("{mappings}, {orphans} orphaned");
    }
    vec![
        vios.partition.number.to_string(),
        vios.partition.name.clone(),
        vios.partition.state.clone(),
        vios.partition.rmc.clone(),
        gib(vios.partition.memory_mib),
        vios.partition.processors.to_string(),
        mappings,
        vios.ports.len().to_string(),
    ]
}

pub(super) const NETWORKS: &[&str] = &["system", "vlan", "switch", "name", "tagged", "bridged"];

/// A network with where it leads.
#[derive(Serialize)]
pub(super) struct NetworkRow {
    system: String,
    vlan: u16,
    switch: String,
    name: String,
    tagged: bool,
    bridged: bool,
}

pub(super) fn network(row: &NetworkRow) -> Vec<String> {
    let NetworkRow { system, vlan, switch, name, .. } = row;
    vec![system.clone(), vlan.to_string(), switch.clone(), name.clone(), word(row.tagged), word(row.bridged)]
}

pub(super) async fn networks(client: &Client) -> Result<Vec<NetworkRow>, Error> {
    let mut rows = Vec::new();
    for system in client.systems().await? {
        let switches = client.switches(&system.id).await?;
        let bridges = client.bridges(&system.id).await?;
        for network in client.networks(&system.id).await? {
            let switch = switches.iter().find(|switch| switch.number == network.switch);
            rows.push(NetworkRow {
                system: system.name.clone(),
                vlan: network.vlan,
                switch: switch.map(|switch| switch.name.clone()).unwrap_or_default(),
                // Bridges are on the first switch unless somebody has taken pains to have it otherwise.
                bridged: network.switch == 0 && bridges.iter().any(|bridge| bridge.vlans.contains(&network.vlan)),
                name: network.name,
                tagged: network.tagged,
            });
        }
    }
    rows.sort_by(|a, b| (&a.system, &a.switch, a.vlan).cmp(&(&b.system, &b.switch, b.vlan)));
    Ok(rows)
}

pub(super) const STORAGE: &[&str] = &["where", "kind", "name", "size", "free"];

/// Something that holds data.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StorageRow {
    place: String,
    kind: &'static str,
    name: String,
    size_gib: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_gib: Option<f64>,
}

pub(super) fn store(row: &StorageRow) -> Vec<String> {
    let free = row.free_gib.map(|free| format!("{free:.1} GiB")).unwrap_or_default();
    vec![row.place.clone(), row.kind.to_owned(), row.name.clone(), format!("{:.1} GiB", row.size_gib), free]
}

pub(super) async fn storage(client: &Client) -> Result<Vec<StorageRow>, Error> {
    let mut rows = Vec::new();
    for pool in client.pools().await? {
        rows.push(StorageRow {
            place: "cluster".to_owned(),
            kind: "shared pool",
            name: pool.name.clone(),
            size_gib: pool.capacity_gib,
            free_gib: Some(pool.free_gib),
        });
        for tier in client.tiers(&pool.id).await? {
            for unit in client.logical_units(&tier.id).await? {
                let place = format!("{}/{}", pool.name, tier.name);
                let kind = if unit.kind == "VirtualIO_Image" { "image unit" } else { "logical unit" };
                rows.push(StorageRow { place, kind, name: unit.name, size_gib: unit.capacity_gib, free_gib: None });
            }
        }
    }
    for vios in client.vioses(&[Group::ViosStorage]).await? {
        let place = vios.partition.name;
        for group in client.volume_groups(&vios.partition.id).await? {
            rows.push(StorageRow {
                place: place.clone(),
                kind: "volume group",
                name: group.name.clone(),
                size_gib: group.capacity_gib,
                free_gib: Some(group.free_gib),
            });
            let inside = format!("{place}/{}", group.name);
            for disk in group.disks {
                let place = inside.clone();
                rows.push(StorageRow {
                    place,
                    kind: "virtual disk",
                    name: disk.name,
                    size_gib: disk.capacity_gib,
                    free_gib: None,
                });
            }
            for medium in group.media.into_iter().flatten() {
                let place = inside.clone();
                rows.push(StorageRow {
                    place,
                    kind: "medium",
                    name: medium.name,
                    size_gib: medium.size_gib,
                    free_gib: None,
                });
            }
        }
        for (name, mib) in vios.disks {
            #[expect(clippy::cast_precision_loss, reason = "sizes of disks are far below 2^52")]
            let size_gib = mib as f64 / 1024.0;
            rows.push(StorageRow { place: place.clone(), kind: "disk", name, size_gib, free_gib: None });
        }
    }
    Ok(rows)
}

fn gib(mib: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 MiB")]
    let gib = mib as f64 / 1024.0;
    format!("{gib:.1} GiB")
}

fn word(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}
