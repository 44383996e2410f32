//! The beginning of the world, as the inventory wants it.

use super::inventory::{HostEntry, Inventory, PartitionEntry, PoolEntry, ViosEntry};
use super::state::{Host, Object, State, Volume};
use super::xml::Element;
use super::{ids, partition};

/// The number of the NovaLink partition of every host.
pub(crate) const MANAGEMENT_PARTITION: u32 = 1;

/// What all systems of this generation can do.
const CAPABILITIES: [&str; 18] = [
    "ActiveLogicalPartitionMobilityCapable",
    "ActiveMemoryExpansionCapable",
    "AIXCapable",
    "CapacityOnDemandMemoryCapable",
    "CapacityOnDemandProcessorCapable",
    "IBMiCapable",
    "IBMiLogicalPartitionMobilityCapable",
    "IBMiRestrictedIOModeCapable",
    "InactiveLogicalPartitionMobilityCapable",
    "LinuxCapable",
    "LogicalPartitionProcessorCompatibilityModeCapable",
    "PowerVMLogicalPartitionSimplifiedRemoteRestartCapable",
    "SharedProcessorPoolCapable",
    "VirtualFiberChannelCapable",
    "VirtualSwitchCapable",
    "VirtualEthernetCustomMACAddressCapable",
    "VirtualNICDedicatedSRIOVCapable",
    "VirtualNICFailOverCapable",
];

/// Makes the world.
pub(crate) fn create(inventory: &Inventory, seed: u64) -> State {
    let mut state = State::new(inventory.settings.clone(), seed);
    for entry in &inventory.hosts {
        host(&mut state, entry);
    }
    if inventory.settings.keys_exchanged {
        exchange_keys(&mut state);
    }
    if let Some(pool) = &inventory.shared_storage_pool {
        shared_storage(&mut state, pool);
    }
    for host in &mut state.hosts {
        host.events = super::state::Events::default();
    }
    state
}

fn insert(state: &mut State, host: usize, id: &str, parent: Option<&str>, element: Element) {
    let parent = parent.map(str::to_owned);
    let object = Object { id: id.to_owned(), parent, created: 0, element };
    state.hosts[host].objects.insert(id.to_owned(), object);
}

fn host(state: &mut State, entry: &HostEntry) {
    let index = state.hosts.len();
    let name = entry.name.as_str();
    let system = ids::uuid(&[name, "system"]);
    let machine = (entry.machine_type.clone(), entry.model.clone(), entry.serial.clone());
    let volume = |volume: &super::inventory::VolumeEntry| Volume {
        wwpns: volume.wwpns.iter().map(|wwpn| wwpn.to_uppercase()).collect(),
        lun: format!("{:04x}000000000000", volume.lun),
        megabytes: volume.size_gb * 1024,
        name: volume.name.clone(),
    };
    let volumes = entry.volumes.iter().map(volume).collect();
    state.hosts.push(Host { name: name.to_owned(), machine, system: system.clone(), volumes, ..Host::default() });
    insert(state, index, &system, None, managed_system(entry));
    let console = ids::uuid(&[name, "console"]);
    insert(state, index, &console, None, management_console(entry));
    let pool = ids::uuid(&[name, "processors"]);
    let fields = [("PoolID", "0"), ("AvailableProcUnits", "0.00"), ("PoolName", partition::DEFAULT_POOL)];
    insert(state, index, &pool, Some(&system), Element::record("SharedProcessorPool", &fields));
    for (number, (switch, mode)) in [("ETHERNET0", "Veb"), ("MGMTSWITCH", "Vepa")].into_iter().enumerate() {
        let fields = [("SwitchID", &*number.to_string()), ("SwitchMode", mode), ("SwitchName", switch)];
        let id = ids::uuid(&[name, "switch", switch]);
        insert(state, index, &id, Some(&system), Element::record("VirtualSwitch", &fields));
    }
    management_partition(state, index, name);
    for (number, vios) in entry.vioses.iter().enumerate() {
        virtual_io_server(state, index, vios, number);
    }
    bridge(state, index, entry);
    for wanted in &entry.partitions {
        partitions(state, index, wanted);
    }
}

fn managed_system(entry: &HostEntry) -> Element {
    let text = |number: u64| number.to_string();
    let (memory, processors) = (text(entry.memory_mb), text(entry.processors.into()));
    let region = text(entry.memory_region_mb);
    let adapters = (1..=entry.sriov_adapters).map(|number| super::sriov::adapter(&entry.serial, number));
    let io = Element::of(
        "AssociatedSystemIOConfiguration",
        [
            Element::leaf("AvailableWWPNs", 65_536),
            Element::of("IOSlots", (1..=2_u32).map(|slot| io_slot(&entry.serial, slot, "Empty slot"))),
            Element::of("SRIOVAdapters", adapters),
            Element::leaf("WWPNPrefix", 13_857_705_831_041_335_296_u64),
        ],
    );
    let memory = Element::record(
        "AssociatedSystemMemoryConfiguration",
        &[
            ("ConfigurableSystemMemory", &memory),
            ("CurrentAvailableSystemMemory", &memory),
            ("CurrentLogicalMemoryBlockSize", &region),
            ("DefaultHardwarePageTableRatio", "7"),
            ("InstalledSystemMemory", &memory),
            ("MaximumMemoryPoolCount", "1"),
            ("MemoryRegionSize", &region),
            ("MemoryUsedByHypervisor", "8192"),
            ("PendingAvailableSystemMemory", &memory),
            ("PendingLogicalMemoryBlockSize", &region),
            ("PendingMemoryRegionSize", &region),
        ],
    );
    let mut units = Element::record(
        "AssociatedSystemProcessorConfiguration",
        &[
            ("ConfigurableSystemProcessorUnits", &processors),
            ("CurrentAvailableSystemProcessorUnits", &processors),
            ("CurrentMaximumProcessorsPerAIXOrLinuxPartition", "256"),
            ("CurrentMaximumProcessorsPerIBMiPartition", "256"),
            ("CurrentMaximumAllowedProcessorsPerPartition", "256"),
            ("CurrentMaximumProcessorsPerVirtualIOServerPartition", "256"),
            ("CurrentMaximumVirtualProcessorsPerAIXOrLinuxPartition", "256"),
            ("CurrentMaximumVirtualProcessorsPerIBMiPartition", "256"),
            ("CurrentMaximumVirtualProcessorsPerVirtualIOServerPartition", "256"),
            ("InstalledSystemProcessorUnits", &processors),
            ("MaximumAllowedVirtualProcessorsPerPartition", "256"),
            ("MinimumProcessorUnitsPerVirtualProcessor", "0.05"),
            ("PendingAvailableSystemProcessorUnits", &processors),
        ],
    );
    for mode in ["default", "POWER8", "POWER9_Base", "POWER9"] {
        units.children.push(Element::leaf("SupportedPartitionProcessorCompatibilityModes", mode));
    }
    let mut system = Element::of(
        "ManagedSystem",
        [
            Element::of(
                "AssociatedIPLConfiguration",
                [Element::leaf("PowerOffWhenLastLogicalPartitionIsShutdown", "false")],
            ),
            Element::record("AssociatedSystemCapabilities", &CAPABILITIES.map(|name| (name, "true"))),
            io,
            memory,
            units,
            machine("MachineTypeModelAndSerialNumber", entry),
            Element::record(
                "SystemMigrationInformation",
                &[
                    ("MaximumInactiveMigrations", "16"),
                    ("MaximumActiveMigrations", "16"),
                    ("NumberOfInactiveMigrationsInProgress", "0"),
                    ("NumberOfActiveMigrationsInProgress", "0"),
                    ("MaximumFirmwareActiveMigrations", "16"),
                    ("LogicalPartitionAffinityCheckCapable", "true"),
                ],
            ),
        ],
    );
    for (name, value) in [
        ("ManufacturingDefaultConfigurationEnabled", "false"),
        ("MaximumPartitions", "1000"),
        ("PrimaryIPAddress", "127.0.0.1"),
        ("State", "operating"),
        ("SystemName", &entry.name),
        ("ReferenceCode", "00000000"),
        ("IsPowerVMManagementMaster", "true"),
        ("IsManagementPartitionPowerVMManagementMaster", "true"),
        ("IsHMCPowerVMManagementMaster", "false"),
    ] {
        system.set(name, value);
    }
    system
}

fn machine(name: &str, entry: &HostEntry) -> Element {
    let HostEntry { machine_type, model, serial, .. } = entry;
    Element::record(name, &[("MachineType", machine_type), ("Model", model), ("SerialNumber", serial)])
}

fn io_slot(serial: &str, slot: u32, description: &str) -> Element {
    let name = format!("U78D2.001.{serial}-P1-C{slot}");
    Element::record(
        "IOSlot",
        &[
            ("BusGroupingRequired", "false"),
            ("Description", description),
            ("PCIClass", "512"),
            ("PCIDeviceID", "5719"),
            ("PCISubsystemDeviceID", "1056"),
            ("PCIRevisionID", "1"),
            ("PCIVendorID", "5348"),
            ("PCISubsystemVendorID", "4116"),
            ("SlotDynamicReconfigurationConnectorIndex", &(553_713_664 + slot).to_string()),
            ("SlotDynamicReconfigurationConnectorName", &name),
        ],
    )
}

fn management_console(entry: &HostEntry) -> Element {
    let key = format!("ssh-rsa {} wlp@{}", ids::hex(&[&entry.name, "ssh"], 64), entry.name);
    Element::of(
        "ManagementConsole",
        [
            machine("MachineTypeModelAndSerialNumber", entry),
            Element::leaf("ManagementConsoleName", &entry.name),
            Element::of(
                "NetworkInterfaces",
                [Element::record(
                    "ManagementConsoleNetworkInterface",
                    &[("InterfaceName", "eth0"), ("NetworkAddress", "127.0.0.1")],
                )],
            ),
            Element::leaf("PublicSSHKey", key),
            Element::new("AuthorizedKeys"),
        ],
    )
}

/// Lets every console know the keys of all others.
fn exchange_keys(state: &mut State) {
    let is_console = |object: &&Object| object.kind() == "ManagementConsole";
    let consoles = state.hosts.iter().filter_map(|host| host.objects.values().find(is_console));
    let keys: Vec<String> = consoles.map(|console| console.element.text("PublicSSHKey").to_owned()).collect();
    for host in &mut state.hosts {
        for console in host.objects.values_mut().filter(|object| object.kind() == "ManagementConsole") {
            let own = console.element.text("PublicSSHKey").to_owned();
            let others = keys.iter().filter(|key| **key != own).map(|key| Element::leaf("AuthorizedKey", key));
            console.element.put(Element::of("AuthorizedKeys", others));
        }
    }
}

/// What a client would send for a partition of this size.
fn wanted(name: &str, kind: &str, partition_type: &str, memory_mb: u64, processors: u32) -> Element {
    let (units, memory) = (format!("{:.2}", f64::from(processors) * 0.5), memory_mb.to_string());
    let cpus = processors.to_string();
    Element::of(
        kind,
        [
            Element::leaf("PartitionName", name),
            Element::leaf("PartitionType", partition_type),
            Element::record(
                "PartitionMemoryConfiguration",
                &[("DesiredMemory", &memory), ("MaximumMemory", &memory), ("MinimumMemory", &memory)],
            ),
            Element::of(
                "PartitionProcessorConfiguration",
                [
                    Element::leaf("HasDedicatedProcessors", "false"),
                    Element::record(
                        "SharedProcessorConfiguration",
                        &[
                            ("DesiredProcessingUnits", &units),
                            ("DesiredVirtualProcessors", &cpus),
                            ("MaximumProcessingUnits", &units),
                            ("MaximumVirtualProcessors", &cpus),
                            ("MinimumProcessingUnits", &units),
                            ("MinimumVirtualProcessors", &cpus),
                            ("SharedProcessorPoolID", "0"),
                            ("UncappedWeight", "128"),
                        ],
                    ),
                    Element::leaf("SharingMode", "uncapped"),
                ],
            ),
        ],
    )
}

fn management_partition(state: &mut State, host: usize, name: &str) {
    let id = ids::partition_uuid(&[name, "novalink"]);
    let mut element = wanted("novalink", "LogicalPartition", "AIX/Linux", 8192, 2);
    element.set("PartitionID", MANAGEMENT_PARTITION);
    element.set("PartitionState", "running");
    element.set("IsManagementPartition", "true");
    element.set("PowerVMManagementCapable", "true");
    element.set("ResourceMonitoringControlState", "active");
    element.set("OperatingSystemVersion", "Linux/Ubuntu 4.15");
    partition::complete(state, host, &mut element, &id);
    let system = state.hosts[host].system.clone();
    insert(state, host, &id, Some(&system), element);
}

fn virtual_io_server(state: &mut State, host: usize, entry: &ViosEntry, index: usize) {
    let host_name = state.hosts[host].name.clone();
    let serial = state.hosts[host].machine.2.clone();
    let id = ids::partition_uuid(&[&host_name, "vios", &entry.name]);
    let mut element = wanted(&entry.name, "VirtualIOServer", "Virtual IO Server", 8192, 4);
    for (name, value) in [
        ("PartitionState", "running"),
        ("ResourceMonitoringControlState", entry.rmc.as_str()),
        ("ResourceMonitoringIPAddress", "127.0.0.1"),
        ("OperatingSystemVersion", "VIOS 3.1.0.11"),
        ("ReferenceCode", ""),
        ("APICapable", "true"),
        ("IsVNICCapable", "true"),
        ("VNICFailOverCapable", "true"),
        ("ManagerPassthroughCapable", "true"),
        ("MoverServicePartition", "true"),
        ("PagingServicePartition", "false"),
        ("SharedStoragePoolCapable", "true"),
        ("VirtualIOServerLicenseAccepted", "true"),
        ("BootMode", "Normal"),
    ] {
        element.set(name, value);
    }
    element.set("PartitionID", u32::try_from(index).unwrap_or_default() + MANAGEMENT_PARTITION + 1);
    let io = element.child_mut("PartitionIOConfiguration");
    io.set("MaximumVirtualIOSlots", 400);
    let slot = u32::try_from(index).unwrap_or_default() + 10;
    let port = |port| super::fibre::port((&host_name, &entry.name), &serial, slot, port, entry.npiv_ports);
    let ports = (0..entry.fc_ports).map(port);
    io.put(Element::of("ProfileIOSlots", [super::fibre::slot(&serial, slot, ports)]));
    let disks = entry.disks_gb.iter().enumerate();
    let disks = disks.map(|(number, size)| {
        super::storage::physical_volume(&format!("hdisk{number}"), size * 1024, &[&host_name, &entry.name], false)
    });
    element.put(Element::of("PhysicalVolumes", disks));
    element.put(Element::new("VirtualSCSIMappings"));
    element.put(Element::new("VirtualFibreChannelMappings"));
    partition::complete(state, host, &mut element, &id);
    let system = state.hosts[host].system.clone();
    insert(state, host, &id, Some(&system), element);
    for group in &entry.volume_groups {
        let serial = ids::hex(&[&host_name, &entry.name, &group.name], 32);
        let size = format!("{:.1}", group.size_gb);
        let mut volume_group = Element::record(
            "VolumeGroup",
            &[
                ("GroupCapacity", &size),
                ("GroupName", &group.name),
                ("GroupSerialID", &serial),
                ("MaximumLogicalVolumes", "1024"),
                ("UniqueDeviceID", &format!("04{serial}")),
            ],
        );
        let repository = group.media_repository_gb.map(super::storage::repository);
        volume_group.put(Element::of("MediaRepositories", repository));
        volume_group.put(Element::new("PhysicalVolumes"));
        volume_group.put(Element::new("VirtualDisks"));
        let group_id = ids::uuid(&[&host_name, &entry.name, "group", &group.name]);
        insert(state, host, &group_id, Some(&id), volume_group);
    }
}

fn bridge(state: &mut State, host: usize, entry: &HostEntry) {
    let vioses: Vec<Object> = state.all(host, "VirtualIOServer").cloned().collect();
    let location = state.location(host);
    let adapters = vioses.iter().enumerate().map(|(index, vios)| {
        super::bridge::shared_adapter(&location, vios, &state.path_of(host, vios), index, vioses.len(), &entry.vlans)
    });
    let failover = if vioses.len() > 1 { "true" } else { "false" };
    let mut element = Element::record(
        "NetworkBridge",
        &[
            ("FailoverEnabled", failover),
            ("LoadBalancingEnabled", "false"),
            ("PortVLANID", "1"),
            ("UniqueDeviceID", &ids::hex(&[&entry.name, "bridge"], 16)),
        ],
    );
    element.put(Element::of("SharedEthernetAdapters", adapters.collect::<Vec<_>>()));
    let system = state.hosts[host].system.clone();
    insert(state, host, &ids::uuid(&[&entry.name, "bridge"]), Some(&system), element);
}

fn partitions(state: &mut State, host: usize, entry: &PartitionEntry) {
    let host_name = state.hosts[host].name.clone();
    let system = state.hosts[host].system.clone();
    let first = state.objects(host).map(Object::partition_id).max().unwrap_or_default() + 1;
    for number in 1..=entry.count {
        let name = if entry.count == 1 { entry.name.clone() } else { format!("{}-{number}", entry.name) };
        let kind = if entry.ibmi { "OS400" } else { "AIX/Linux" };
        let id = ids::partition_uuid(&[&host_name, "partition", &name]);
        let mut element = wanted(&name, "LogicalPartition", kind, entry.memory_mb, entry.processors);
        if entry.running {
            element.set("PartitionState", "running");
            element.set("ResourceMonitoringControlState", "active");
            element.set("OperatingSystemVersion", "Linux/Red Hat 8.6");
        }
        element.set("PartitionID", first + number - 1);
        partition::complete(state, host, &mut element, &id);
        insert(state, host, &id, Some(&system), element);
    }
}

fn shared_storage(state: &mut State, entry: &PoolEntry) {
    let cluster_id = ids::uuid(&["cluster", &entry.cluster]);
    let pool_id = ids::uuid(&["pool", &entry.name]);
    let mut nodes = Vec::new();
    for host in 0..state.hosts.len() {
        for vios in state.all(host, "VirtualIOServer") {
            let (kind, model, serial) = &state.hosts[host].machine;
            let name = vios.element.text("PartitionName");
            let mut node = Element::record(
                "Node",
                &[
                    ("HostName", &format!("{name}.{}.example.com", state.hosts[host].name)),
                    ("PartitionID", vios.element.text("PartitionID")),
                    ("PartitionName", name),
                    ("VirtualIOServerLevel", "3.1.0.11"),
                    ("State", "Up"),
                ],
            );
            node.put(Element::record(
                "MachineTypeModelAndSerialNumber",
                &[("MachineType", kind), ("Model", model), ("SerialNumber", serial)],
            ));
            node.put(Element::reference("VirtualIOServer", state.path_of(host, vios)));
            nodes.push(node);
        }
    }
    let disk = |name: &str, size| super::storage::physical_volume(name, size, &["pool", &entry.name], true);
    let cluster = Element::of(
        "Cluster",
        [
            Element::leaf("ClusterName", &entry.cluster),
            Element::leaf("ClusterID", format!("22{}", ids::hex(&["cluster", &entry.cluster], 32))),
            Element::of("RepositoryDisk", [disk("hdisk90", 10_240)]),
            Element::reference("ClusterSharedStoragePool", format!("/rest/api/uom/SharedStoragePool/{pool_id}")),
            Element::of("Node", nodes),
        ],
    );
    let capacity = format!("{:.2}", entry.capacity_gb);
    let mut pool = Element::record(
        "SharedStoragePool",
        &[
            ("MultiDataTierConfigured", if entry.tiers.is_empty() { "false" } else { "true" }),
            ("MultiFailureGroupConfigured", "false"),
            ("Capacity", &capacity),
            ("AlertThreshold", "35%"),
            ("StoragePoolName", &entry.name),
            ("UniqueDeviceID", &format!("24{}", ids::hex(&["pool", &entry.name], 48))),
        ],
    );
    pool.put(Element::of("PhysicalVolumes", [disk("hdisk91", 2_097_152)]));
    let add = |state: &mut State, id: String, parent: Option<&str>, element| {
        let object = Object { id: id.clone(), parent: parent.map(str::to_owned), created: 0, element };
        state.pool.insert(id, object);
    };
    add(state, cluster_id, None, cluster);
    add(state, pool_id.clone(), None, pool);
    for (index, name) in std::iter::once("SYSTEM").chain(entry.tiers.iter().map(String::as_str)).enumerate() {
        let mut tier = Element::record(
            "Tier",
            &[
                ("Name", name),
                ("UniqueDeviceID", &format!("25{}", ids::hex(&["tier", &entry.name, name], 48))),
                ("Type", if index == 0 { "UnrestrictedSystemTier" } else { "UserTier" }),
                ("IsDefault", if index == 0 { "true" } else { "false" }),
                ("Capacity", &capacity),
                ("MirrorState", "NotMirrored"),
            ],
        );
        let link = format!("/rest/api/uom/SharedStoragePool/{pool_id}");
        tier.put(Element::reference("AssociatedSharedStoragePool", link));
        add(state, ids::uuid(&["tier", &entry.name, name]), Some(&pool_id), tier);
    }
    let tier = ids::uuid(&["tier", &entry.name, "SYSTEM"]);
    for image in &entry.images {
        let unit = Element::record(
            "LogicalUnit",
            &[
                ("ThinDevice", "true"),
                ("UniqueDeviceID", &format!("29{}", ids::hex(&["image", &entry.name, &image.name], 64))),
                ("UnitCapacity", &image.size_gb.to_string()),
                ("LogicalUnitType", "VirtualIO_Image"),
                ("InUse", "false"),
                ("UnitName", &image.name),
            ],
        );
        add(state, ids::uuid(&["image", &entry.name, &image.name]), Some(&tier), unit);
    }
}
