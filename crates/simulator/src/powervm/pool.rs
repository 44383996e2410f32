//! Logical units of shared storage pools.

use super::fault::Fault;
use super::ids;
use super::state::{Object, State};
use super::xml::Element;

/// Makes a logical unit in a tier.
pub(crate) fn create_unit(state: &mut State, host: usize, tier: &str, body: &Element) -> Result<String, Fault> {
    let tier = state.of_kind(host, "Tier", tier).ok_or_else(|| Fault::not_found("Tier", tier))?.clone();
    let name = body.text("UnitName").to_owned();
    let size: f64 = body.number("UnitCapacity").unwrap_or_default();
    if name.is_empty() || size <= 0.0 {
        return Err(Fault::refused(format!("VIOS01060001: '{name}' of {size} GB is not a valid logical unit.")));
    }
    let own = |unit: &&Object| unit.parent == Some(tier.id.clone());
    if state.all(host, "LogicalUnit").filter(own).any(|unit| unit.element.text("UnitName") == name) {
        return Err(Fault::refused(format!("VIOS01060002: The logical unit {name} exists already.")));
    }
    let kind = match body.text("LogicalUnitType") {
        "" => "VirtualIO_Disk",
        kind => kind,
    };
    let thin = if body.text("ThinDevice").is_empty() { "true" } else { body.text("ThinDevice") };
    let source = body.text("ClonedFrom").to_owned();
    if !source.is_empty() && find_unit(state, host, &source, "").is_none() {
        return Err(Fault::refused(format!("VIOS01060003: There is no logical unit {source} to clone.")));
    }
    let (capacity, used) = space(state, host, tier.parent.as_deref().unwrap_or_default());
    if thin != "true" && used + size > capacity {
        return Err(Fault::refused("VIOS01060004: The shared storage pool has not enough space."));
    }
    let fresh = state.fresh();
    let prefix = if kind == "VirtualIO_Image" { "29" } else { "27" };
    let udid = format!("{prefix}{}", ids::hex(&["unit", &fresh], 64));
    let mut unit = Element::record(
        "LogicalUnit",
        &[
            ("ThinDevice", thin),
            ("UniqueDeviceID", &udid),
            ("UnitCapacity", &format!("{size}")),
            ("LogicalUnitType", kind),
            ("InUse", "false"),
            ("UnitName", &name),
        ],
    );
    if !source.is_empty() {
        unit.set("ClonedFrom", source);
    }
    let id = ids::uuid(&["unit", &fresh]);
    state.add(host, &id, Some(&tier.id), unit);
    Ok(id)
}

/// Deletes a logical unit that nobody uses.
pub(crate) fn delete_unit(state: &mut State, host: usize, id: &str) -> Result<(), Fault> {
    let unit = state.of_kind(host, "LogicalUnit", id).ok_or_else(|| Fault::not_found("LogicalUnit", id))?;
    let (id, udid, name) =
        (unit.id.clone(), unit.element.text("UniqueDeviceID").to_owned(), unit.element.text("UnitName").to_owned());
    if in_use(state, &udid) {
        return Err(Fault::refused(format!("VIOS01060005: The logical unit {name} is mapped.")));
    }
    state.remove(host, &id);
    Ok(())
}

/// Whether any VIOS of any host maps it.
pub(crate) fn in_use(state: &State, udid: &str) -> bool {
    (0..state.hosts.len()).any(|host| {
        state.all(host, "VirtualIOServer").any(|vios| {
            let mappings = vios.element.child("VirtualSCSIMappings").into_iter().flat_map(|list| &list.children);
            let mut units = mappings.filter_map(|mapping| mapping.at("Storage/LogicalUnit"));
            units.any(|unit| unit.text("UniqueDeviceID") == udid)
        })
    })
}

/// A logical unit by its device id, else by its name. The first two digits of an id say what it is used for, and do not count.
pub(crate) fn find_unit<'a>(state: &'a State, host: usize, udid: &'a str, name: &'a str) -> Option<&'a Object> {
    let tail = |udid: &'a str| udid.get(2..).unwrap_or_default();
    state.all(host, "LogicalUnit").find(|unit| {
        let own = unit.element.text("UniqueDeviceID");
        if udid.is_empty() {
            unit.element.text("UnitName") == name
        } else {
            own.get(2..).unwrap_or_default() == tail(udid)
        }
    })
}

/// The units of a pool, in all its tiers.
pub(crate) fn units<'a>(state: &'a State, host: usize, pool: &'a str) -> impl Iterator<Item = &'a Object> {
    let tiers = state.children(host, pool, "Tier");
    tiers.flat_map(move |tier| state.children(host, &tier.id, "LogicalUnit"))
}

/// The capacity of a pool, and how much of it is used, in GB. What is thin takes a tenth of its size.
pub(crate) fn space(state: &State, host: usize, pool: &str) -> (f64, f64) {
    let capacity = state.object(host, pool).and_then(|pool| pool.element.number("Capacity")).unwrap_or_default();
    let used = units(state, host, pool).map(|unit| {
        let size: f64 = unit.element.number("UnitCapacity").unwrap_or_default();
        if unit.element.is("ThinDevice") { size / 10.0 } else { size }
    });
    (capacity, used.sum())
}

/// Takes over what a client made of a pool: units that are new, and units that are gone.
pub(crate) fn update_pool(state: &mut State, host: usize, id: &str, posted: &Element) -> Result<(), Fault> {
    let pool = state.of_kind(host, "SharedStoragePool", id).ok_or_else(|| Fault::not_found("SharedStoragePool", id))?;
    let id = pool.id.clone();
    let default = state.children(host, &id, "Tier").find(|tier| tier.element.is("IsDefault"));
    let tier = default.map(|tier| tier.id.clone()).unwrap_or_default();
    let wanted = posted.child("LogicalUnits").cloned().unwrap_or_default();
    let kept: Vec<&str> = wanted.children.iter().map(|unit| unit.text("UniqueDeviceID")).collect();
    let gone: Vec<String> = units(state, host, &id)
        .filter(|unit| !kept.contains(&unit.element.text("UniqueDeviceID")))
        .map(|unit| unit.id.clone())
        .collect();
    for unit in gone {
        delete_unit(state, host, &unit)?;
    }
    for unit in wanted.children.iter().filter(|unit| unit.text("UniqueDeviceID").is_empty()) {
        create_unit(state, host, &tier, unit)?;
    }
    state.announce(host, "MODIFY_URI", &id, "LogicalUnit");
    Ok(())
}

/// Makes one unit the clone of another, as old clients ask for.
pub(crate) fn linked_clone(
    state: &mut State,
    host: usize,
    source: &str,
    target: &str,
) -> Result<Vec<(String, String)>, String> {
    let missing = |udid: &str| format!("VIOS01060003: There is no logical unit {udid}.");
    let source = find_unit(state, host, source, "").ok_or_else(|| missing(source))?;
    let udid = source.element.text("UniqueDeviceID").to_owned();
    let id = find_unit(state, host, target, "").ok_or_else(|| missing(target))?.id.clone();
    if let Some(unit) = state.object_mut(host, &id) {
        unit.element.set("ClonedFrom", udid);
    }
    Ok(Vec::new())
}

/// Makes a unit larger: the job of clusters that takes the unit's device id and its size to be, and returns both. Whether a console
/// takes the size that a unit has already is not known; here it must be larger.
pub(crate) fn grow_unit(
    state: &mut State,
    host: usize,
    udid: &str,
    capacity: &str,
) -> Result<Vec<(String, String)>, String> {
    let unit = Some(udid).filter(|udid| !udid.is_empty()).and_then(|udid| find_unit(state, host, udid, ""));
    let unit = unit.ok_or_else(|| format!("VIOS01060003: There is no logical unit {udid}."))?;
    let (id, udid, name) =
        (unit.id.clone(), unit.element.text("UniqueDeviceID").to_owned(), unit.element.text("UnitName").to_owned());
    let before: f64 = unit.element.number("UnitCapacity").unwrap_or_default();
    let size = capacity.parse::<f64>().ok().filter(|size| size.is_finite());
    let size = size.ok_or_else(|| format!("VIOS01060006: '{capacity}' is not a capacity."))?;
    if size <= before {
        return Err(format!("VIOS01060007: The logical unit {name} has {before} GB and can only become larger."));
    }
    let tier = unit.parent.as_deref().and_then(|tier| state.object(host, tier));
    let pool = tier.and_then(|tier| tier.parent.clone()).unwrap_or_default();
    let (whole, used) = space(state, host, &pool);
    if !unit.element.is("ThinDevice") && used + size - before > whole {
        return Err("VIOS01060004: The shared storage pool has not enough space.".to_owned());
    }
    if let Some(unit) = state.object_mut(host, &id) {
        unit.element.set("UnitCapacity", size);
    }
    show_size(state, &udid, size);
    state.announce(host, "MODIFY_URI", &id, "LogicalUnit");
    Ok(vec![("LogicalUnitUDID".to_owned(), udid), ("Capacity".to_owned(), size.to_string())])
}

/// Every VIOS that maps a unit shows its size.
fn show_size(state: &mut State, udid: &str, size: f64) {
    for host in 0..state.hosts.len() {
        let vioses: Vec<String> = state.all(host, "VirtualIOServer").map(|vios| vios.id.clone()).collect();
        for vios in vioses {
            let Some(vios) = state.object_mut(host, &vios) else { continue };
            for mapping in &mut vios.element.child_mut("VirtualSCSIMappings").children {
                let storage = mapping.child_mut("Storage").children.first_mut();
                if let Some(unit) = storage.filter(|unit| unit.text("UniqueDeviceID") == udid) {
                    unit.set("UnitCapacity", size);
                }
            }
        }
    }
}
