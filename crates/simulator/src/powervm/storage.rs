//! What a VIOS stores things on: disks, volume groups, virtual disks, optical media.

use base64::Engine as _;

use super::fault::Fault;
use super::ids;
use super::state::{Object, State};
use super::xml::Element;

/// A physical volume.
pub(crate) fn physical_volume(name: &str, megabytes: u64, words: &[&str], fibre: bool) -> Element {
    let serial = ids::hex(&[&[name], words].concat(), 32).to_uppercase();
    let page83 = format!("60050768{}", &serial[..24]);
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    Element::record(
        "PhysicalVolume",
        &[
            ("Description", if fibre { "MPIO IBM 2076 FC Disk" } else { "SAS Disk Drive" }),
            ("LocationCode", &format!("U78D2.001.{}-P1-D1", &serial[..7])),
            ("ReservePolicy", "NoReserve"),
            ("ReservePolicyAlgorithm", "Failover"),
            ("UniqueDeviceID", &format!("01{}", base64(&format!("IBM     2145    {page83}")))),
            ("AvailableForUsage", "true"),
            ("VolumeCapacity", &megabytes.to_string()),
            ("VolumeName", name),
            ("VolumeState", "active"),
            ("VolumeUniqueID", &format!("33213{page83}04214503IBMfcp")),
            ("IsFibreChannelBacked", if fibre { "true" } else { "false" }),
            ("DescriptorPage83", &base64(&page83)),
        ],
    )
}

/// A media repository without media.
pub(crate) fn repository(gigabytes: f64) -> Element {
    let size = format!("{gigabytes}");
    let mut repository =
        Element::record("VirtualMediaRepository", &[("RepositoryName", "VMLibrary"), ("RepositorySize", &size)]);
    repository.put(Element::new("OpticalMedia"));
    repository
}

/// An optical medium.
pub(crate) fn medium(name: &str, gigabytes: f64) -> Element {
    Element::record(
        "VirtualOpticalMedia",
        &[
            ("MediaName", name),
            ("MediaUDID", &format!("0e{name}")),
            ("MountType", "rw"),
            ("Size", &format!("{gigabytes:.6}")),
        ],
    )
}

/// The media of a VIOS, by name.
pub(crate) fn find_medium<'a>(state: &'a State, host: usize, vios: &'a str, name: &'a str) -> Option<&'a Element> {
    state.children(host, vios, "VolumeGroup").find_map(|group| {
        let list = group.element.at("MediaRepositories/VirtualMediaRepository/OpticalMedia")?;
        list.children.iter().find(|medium| medium.text("MediaName") == name)
    })
}

/// A virtual disk of a VIOS, by what a client says about it.
pub(crate) fn find_disk(state: &State, host: usize, vios: &str, wanted: &Element) -> Option<Element> {
    let (udid, name) = (wanted.text("UniqueDeviceID"), wanted.text("DiskName"));
    state.children(host, vios, "VolumeGroup").find_map(|group| {
        let fits = |disk: &&Element| {
            if udid.is_empty() { disk.text("DiskName") == name } else { disk.text("UniqueDeviceID") == udid }
        };
        group.element.child("VirtualDisks")?.children.iter().find(fits).cloned()
    })
}

/// How much of a group is used, in GB.
pub(crate) fn used(group: &Element) -> f64 {
    let disks = group.child("VirtualDisks").into_iter().flat_map(|list| &list.children);
    let disks: f64 = disks.filter_map(|disk| disk.number::<f64>("DiskCapacity")).sum();
    let repositories = group.child("MediaRepositories").into_iter().flat_map(|list| &list.children);
    disks + repositories.filter_map(|repository| repository.number::<f64>("RepositorySize")).sum::<f64>()
}

/// Takes over what a client made of a volume group.
pub(crate) fn update_group(state: &mut State, host: usize, id: &str, posted: &Element) -> Result<(), Fault> {
    let group = state.of_kind(host, "VolumeGroup", id).ok_or_else(|| Fault::not_found("VolumeGroup", id))?.clone();
    let vios = group.parent.clone().unwrap_or_default();
    let disks = disks(state, host, &group, &vios, posted)?;
    let repositories = repositories(state, host, &group, &vios, posted)?;
    let mut element = group.element.clone();
    element.put(disks);
    element.put(repositories);
    let capacity: f64 = element.number("GroupCapacity").unwrap_or_default();
    if used(&element) > capacity {
        let name = element.text("GroupName");
        return Err(Fault::refused(format!("VIOS01042020: There is not enough space in volume group {name}.")));
    }
    if let Some(group) = state.object_mut(host, &group.id) {
        group.element = element;
    }
    state.announce(host, "MODIFY_URI", &group.id, "Other");
    Ok(())
}

fn disks(state: &State, host: usize, group: &Object, vios: &str, posted: &Element) -> Result<Element, Fault> {
    let stored = group.element.child("VirtualDisks").cloned().unwrap_or_default();
    let posted = posted.child("VirtualDisks").cloned().unwrap_or_default();
    let serial = group.element.text("GroupSerialID");
    let number = |disk: &Element| disk.text("UniqueDeviceID").rsplit('.').next().and_then(|n| n.parse::<u32>().ok());
    let mut last = stored.children.iter().filter_map(number).max().unwrap_or_default();
    let mut result: Vec<Element> = Vec::new();
    for disk in &posted.children {
        let udid = disk.text("UniqueDeviceID");
        let size: f64 = disk.number("DiskCapacity").unwrap_or_default();
        if let Some(known) =
            stored.children.iter().find(|known| !udid.is_empty() && known.text("UniqueDeviceID") == udid)
        {
            let mut known = known.clone();
            if known.number::<f64>("DiskCapacity").is_some_and(|before| size < before) {
                return Err(Fault::refused("VIOS01042021: A virtual disk cannot shrink."));
            }
            known.set("DiskCapacity", size);
            known.set("DiskName", disk.text("DiskName"));
            result.push(known);
            continue;
        }
        let name = disk.text("DiskName");
        if name.is_empty() || name.len() > 15 || size <= 0.0 {
            return Err(Fault::refused(format!("VIOS01042022: '{name}' of {size} GB is not a valid virtual disk.")));
        }
        if stored.children.iter().chain(&result).any(|other| other.text("DiskName") == name) {
            return Err(Fault::refused(format!("VIOS01042023: The virtual disk {name} exists already.")));
        }
        last += 1;
        let mut made = Element::record(
            "VirtualDisk",
            &[
                ("DiskCapacity", &format!("{size}")),
                ("DiskLabel", "None"),
                ("DiskName", name),
                ("UniqueDeviceID", &format!("03{serial}.{last}")),
            ],
        );
        made.put(Element::reference("VolumeGroup", state.path_of(host, group)));
        result.push(made);
    }
    let gone =
        |known: &&Element| !result.iter().any(|disk| disk.text("UniqueDeviceID") == known.text("UniqueDeviceID"));
    if let Some(disk) = stored.children.iter().filter(gone).find(|disk| is_mapped(state, host, vios, disk)) {
        return Err(Fault::refused(format!("VIOS01042024: The virtual disk {} is mapped.", disk.text("DiskName"))));
    }
    Ok(Element::of("VirtualDisks", result))
}

fn repositories(state: &State, host: usize, group: &Object, vios: &str, posted: &Element) -> Result<Element, Fault> {
    let stored = group.element.child("MediaRepositories").cloned().unwrap_or_default();
    let Some(wanted) = posted.at("MediaRepositories/VirtualMediaRepository") else {
        let media = stored.at("VirtualMediaRepository/OpticalMedia").map_or(0, |list| list.children.len());
        if media > 0 {
            return Err(Fault::refused("VIOS01042025: The media repository holds media."));
        }
        return Ok(Element::new("MediaRepositories"));
    };
    let mut made = repository(wanted.number("RepositorySize").unwrap_or(1.0));
    if !wanted.text("RepositoryName").is_empty() {
        made.set("RepositoryName", wanted.text("RepositoryName"));
    }
    let before = stored.at("VirtualMediaRepository/OpticalMedia").cloned().unwrap_or_default();
    let mut media = Vec::new();
    for medium_posted in wanted.child("OpticalMedia").into_iter().flat_map(|list| &list.children) {
        let name = medium_posted.text("MediaName");
        if name.is_empty() || name.len() > 37 {
            return Err(Fault::refused(format!("VIOS01042026: '{name}' is not a valid name for a medium.")));
        }
        let known = before.children.iter().find(|known| known.text("MediaName") == name).cloned();
        media.push(known.unwrap_or_else(|| medium(name, medium_posted.number("Size").unwrap_or_default())));
    }
    let gone = |known: &&Element| !media.iter().any(|other| other.text("MediaName") == known.text("MediaName"));
    if let Some(medium) = before.children.iter().filter(gone).find(|medium| is_mapped(state, host, vios, medium)) {
        return Err(Fault::refused(format!("VIOS01042027: The medium {} is loaded.", medium.text("MediaName"))));
    }
    made.put(Element::of("OpticalMedia", media));
    Ok(Element::of("MediaRepositories", [made]))
}

/// What tells two things that can be mapped apart.
pub(crate) fn identity(storage: &Element) -> String {
    let field = match storage.name.as_str() {
        "VirtualOpticalMedia" => "MediaName",
        "PhysicalVolume" => "VolumeName",
        _ => "UniqueDeviceID",
    };
    format!("{}:{}", storage.name, storage.text(field))
}

/// Whether some mapping of a VIOS holds it.
pub(crate) fn is_mapped(state: &State, host: usize, vios: &str, storage: &Element) -> bool {
    let wanted = identity(storage);
    let mappings = state.object(host, vios).and_then(|vios| vios.element.child("VirtualSCSIMappings"));
    let storages = mappings.into_iter().flat_map(|list| &list.children).filter_map(|mapping| mapping.child("Storage"));
    storages.flat_map(|storage| &storage.children).any(|storage| identity(storage) == wanted)
}

/// Takes a medium out of a partition and deletes it, as a client has asked for when it switched the partition on.
pub(crate) fn eject(state: &mut State, host: usize, partition: &str, name: &str) {
    let Some(number) = state.of_kind(host, "LogicalPartition", partition).map(Object::partition_id) else { return };
    let vioses: Vec<String> = state.all(host, "VirtualIOServer").map(|vios| vios.id.clone()).collect();
    for vios in vioses {
        let shows = |mapping: &Element| {
            mapping.number("ClientAdapter/LocalPartitionID") == Some(number)
                && mapping.text("Storage/VirtualOpticalMedia/MediaName") == name
        };
        let mut taken = false;
        if let Some(vios) = state.object_mut(host, &vios) {
            let mappings = &mut vios.element.child_mut("VirtualSCSIMappings").children;
            let before = mappings.len();
            mappings.retain(|mapping| !shows(mapping));
            taken = mappings.len() < before;
        }
        if !taken {
            continue;
        }
        state.announce(host, "MODIFY_URI", &vios, "VirtualSCSIMappings");
        let groups: Vec<String> = state.children(host, &vios, "VolumeGroup").map(|group| group.id.clone()).collect();
        for group in groups {
            let Some(group) = state.object_mut(host, &group) else { continue };
            if group.element.at("MediaRepositories/VirtualMediaRepository/OpticalMedia").is_some() {
                let repository = group.element.child_mut("MediaRepositories").child_mut("VirtualMediaRepository");
                repository.child_mut("OpticalMedia").children.retain(|medium| medium.text("MediaName") != name);
            }
        }
        state.hosts[host].media.remove(&format!("{vios}/{name}"));
    }
}
