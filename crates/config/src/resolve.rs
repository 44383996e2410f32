//! What a machine pool comes to once all levels of settings are laid over each other.

use uuid::Uuid;

use crate::{
    InstallConfig, MachinePool, Role,
    ovirt::{self, AutoPinningPolicy, DiskFormat, VmType},
    packet, powervm,
    powervs::{self, ProcessorType, StorageType},
};

const DEFAULT_MEMORY_MIB: u32 = 16 * 1024;
const DEFAULT_DISK_GIB: u32 = 120;

/// The size and kind of the machines of an oVirt pool, with nothing left open that has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPool {
    /// Processors and memory.
    pub size: Size,
    /// Size of the operating system disk in GiB.
    pub os_disk_gib: u32,
    /// What the engine optimises the machines for.
    pub vm_type: VmType,
    /// The affinity groups of the machines, by the names the user knows them by.
    pub affinity_groups: Vec<String>,
    /// Whether the engine pins virtual to physical processors.
    pub auto_pinning_policy: AutoPinningPolicy,
    /// Size of huge pages in KiB, or none.
    pub hugepages: Option<u32>,
    /// Whether disks are copies of the template's, independent of it.
    pub clone: bool,
    /// Whether disks take up only the space that is written; nothing: as in the template.
    pub sparse: Option<bool>,
    /// Format of the disks; nothing: as in the template.
    pub format: Option<DiskFormat>,
}

/// Processors and memory of a machine: the engine takes one or the other, never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Those of an instance type in the engine.
    InstanceType(Uuid),
    /// Given in numbers.
    Custom {
        /// Sockets.
        sockets: u32,
        /// Cores per socket.
        cores: u32,
        /// Threads per core.
        threads: u32,
        /// Memory in MiB.
        memory_mib: u32,
        /// Memory in MiB that the host must have free.
        guaranteed_memory_mib: u32,
    },
}

impl InstallConfig {
    /// The settings of a pool on oVirt: built-in ones, under `defaultMachinePlatform`, under those of the pool.
    pub fn ovirt_pool(&self, pool: &MachinePool, role: Role) -> ResolvedPool {
        let platform = self.platform.ovirt().expect("only clusters on oVirt have such pools");
        let nothing = ovirt::MachinePool::default();
        let own = pool.platform.ovirt.as_ref().unwrap_or(&nothing);
        let default = platform.default_machine_platform.as_ref().unwrap_or(&nothing);
        resolve(platform, default, own, role)
    }
}

/// The plans that are tried if nothing is said: small ones that have enough memory for a control plane.
const DEFAULT_PLANS: [&str; 3] = ["c3.small.x86", "m3.small.x86", "c3.medium.x86"];

/// The machines of a pool on Packet, with nothing left open that has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketPool {
    /// Plans in the order in which they are tried.
    pub plans: Vec<String>,
    /// Reserved hardware: ids or `next-available`; nothing buys on demand.
    pub hardware_reservations: Vec<String>,
    /// What is paid on the spot market at most, if machines are bought there.
    pub spot: Option<packet::Spot>,
    /// Whether machines have a public IPv4 address.
    pub public_ipv4: bool,
}

impl InstallConfig {
    /// The settings of a pool on Packet: built-in ones, under `defaultMachinePlatform`, under those of the pool.
    pub fn packet_pool(&self, pool: &MachinePool) -> PacketPool {
        self.packet_settings(pool.platform.packet.as_ref())
    }

    /// The settings of the bootstrap machine on Packet: its own, or those of the control plane without what is only there
    /// for machines that stay.
    pub fn packet_bootstrap(&self) -> PacketPool {
        let own = self.platform.packet().and_then(|platform| platform.bootstrap.as_ref());
        match own {
            Some(own) => self.packet_settings(Some(own)),
            None => PacketPool { hardware_reservations: Vec::new(), ..self.packet_pool(&self.control_plane) },
        }
    }

    fn packet_settings(&self, own: Option<&packet::MachinePool>) -> PacketPool {
        let nothing = packet::MachinePool::default();
        let own = own.unwrap_or(&nothing);
        let default = self.platform.packet().and_then(|platform| platform.default_machine_platform.as_ref());
        let default = default.unwrap_or(&nothing);
        let list =
            |own: &Vec<String>, default: &Vec<String>| if own.is_empty() { default.clone() } else { own.clone() };
        let plans = list(&own.plans, &default.plans);
        PacketPool {
            plans: if plans.is_empty() { DEFAULT_PLANS.map(str::to_owned).into() } else { plans },
            hardware_reservations: list(&own.hardware_reservations, &default.hardware_reservations),
            spot: own.spot.or(default.spot),
            public_ipv4: own.public_ipv4.or(default.public_ipv4).unwrap_or(true),
        }
    }
}

/// Memory of a machine on PowerVS of which nothing else is said.
pub const DEFAULT_POWERVS_MEMORY_GIB: u32 = 32;

/// The machines of a pool on PowerVS, with nothing left open that has a default here.
#[derive(Clone, Debug, PartialEq)]
pub struct PowervsPool {
    /// Type of the system; none: what the zone has.
    pub sys_type: Option<String>,
    /// How machines share processors.
    pub proc_type: ProcessorType,
    /// Number of processors.
    pub processors: f64,
    /// Memory in GiB.
    pub memory_gib: u32,
    /// Speed of the disk.
    pub storage_type: StorageType,
    /// Threads per processor; none: as the operating system does it.
    pub smt_level: Option<String>,
}

impl InstallConfig {
    /// The first SSH key that PowerVS takes: RSA of 2048 bits or more. Others get to the machines with their config alone.
    pub fn powervs_ssh_key(&self) -> Option<&str> {
        let keys = self.ssh_key.as_deref()?.lines().map(str::trim);
        keys.into_iter().find(|line| {
            let key = ssh_key::PublicKey::from_openssh(line).ok();
            let modulus = key.as_ref().and_then(|key| key.key_data().rsa()?.n.as_positive_bytes());
            modulus.is_some_and(|modulus| modulus.len() * 8 >= 2048)
        })
    }

    /// The settings of a pool on PowerVS: built-in ones, under `defaultMachinePlatform`, under those of the pool.
    pub fn powervs_pool(&self, pool: &MachinePool) -> PowervsPool {
        let nothing = powervs::MachinePool::default();
        let own = pool.platform.powervs.as_ref().unwrap_or(&nothing);
        let default = self.platform.powervs().and_then(|platform| platform.default_machine_platform.as_ref());
        let default = default.unwrap_or(&nothing);
        let proc_type = own.proc_type.or(default.proc_type).unwrap_or_default();
        let processors = if proc_type == ProcessorType::Dedicated { 1.0 } else { 0.5 };
        PowervsPool {
            sys_type: own.sys_type.clone().or_else(|| default.sys_type.clone()),
            proc_type,
            processors: own.processors.or(default.processors).unwrap_or(processors),
            memory_gib: own.memory_gib.or(default.memory_gib).unwrap_or(DEFAULT_POWERVS_MEMORY_GIB),
            storage_type: own.storage_type.or(default.storage_type).unwrap_or_default(),
            smt_level: own.smt_level.clone().or_else(|| default.smt_level.clone()),
        }
    }
}

const DEFAULT_POWERVM_PROCESSORS: u32 = 2;
const DEFAULT_POWERVM_MEMORY_GIB: u32 = 16;

/// The machines of a pool on PowerVM, with nothing left open that has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct PowervmPool {
    /// Virtual processors, or whole ones if they are dedicated.
    pub processors: u32,
    /// Processing units.
    pub processing_units: f64,
    /// How machines share processors.
    pub sharing: powervm::Sharing,
    /// Memory in GiB.
    pub memory_gib: u32,
    /// Mode that processors run in.
    pub compatibility_mode: String,
    /// Size of the disk in GiB.
    pub disk_gib: u32,
    /// Names of the servers that machines may be on, in the order of the install-config.
    pub hosts: Vec<String>,
}

impl InstallConfig {
    /// The settings of a pool on PowerVM: built-in ones, under `defaultMachinePlatform`, under those of the pool.
    pub fn powervm_pool(&self, pool: &MachinePool) -> PowervmPool {
        let nothing = powervm::MachinePool::default();
        let own = pool.platform.powervm.as_ref().unwrap_or(&nothing);
        let section = self.platform.powervm();
        let default = section.and_then(|platform| platform.default_machine_platform.as_ref()).unwrap_or(&nothing);
        let processors = own.processors.or(default.processors).unwrap_or(DEFAULT_POWERVM_PROCESSORS);
        let sharing = own.sharing.or(default.sharing).unwrap_or_default();
        let whole = f64::from(processors);
        let units = if sharing == powervm::Sharing::Dedicated { whole } else { whole / 2.0 };
        let named = if own.hosts.is_empty() { &default.hosts } else { &own.hosts };
        let all = section.into_iter().flat_map(|platform| &platform.hosts).map(|host| host.name.clone());
        PowervmPool {
            processors,
            processing_units: own.processing_units.or(default.processing_units).unwrap_or(units),
            sharing,
            memory_gib: own.memory_gib.or(default.memory_gib).unwrap_or(DEFAULT_POWERVM_MEMORY_GIB),
            compatibility_mode: own
                .compatibility_mode
                .clone()
                .or_else(|| default.compatibility_mode.clone())
                .unwrap_or_else(|| "default".to_owned()),
            disk_gib: own.disk_gib.or(default.disk_gib).unwrap_or(DEFAULT_DISK_GIB),
            hosts: all.filter(|name| named.is_empty() || named.contains(name)).collect(),
        }
    }
}

fn resolve(
    platform: &ovirt::Platform,
    default: &ovirt::MachinePool,
    own: &ovirt::MachinePool,
    role: Role,
) -> ResolvedPool {
    let vm_type = own.vm_type.or(default.vm_type).unwrap_or(match role {
        Role::Master => VmType::HighPerformance,
        Role::Worker => VmType::Server,
    });
    ResolvedPool {
        size: size(default, own),
        os_disk_gib: own.os_disk.or(default.os_disk).map_or(DEFAULT_DISK_GIB, |disk| disk.size_gb),
        vm_type,
        affinity_groups: own
            .affinity_groups_names
            .clone()
            .or_else(|| default.affinity_groups_names.clone())
            .unwrap_or_else(|| built_in_group(platform, role)),
        auto_pinning_policy: own.auto_pinning_policy.or(default.auto_pinning_policy).unwrap_or(AutoPinningPolicy::None),
        hugepages: own.hugepages.or(default.hugepages),
        clone: own.clone.or(default.clone).unwrap_or(vm_type != VmType::Desktop),
        sparse: own.sparse.or(default.sparse),
        format: own.format.or(default.format),
    }
}

/// A level that names an instance type hides the numbers of the levels below it, and the other way round.
fn size(default: &ovirt::MachinePool, own: &ovirt::MachinePool) -> Size {
    if let Some(id) = own.instance_type_id {
        return Size::InstanceType(id);
    }
    let own_numbers = own.cpu.is_some() || own.memory_mb.is_some() || own.guaranteed_memory_mb.is_some();
    if let (Some(id), false) = (default.instance_type_id, own_numbers) {
        return Size::InstanceType(id);
    }
    let (upper, lower) = (own.cpu.unwrap_or_default(), default.cpu.unwrap_or_default());
    let memory_mib = own.memory_mb.or(default.memory_mb).unwrap_or(DEFAULT_MEMORY_MIB);
    Size::Custom {
        sockets: upper.sockets.or(lower.sockets).unwrap_or(1),
        cores: upper.cores.or(lower.cores).unwrap_or(4),
        threads: upper.threads.or(lower.threads).unwrap_or(1),
        memory_mib,
        guaranteed_memory_mib: own.guaranteed_memory_mb.or(default.guaranteed_memory_mb).unwrap_or(memory_mib),
    }
}

/// The group of the role that exists when the user declares none, or the one they declared under its name.
fn built_in_group(platform: &ovirt::Platform, role: Role) -> Vec<String> {
    let name = ovirt::AffinityGroup::built_in_name(role);
    match &platform.affinity_groups {
        Some(declared) if declared.iter().all(|group| group.name != name) => Vec::new(),
        _ => vec![name.to_owned()],
    }
}
