//! Moving a partition to another host while it runs, or while it does not.

use super::state::{Job, Object, State};
use super::xml::Element;
use super::{fibre, fibre_move, partition, scsi};

/// Looks whether a partition can go where a job wants it.
pub(crate) fn check(state: &State, host: usize, id: &str, job: &Job) -> Result<(), String> {
    let target = target(state, host, job)?;
    if !is_trusted(state, host, target) {
        let (source, target) = (&state.hosts[host].name, &state.hosts[target].name);
        return Err(format!(
            "HSCLA313: The SSH key of the management console of {source} is not authorized at {target}."
        ));
    }
    if state.hosts[host].consoles.contains_key(id) {
        return Err("HSCLA314: A console of the partition is open.".to_owned());
    }
    let partition = state.object(host, id).ok_or("HSCLA300: The partition does not exist.")?;
    let element = &partition.element;
    let name = element.text("PartitionName");
    if element.is("IsManagementPartition") {
        return Err(format!("HSCLA301: The management partition {name} cannot be migrated."));
    }
    if element.text("MigrationState") != "Not_Migrating" {
        return Err(format!("HSCLA302: The partition {name} is being migrated already."));
    }
    match element.text("PartitionState") {
        "running" if element.text("ResourceMonitoringControlState") != "active" => {
            return Err(format!("HSCLA303: The partition {name} has no RMC connection."));
        }
        "running" | "not activated" => {}
        other => return Err(format!("HSCLA304: The partition {name} is {other}.")),
    }
    let region = |host: usize| {
        let system = &state.hosts[host].objects[&state.hosts[host].system].element;
        system.text("AssociatedSystemMemoryConfiguration/MemoryRegionSize").to_owned()
    };
    if region(host) != region(target) {
        return Err("HSCLA305: The memory region sizes of the systems differ.".to_owned());
    }
    let (memory, units) = partition::share(element);
    let (free_memory, free_units) = partition::available(state, target);
    if memory > free_memory || units > free_units {
        return Err(format!("HSCLA306: The destination has not enough memory or processors for {name}."));
    }
    if state.objects(target).any(|other| other.is_partition() && other.element.text("PartitionName") == name) {
        return Err(format!("HSCLA307: There is a partition {name} on the destination."));
    }
    for (vios, mapping) in mappings(state, host, partition.partition_id()) {
        let thing = mapping.child("Storage").and_then(|storage| storage.children.first());
        let Some(thing) = thing else { continue };
        let other = destination(state, target, &vios, job, &mapping)?;
        let reachable = match thing.name.as_str() {
            "LogicalUnit" => true,
            "PhysicalVolume" => disk(state, target, &other, thing).is_some(),
            _ => false,
        };
        if !reachable {
            return Err(format!("HSCLA308: The storage of {name} on {vios} is not available on the destination."));
        }
    }
    fibre_move::plan(state, host, target, partition.partition_id(), job).map(drop)
}

fn target(state: &State, host: usize, job: &Job) -> Result<usize, String> {
    let name = job.parameter("TargetManagedSystemName");
    let found = state.hosts.iter().position(|other| other.name == name);
    match found {
        Some(target) if target != host => Ok(target),
        Some(_) => Err("HSCLA309: The destination is the source.".to_owned()),
        None => Err(format!("HSCLA310: The managed system {name} is not known.")),
    }
}

/// Whether a host lets another one in: its `NovaLink` knows the other's key. One that has none is not asked for it.
fn is_trusted(state: &State, host: usize, target: usize) -> bool {
    let console = |host: usize| state.all(host, "ManagementConsole").next();
    let own = console(host).map(|console| console.element.text("PublicSSHKey").trim()).unwrap_or_default();
    let known = console(target).and_then(|console| console.element.child("AuthorizedKeys"));
    own.is_empty() || known.is_some_and(|list| list.children.iter().any(|key| key.text.trim() == own))
}

/// The mappings of a partition, with the names of their VIOSes.
fn mappings(state: &State, host: usize, number: u32) -> Vec<(String, Element)> {
    let mut found = Vec::new();
    for vios in state.all(host, "VirtualIOServer") {
        let list = vios.element.child("VirtualSCSIMappings").into_iter().flat_map(|list| &list.children);
        let own = list.filter(|mapping| mapping.number("ClientAdapter/LocalPartitionID") == Some(number));
        found.extend(own.map(|mapping| (vios.element.text("PartitionName").to_owned(), mapping.clone())));
    }
    found
}

/// The VIOS that takes over a mapping: the one that the job names for its slot, else the one of the same name.
fn destination(state: &State, target: usize, vios: &str, job: &Job, mapping: &Element) -> Result<String, String> {
    let slot = mapping.text("ClientAdapter/VirtualSlotNumber");
    let wanted = job.parameter("VirtualSCSIMappings").split(',').find_map(|word| {
        let mut parts = word.split('/');
        (parts.next() == Some(slot)).then(|| (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()))
    });
    let fits = |other: &&Object| match wanted {
        Some(("", number)) => other.element.text("PartitionID") == number,
        Some((name, _)) => other.element.text("PartitionName") == name,
        None => other.element.text("PartitionName") == vios,
    };
    let found = state.all(target, "VirtualIOServer").find(fits);
    found.map(|vios| vios.id.clone()).ok_or_else(|| format!("HSCLA311: The destination has no VIOS for {vios}."))
}

/// The disk of a VIOS that is the same as one of another.
fn disk(state: &State, host: usize, vios: &str, wanted: &Element) -> Option<Element> {
    let disks = state.object(host, vios)?.element.child("PhysicalVolumes")?;
    let same = |disk: &&Element| disk.text("UniqueDeviceID") == wanted.text("UniqueDeviceID");
    disks.children.iter().find(same).cloned()
}

/// A migration begins.
pub(crate) fn begin(state: &mut State, host: usize, id: &str) {
    if let Some(partition) = state.object_mut(host, id) {
        partition.element.set("MigrationState", "Migration_Starting");
        if partition.element.text("PartitionState") == "running" {
            partition.element.set("PartitionState", "migrating running");
        } else {
            partition.element.set("PartitionState", "migrating not active");
        }
    }
    state.announce(host, "MODIFY_URI", id, "PartitionState");
}

/// A migration is given up.
pub(crate) fn undo(state: &mut State, host: usize, id: &str) {
    let Some(partition) = state.object_mut(host, id) else { return };
    let before = match partition.element.text("PartitionState") {
        "migrating running" => "running",
        "migrating not active" => "not activated",
        _ => return,
    };
    partition.element.set("MigrationState", "Not_Migrating");
    partition.element.set("PartitionState", before);
    state.announce(host, "MODIFY_URI", id, "PartitionState");
    let now = state.clock().milliseconds();
    for job in state.hosts[host].jobs.values_mut() {
        if job.operation == "Migrate" && job.status == "RUNNING" && job.target.as_deref() == Some(id) {
            super::operations::fail(job, "HSCLA312: The migration was stopped.".to_owned(), now);
        }
    }
}

/// A migration is done: the partition is on the other host now, with all that it has.
pub(crate) fn finish(state: &mut State, host: usize, id: &str, job: &Job) -> Result<(), String> {
    undo_marks(state, host, id);
    if let Err(message) = check(state, host, id, job) {
        state.announce(host, "MODIFY_URI", id, "PartitionState");
        return Err(message);
    }
    let target = target(state, host, job)?;
    let partition = state.object(host, id).ok_or("HSCLA300: The partition does not exist.")?.clone();
    let old_number = partition.partition_id();
    let moved: Vec<(String, Element)> = mappings(state, host, old_number);
    let ports = fibre_move::plan(state, host, target, old_number, job)?;
    let adapters: Vec<Object> =
        state.objects(host).filter(|object| object.parent.as_deref() == Some(id)).cloned().collect();
    let vioses: Vec<String> = state.all(host, "VirtualIOServer").map(|vios| vios.id.clone()).collect();
    for vios in vioses {
        if let Some(vios) = state.object_mut(host, &vios) {
            let list = vios.element.child_mut("VirtualSCSIMappings");
            list.children.retain(|mapping| mapping.number("ClientAdapter/LocalPartitionID") != Some(old_number));
        }
    }
    fibre::release(state, host, old_number);
    for adapter in &adapters {
        state.remove(host, &adapter.id);
    }
    state.remove(host, id);

    let mut element = partition.element.clone();
    element.remove("PartitionID");
    partition::complete(state, target, &mut element, id);
    let system = state.hosts[target].system.clone();
    state.add(target, id, Some(&system), element);
    let number = state.object(target, id).map(Object::partition_id).unwrap_or_default();
    for mut adapter in adapters {
        let vlan = vlan_for(job, adapter.element.text("MACAddress"));
        let slot = adapter.element.text("VirtualSlotNumber").to_owned();
        let place = format!("{}-V{number}-C{slot}", state.location(target));
        adapter.element.set("LocalPartitionID", number);
        adapter.element.set("DynamicReconfigurationConnectorName", &place);
        adapter.element.set("LocationCode", place);
        if let Some(vlan) = vlan {
            adapter.element.set("PortVLANID", vlan);
        }
        let switch = state
            .all(target, "VirtualSwitch")
            .find(|switch| switch.element.text("SwitchID") == adapter.element.text("VirtualSwitchID"))
            .map(|switch| state.path_of(target, switch));
        if let Some(switch) = switch {
            adapter.element.put(Element::of("AssociatedVirtualSwitch", [Element::reference("link", switch)]));
        }
        state.add(target, &adapter.id, Some(id), adapter.element);
    }
    // Adapters of a running partition cannot be changed, but here they only move.
    let shown =
        state.object(target, id).map(|object| object.element.text("PartitionState").to_owned()).unwrap_or_default();
    if let Some(partition) = state.object_mut(target, id) {
        partition.element.set("PartitionState", "not activated");
    }
    for (vios, mapping) in moved {
        let other = destination(state, target, &vios, job, &mapping)?;
        let mut wanted = mapping.clone();
        wanted.put(Element::reference("AssociatedLogicalPartition", state.link(target, id)));
        wanted.child_mut("ServerAdapter").remove("VirtualSlotNumber");
        if let Some(thing) = wanted.child("Storage").and_then(|storage| storage.children.first()).cloned()
            && thing.name == "PhysicalVolume"
            && let Some(disk) = disk(state, target, &other, &thing)
        {
            wanted.put(Element::of("Storage", [disk]));
        }
        let made = scsi::make(state, target, &other, &wanted).map_err(|fault| fault.message)?;
        if let Some(vios) = state.object_mut(target, &other) {
            vios.element.child_mut("VirtualSCSIMappings").children.push(made);
        }
    }
    for port in ports {
        let wanted = port.mapping(&state.link(target, id), shown == "running");
        fibre::add(state, target, &port.vios, &wanted).map_err(|fault| fault.message)?;
    }
    state.set_partition_state(target, id, &shown);
    Ok(())
}

fn undo_marks(state: &mut State, host: usize, id: &str) {
    if let Some(partition) = state.object_mut(host, id) {
        let before = match partition.element.text("PartitionState") {
            "migrating running" => "running",
            "migrating not active" => "not activated",
            other => other,
        };
        let before = before.to_owned();
        partition.element.set("MigrationState", "Not_Migrating");
        partition.element.set("PartitionState", before);
    }
}

/// The VLAN that a job has for an adapter: `MAC/VLAN`.
fn vlan_for<'a>(job: &'a Job, mac: &str) -> Option<&'a str> {
    job.parameter("VlanMappings").split(',').find_map(|word| {
        let (address, rest) = word.split_once('/')?;
        address.eq_ignore_ascii_case(mac).then(|| rest.split('/').next().unwrap_or_default())
    })
}
