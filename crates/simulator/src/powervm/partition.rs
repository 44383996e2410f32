//! Partitions: what a client may ask for, and what the hypervisor adds.

use super::fault::Fault;
use super::state::State;
use super::xml::Element;

/// The name of the pool that processors come from if nothing else is said.
pub(crate) const DEFAULT_POOL: &str = "DefaultPool";

/// Makes a logical partition of what a client sent. The id is the client's choice, or else the server's.
pub(crate) fn create(state: &mut State, host: usize, mut body: Element, id: String) -> Result<String, Fault> {
    check(state, host, &body, None)?;
    if state.object(host, &id).is_some() {
        return Err(Fault::refused(format!("HSCL0A21: A partition with the UUID {id} exists already.")));
    }
    complete(state, host, &mut body, &id);
    let system = state.hosts[host].system.clone();
    state.add(host, &id, Some(&system), body);
    Ok(id)
}

/// Looks whether a partition can be as a client wants it; `own` is the one that is being changed.
pub(crate) fn check(state: &State, host: usize, body: &Element, own: Option<&str>) -> Result<(), Fault> {
    let name = body.text("PartitionName");
    if name.is_empty() || name.len() > 31 || name.contains(|c: char| !c.is_ascii_graphic() && c != ' ') {
        return Err(Fault::refused(format!("HSCL0501: '{name}' is not a valid partition name.")));
    }
    let other = |object: &&super::state::Object| object.is_partition() && Some(object.id.as_str()) != own;
    if state.objects(host).filter(other).any(|object| object.element.text("PartitionName") == name) {
        return Err(Fault::refused(format!("HSCL0502: The partition name {name} is already in use.")));
    }
    let memory = |kind: &str| body.number::<u64>(&format!("PartitionMemoryConfiguration/{kind}Memory"));
    let (Some(least), Some(wanted), Some(most)) = (memory("Minimum"), memory("Desired"), memory("Maximum")) else {
        return Err(Fault::refused("HSCL0503: The memory of the partition is not given."));
    };
    let region: u64 = system(state, host).number("AssociatedSystemMemoryConfiguration/MemoryRegionSize").unwrap_or(256);
    if !(least <= wanted && wanted <= most) || [least, wanted, most].iter().any(|size| size % region != 0) {
        let sizes = format!("{least}, {wanted} and {most} MB");
        return Err(Fault::refused(format!("HSCL0504: {sizes} must ascend and be multiples of {region} MB.")));
    }
    let own_share = own.and_then(|own| state.object(host, own)).map_or((0, 0.0), |object| share(&object.element));
    let (memory_free, units_free) = available(state, host);
    if wanted > memory_free + own_share.0 {
        return Err(Fault::refused(format!("HSCL0505: {wanted} MB of memory are wanted, {memory_free} are free.")));
    }
    let units = share(body).1;
    if units > units_free + own_share.1 + 1e-9 {
        let message = format!("HSCL0506: {units:.2} processing units are wanted, {units_free:.2} are free.");
        return Err(Fault::refused(message));
    }
    Ok(())
}

/// The memory in MB and the processing units that a partition holds.
pub(crate) fn share(partition: &Element) -> (u64, f64) {
    let memory = partition.number("PartitionMemoryConfiguration/DesiredMemory").unwrap_or_default();
    let processors = partition.child("PartitionProcessorConfiguration");
    let units = processors.map_or(0.0, |processors| {
        let path = if processors.is("HasDedicatedProcessors") {
            "DedicatedProcessorConfiguration/DesiredProcessors"
        } else {
            "SharedProcessorConfiguration/DesiredProcessingUnits"
        };
        processors.number(path).unwrap_or_default()
    });
    (memory, units)
}

/// The memory in MB and the processing units that nobody holds.
pub(crate) fn available(state: &State, host: usize) -> (u64, f64) {
    let system = system(state, host);
    let memory: u64 = system.number("AssociatedSystemMemoryConfiguration/ConfigurableSystemMemory").unwrap_or_default();
    let hypervisor: u64 =
        system.number("AssociatedSystemMemoryConfiguration/MemoryUsedByHypervisor").unwrap_or_default();
    let units: f64 =
        system.number("AssociatedSystemProcessorConfiguration/ConfigurableSystemProcessorUnits").unwrap_or_default();
    let partitions = state.objects(host).filter(|object| object.is_partition());
    partitions.map(|object| share(&object.element)).fold(
        (memory.saturating_sub(hypervisor), units),
        |(memory, units), (used_memory, used_units)| {
            (memory.saturating_sub(used_memory), (units - used_units).max(0.0))
        },
    )
}

fn system(state: &State, host: usize) -> &Element {
    &state.hosts[host].objects[&state.hosts[host].system].element
}

/// The lowest number that no partition has; those of deleted ones come back.
fn free_number(state: &State, host: usize) -> u32 {
    let taken: std::collections::BTreeSet<u32> =
        state.objects(host).filter(|object| object.is_partition()).map(super::state::Object::partition_id).collect();
    (1..u32::MAX).find(|number| !taken.contains(number)).unwrap_or(u32::MAX)
}

/// Adds all that the hypervisor knows about a partition.
pub(crate) fn complete(state: &State, host: usize, body: &mut Element, id: &str) {
    let number = body.number("PartitionID").unwrap_or_else(|| free_number(state, host));
    let serial = &state.hosts[host].machine.2;
    let (memory, _) = share(body);
    for (name, value) in [
        ("AllowPerformanceDataCollection", "false"),
        ("AvailabilityPriority", "127"),
        ("CurrentProcessorCompatibilityMode", "POWER9"),
        ("IsConnectionMonitoringEnabled", "false"),
        ("IsOperationInProgress", "false"),
        ("IsRedundantErrorPathReportingEnabled", "false"),
        ("IsTimeReferencePartition", "false"),
        ("IsVirtualServiceAttentionLEDOn", "false"),
        ("IsVirtualTrustedPlatformModuleEnabled", "false"),
        ("KeylockPosition", "normal"),
        ("OperatingSystemVersion", "Unknown"),
        ("PartitionState", "not activated"),
        ("PartitionType", "AIX/Linux"),
        ("PendingProcessorCompatibilityMode", "default"),
        ("ProgressPartitionDataRemaining", "0"),
        ("ProgressPartitionDataTotal", "0"),
        ("ResourceMonitoringControlState", "inactive"),
        ("IsServicePartition", "false"),
        ("PowerVMManagementCapable", "false"),
        ("ReferenceCode", "00000000"),
        ("IsManagementPartition", "false"),
    ] {
        default(body, name, value);
    }
    if body.name == "LogicalPartition" {
        for (name, value) in [
            ("RemoteRestartCapable", "false"),
            ("SimplifiedRemoteRestartCapable", "false"),
            ("HasDedicatedProcessorsForMigration", "false"),
            ("SuspendCapable", "false"),
            ("MigrationState", "Not_Migrating"),
            ("RemoteRestartState", "Invalid"),
            ("PowerManagementMode", "None"),
            ("BootMode", "Normal"),
        ] {
            default(body, name, value);
        }
        body.put(Element::leaf("PartitionNVRAM", base64_of(&format!("nvram of {id}"))));
    }
    body.set("PartitionID", number);
    body.set("PartitionUUID", id);
    body.set("LogicalSerialNumber", format!("{serial}{number:X}"));
    body.set("MACAddressPrefix", 24_755_014_396_416_u64 + u64::from(number));
    let capable = body.text("ResourceMonitoringControlState") == "active";
    body.put(capabilities(capable));
    body.put(Element::reference("ProcessorPool", processor_pool(state, host)));
    body.put(Element::reference(
        "AssociatedManagedSystem",
        format!("/rest/api/uom/ManagedSystem/{}", state.hosts[host].system),
    ));
    let io = body.child_mut("PartitionIOConfiguration");
    default(io, "MaximumVirtualIOSlots", "64");
    let slots = io.text("MaximumVirtualIOSlots").to_owned();
    io.set("CurrentMaximumVirtualIOSlots", slots);
    if io.child("ProfileIOSlots").is_none() {
        io.children.push(Element::new("ProfileIOSlots"));
    }
    current_memory(body.child_mut("PartitionMemoryConfiguration"), memory);
    current_processors(body.child_mut("PartitionProcessorConfiguration"));
}

/// What a partition can do while it runs, which needs a connection to it.
pub(crate) fn capabilities(connected: bool) -> Element {
    let word = if connected { "true" } else { "false" };
    Element::record(
        "PartitionCapabilities",
        &[
            ("DynamicLogicalPartitionIOCapable", word),
            ("DynamicLogicalPartitionMemoryCapable", word),
            ("DynamicLogicalPartitionProcessorCapable", word),
            ("InternalAndExternalIntrusionDetectionCapable", word),
            ("ResourceMonitoringControlOperatingSystemShutdownCapable", word),
        ],
    )
}

fn current_memory(memory: &mut Element, wanted: u64) {
    for (name, value) in [
        ("ActiveMemoryExpansionEnabled", "false"),
        ("ActiveMemorySharingEnabled", "false"),
        ("DesiredHugePageCount", "0"),
        ("ExpansionFactor", "0.0"),
        ("HardwarePageTableRatio", "7"),
        ("MaximumHugePageCount", "0"),
        ("MinimumHugePageCount", "0"),
        ("CurrentExpansionFactor", "0.0"),
        ("CurrentHardwarePageTableRatio", "7"),
        ("CurrentHugePageCount", "0"),
        ("CurrentMaximumHugePageCount", "0"),
        ("CurrentMinimumHugePageCount", "0"),
        ("MemoryExpansionEnabled", "false"),
        ("RedundantErrorPathReportingEnabled", "false"),
        ("RuntimeHugePageCount", "0"),
        ("SharedMemoryEnabled", "false"),
    ] {
        default(memory, name, value);
    }
    let (least, most) = (memory.text("MinimumMemory").to_owned(), memory.text("MaximumMemory").to_owned());
    memory.set("CurrentMaximumMemory", most);
    memory.set("CurrentMemory", wanted);
    memory.set("CurrentMinimumMemory", &least);
    memory.set("RuntimeMemory", wanted);
    memory.set("RuntimeMinimumMemory", least);
}

fn current_processors(processors: &mut Element) {
    let dedicated = processors.is("HasDedicatedProcessors");
    let mode = processors.text("SharingMode").to_owned();
    processors.set("CurrentHasDedicatedProcessors", dedicated);
    processors.set("CurrentSharingMode", &mode);
    processors.set("RuntimeHasDedicatedProcessors", dedicated);
    processors.set("RuntimeSharingMode", &mode);
    if dedicated {
        let wanted = processors.child("DedicatedProcessorConfiguration").cloned().unwrap_or_default();
        processors.remove("CurrentSharedProcessorConfiguration");
        processors.put(Element::record(
            "CurrentDedicatedProcessorConfiguration",
            &[
                ("CurrentMaximumProcessors", wanted.text("MaximumProcessors")),
                ("CurrentMinimumProcessors", wanted.text("MinimumProcessors")),
                ("CurrentProcessors", wanted.text("DesiredProcessors")),
                ("RunProcessors", wanted.text("DesiredProcessors")),
            ],
        ));
        return;
    }
    let wanted = processors.child("SharedProcessorConfiguration").cloned().unwrap_or_default();
    let weight = if wanted.text("UncappedWeight").is_empty() { "0" } else { wanted.text("UncappedWeight") };
    processors.remove("CurrentDedicatedProcessorConfiguration");
    processors.put(Element::record(
        "CurrentSharedProcessorConfiguration",
        &[
            ("AllocatedVirtualProcessors", wanted.text("DesiredVirtualProcessors")),
            ("CurrentMaximumProcessingUnits", wanted.text("MaximumProcessingUnits")),
            ("CurrentMinimumProcessingUnits", wanted.text("MinimumProcessingUnits")),
            ("CurrentProcessingUnits", wanted.text("DesiredProcessingUnits")),
            ("CurrentSharedProcessorPoolID", wanted.text("SharedProcessorPoolID")),
            ("CurrentUncappedWeight", weight),
            ("CurrentMinimumVirtualProcessors", wanted.text("MinimumVirtualProcessors")),
            ("CurrentMaximumVirtualProcessors", wanted.text("MaximumVirtualProcessors")),
            ("RuntimeProcessingUnits", wanted.text("DesiredProcessingUnits")),
            ("RuntimeUncappedWeight", weight),
        ],
    ));
}

/// Refreshes what follows from what a client has changed.
pub(crate) fn refresh(partition: &mut Element) {
    let (memory, _) = share(partition);
    current_memory(partition.child_mut("PartitionMemoryConfiguration"), memory);
    current_processors(partition.child_mut("PartitionProcessorConfiguration"));
}

fn processor_pool(state: &State, host: usize) -> String {
    let pool = state.all(host, "SharedProcessorPool").find(|pool| pool.element.text("PoolName") == DEFAULT_POOL);
    pool.map(|pool| state.path_of(host, pool)).unwrap_or_default()
}

fn default(element: &mut Element, name: &str, value: &str) {
    if element.child(name).is_none() {
        element.set(name, value);
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Whether adapters can be added to a partition and taken from it now, or why not.
pub(crate) fn can_change_adapters(partition: &Element) -> Result<(), Fault> {
    let off = partition.text("PartitionState") == "not activated";
    let connected = partition.text("ResourceMonitoringControlState") == "active"
        && partition.is("PartitionCapabilities/DynamicLogicalPartitionIOCapable");
    let special = partition.name == "VirtualIOServer"
        || partition.is("IsManagementPartition")
        || partition.text("PartitionType") == "OS400";
    if off || connected || special {
        return Ok(());
    }
    let name = partition.text("PartitionName");
    Err(Fault::refused(format!(
        "HSCL2957: Either there is currently no RMC connection between the management console and the partition {name}, or the partition does not support dynamic partitioning operations."
    )))
}

/// Deletes a logical partition with its adapters. The sides of them that VIOSes have stay behind, as orphans.
pub(crate) fn delete(state: &mut State, host: usize, id: &str) -> Result<(), Fault> {
    let Some(partition) = state.of_kind(host, "LogicalPartition", id) else {
        return Err(Fault::not_found("LogicalPartition", id));
    };
    let (id, number) = (partition.id.clone(), partition.partition_id());
    let name = partition.element.text("PartitionName").to_owned();
    if partition.element.is("IsManagementPartition") {
        return Err(Fault::refused(format!("PVME01040001: The management partition {name} cannot be deleted.")));
    }
    if partition.element.text("PartitionState") != "not activated" {
        return Err(Fault::refused(format!("HSCL0600: The partition {name} must be shut down before it is deleted.")));
    }
    if state.hosts[host].consoles.contains_key(&id) {
        return Err(Fault::refused(format!("HSCL0601: A console of the partition {name} is open.")));
    }
    let adapters: Vec<String> = state
        .objects(host)
        .filter(|object| object.parent.as_deref() == Some(&id))
        .map(|object| object.id.clone())
        .collect();
    for adapter in adapters {
        state.remove(host, &adapter);
    }
    let vioses: Vec<String> = state.all(host, "VirtualIOServer").map(|vios| vios.id.clone()).collect();
    for vios in vioses {
        let mut changed = false;
        if let Some(vios) = state.object_mut(host, &vios) {
            for list in ["VirtualSCSIMappings", "VirtualFibreChannelMappings"] {
                for mapping in &mut vios.element.child_mut(list).children {
                    if mapping.number::<u32>("ClientAdapter/LocalPartitionID") == Some(number) {
                        mapping.remove("ClientAdapter");
                        mapping.remove("AssociatedLogicalPartition");
                        changed = true;
                    }
                }
            }
        }
        if changed {
            state.announce(host, "MODIFY_URI", &vios, "VirtualSCSIMappings");
        }
    }
    state.remove(host, &id);
    Ok(())
}
