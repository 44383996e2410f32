//! Making a world from an inventory.

use std::sync::Arc;

use super::api::access::EVERYONE;
use super::api::permissions::grant;
use super::api::vms::{blank_vm, sized_unchecked};
use super::defaults;
use super::inventory::{
    ClusterEntry, DataCenterEntry, Inventory, InventoryError, NetworkEntry, StorageDomainEntry, TemplateEntry,
    UserEntry, VmEntry,
};
use super::lifecycle::commands;
use super::model::{
    Attachment, Cluster, ClusterLimit, Console, CpuProfile, DataCenter, Disk, DiskFormat, DiskProfile, DiskStatus,
    Group, Holder, Host, InstanceType, Network, Nic, Object, Quota, StorageDomain, StorageDomainStatus, StorageLimit,
    Tag, Template, TemplateStatus, User, Version, VnicProfile,
};
use super::representation::Tree;
use super::roles;
use super::state::{NIL, State};
use super::storage;
use super::table::{Entity, Id, Table};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// The sizes that an engine offers by itself: name, MiB, processors.
const INSTANCE_TYPES: [(&str, u64, u32); 5] =
    [("Tiny", 512, 1), ("Small", 2048, 1), ("Medium", 4096, 2), ("Large", 8192, 2), ("XLarge", 16384, 4)];

/// Makes the world that an inventory describes.
pub(crate) fn create(inventory: &Inventory, seed: u64) -> Result<State, InventoryError> {
    let mut state = State::empty(seed, inventory.engine.clone());
    state.roles = roles::all();
    state.groups.insert(Group { id: EVERYONE, name: "Everyone".into(), domain: "internal-authz".into() });
    state.tags.insert(Tag { id: NIL, name: "root".into(), description: "root".into(), parent: None });
    add_blank_template(&mut state);
    add_users(&mut state, &inventory.users)?;
    for entry in &inventory.data_centers {
        add_data_center(&mut state, entry)?;
    }
    add_instance_types(&mut state, inventory);
    for entry in &inventory.tags {
        let id = given(&mut state, entry.id);
        let tag = Tag { id, name: entry.name.as_str().into(), description: "".into(), parent: Some(NIL) };
        put(&mut state, tag, |state| &mut state.tags)?;
    }
    for entry in &inventory.templates {
        add_template(&mut state, entry)?;
    }
    for entry in &inventory.vms {
        add_vms(&mut state, entry)?;
    }
    state.guest_commands.clear();
    Ok(state)
}

fn given(state: &mut State, id: Option<Id>) -> Id {
    id.unwrap_or_else(|| state.new_id())
}

/// Adds something whose id must not be taken.
fn put<T: Entity>(
    state: &mut State,
    row: T,
    table: impl FnOnce(&mut State) -> &mut Table<T>,
) -> Result<Id, InventoryError> {
    let id = row.id();
    let table = table(state);
    if table.contains(id) {
        return Err(InventoryError::Duplicate(id));
    }
    table.insert(row);
    Ok(id)
}

fn named<T: Entity>(table: &Table<T>, kind: &'static str, name: &str, by: &str) -> Result<Id, InventoryError> {
    let unknown = || InventoryError::Unknown { kind, name: name.to_owned(), by: by.to_owned() };
    table.named(name).next().map(Entity::id).ok_or_else(unknown)
}

fn add_blank_template(state: &mut State) {
    state.templates.insert(Template {
        id: NIL,
        name: "Blank".into(),
        description: "Blank template".into(),
        comment: "".into(),
        cluster: None,
        config: Arc::new(defaults::hardware()),
        status: TemplateStatus::Ok,
        created: state.now,
        version: Version { number: 1, name: "base version".into(), base: NIL },
        disks: Vec::new(),
        nics: Vec::new(),
        consoles: vec![Console { protocol: "vnc".into() }],
        tags: Vec::new(),
        dependants: std::collections::BTreeSet::new(),
    });
}

fn add_users(state: &mut State, entries: &[UserEntry]) -> Result<(), InventoryError> {
    let admin = UserEntry {
        id: None,
        login: "admin@internal".into(),
        password: "not-a-secret".into(),
        first_name: "admin".into(),
        last_name: String::new(),
        roles: vec!["SuperUser".into()],
    };
    for entry in if entries.is_empty() { std::slice::from_ref(&admin) } else { entries } {
        let id = given(state, entry.id);
        let profile = entry.login.rsplit_once('@').map_or("internal", |(_, profile)| profile);
        let user = User {
            id,
            name: entry.first_name.as_str().into(),
            last_name: entry.last_name.as_str().into(),
            login: entry.login.as_str().into(),
            email: "".into(),
            password: entry.password.as_str().into(),
            domain: format!("{profile}-authz").into(),
        };
        put(state, user, |state| &mut state.users)?;
        for role in &entry.roles {
            let role = named(&state.roles, "role", role, &entry.login)?;
            grant(state, role, Holder::User(id), Object::System);
        }
    }
    Ok(())
}

fn add_data_center(state: &mut State, entry: &DataCenterEntry) -> Result<(), InventoryError> {
    let id = given(state, entry.id);
    let dc = DataCenter {
        id,
        name: entry.name.as_str().into(),
        description: entry.description.as_str().into(),
        comment: "".into(),
        local: false,
        quota_mode: entry.quota_mode,
    };
    put(state, dc, |state| &mut state.data_centers)?;
    let networks = entry.networks.iter().map(|network| add_network(state, network, id));
    let networks = networks.collect::<Result<Vec<Id>, _>>()?;
    for (index, domain) in entry.storage_domains.iter().enumerate() {
        add_storage_domain(state, domain, id, index == 0)?;
    }
    for cluster in &entry.clusters {
        add_cluster(state, cluster, id, &networks)?;
    }
    for quota in &entry.quotas {
        let (cluster_limit, storage_limit) = (state.new_id(), state.new_id());
        let row = Quota {
            id: given(state, quota.id),
            name: quota.name.as_str().into(),
            description: "".into(),
            data_center: id,
            cluster_soft_limit_pct: 80,
            cluster_hard_limit_pct: 20,
            storage_soft_limit_pct: 80,
            storage_hard_limit_pct: 20,
            cluster_limits: vec![ClusterLimit {
                id: cluster_limit,
                cluster: None,
                vcpus: quota.vcpus,
                memory_bytes: quota.memory_gib.map(|gib| gib * GIB),
            }],
            storage_limits: vec![StorageLimit {
                id: storage_limit,
                storage_domain: None,
                bytes: quota.storage_gib.map(|gib| gib * GIB),
            }],
        };
        put(state, row, |state| &mut state.quotas)?;
    }
    Ok(())
}

fn add_network(state: &mut State, entry: &NetworkEntry, data_center: Id) -> Result<Id, InventoryError> {
    let id = given(state, entry.id);
    let mut config = defaults::network(&entry.name);
    config.set("mtu", i64::from(entry.mtu));
    if let Some(vlan) = entry.vlan {
        config.set("vlan", Tree::new().with("id", vlan.to_string().as_str()));
    }
    let network = Network {
        id,
        name: entry.name.as_str().into(),
        description: entry.description.as_str().into(),
        comment: "".into(),
        data_center,
        config,
        for_vms: true,
    };
    put(state, network, |state| &mut state.networks)?;
    let profile = |state: &mut State, own: Option<Id>, name: &str| {
        let row = VnicProfile {
            id: given(state, own),
            name: name.into(),
            description: "".into(),
            network: id,
            config: defaults::vnic_profile(),
        };
        put(state, row, |state| &mut state.vnic_profiles)
    };
    if entry.vnic_profiles.is_empty() {
        profile(state, None, &entry.name)?;
    }
    for own in &entry.vnic_profiles {
        profile(state, own.id, &own.name)?;
    }
    Ok(id)
}

fn add_storage_domain(
    state: &mut State,
    entry: &StorageDomainEntry,
    data_center: Id,
    master: bool,
) -> Result<(), InventoryError> {
    let id = given(state, entry.id);
    let storage = Tree::new()
        .with("type", entry.storage.as_str())
        .with("address", entry.address.as_str())
        .with("path", entry.path.as_str());
    let domain = StorageDomain {
        id,
        name: entry.name.as_str().into(),
        description: "".into(),
        comment: "".into(),
        data_center: Some(data_center),
        kind: entry.kind.as_str().into(),
        status: StorageDomainStatus::Active,
        master,
        storage,
        total_bytes: entry.size_gib * GIB,
        used_bytes: 0,
        committed_bytes: 0,
        blocker_bytes: entry.critical_space_gib * GIB,
        warning_percent: 10,
        wipe_after_delete: false,
        discard_after_delete: false,
        backup: false,
    };
    put(state, domain, |state| &mut state.storage_domains)?;
    let profile_id = state.new_id();
    let profile =
        DiskProfile { id: profile_id, name: entry.name.as_str().into(), description: "".into(), storage_domain: id };
    put(state, profile, |state| &mut state.disk_profiles)?;
    Ok(())
}

fn add_cluster(
    state: &mut State,
    entry: &ClusterEntry,
    data_center: Id,
    networks: &[Id],
) -> Result<(), InventoryError> {
    let id = given(state, entry.id);
    let by = format!("cluster {}", entry.name);
    let management = match &entry.management_network {
        Some(name) => named(&state.networks, "network", name, &by)?,
        None => *networks.first().ok_or_else(|| InventoryError::Unknown {
            kind: "network",
            name: "ovirtmgmt".into(),
            by: by.clone(),
        })?,
    };
    let cluster = Cluster {
        id,
        name: entry.name.as_str().into(),
        description: entry.description.as_str().into(),
        comment: "".into(),
        data_center,
        config: defaults::cluster(&entry.architecture, &entry.cpu_type),
        overcommit_percent: entry.memory_overcommit_percent.max(1),
        management_network: management,
        networks: networks.iter().copied().chain([management]).collect(),
    };
    put(state, cluster, |state| &mut state.clusters)?;
    let profile_id = state.new_id();
    let profile = CpuProfile { id: profile_id, name: entry.name.as_str().into(), description: "".into(), cluster: id };
    put(state, profile, |state| &mut state.cpu_profiles)?;
    for host in &entry.hosts {
        let first = state.hosts.len() == 0;
        let row = Host {
            id: given(state, host.id),
            name: host.name.as_str().into(),
            description: "".into(),
            comment: "".into(),
            address: host.address.as_deref().unwrap_or(&host.name).into(),
            cluster: id,
            status: host.status,
            memory_bytes: host.memory_gib * GIB,
            sockets: host.sockets.max(1),
            cores: host.cores.max(1),
            threads: host.threads.max(1),
            spm: first,
            pending: None,
            tags: Vec::new(),
            vms: std::collections::BTreeMap::new(),
        };
        put(state, row, |state| &mut state.hosts)?;
    }
    Ok(())
}

fn add_instance_types(state: &mut State, inventory: &Inventory) {
    let own = inventory.instance_types.iter();
    let mut sizes: Vec<(Option<Id>, &str, u64, u32, u32)> =
        own.map(|entry| (entry.id, entry.name.as_str(), entry.memory_mib, entry.sockets, entry.cores)).collect();
    if sizes.is_empty() {
        sizes = INSTANCE_TYPES.iter().map(|(name, mib, cpus)| (None, *name, *mib, *cpus, 1)).collect();
    }
    for (id, name, mib, sockets, cores) in sizes {
        let id = given(state, id);
        let config = sized_unchecked(&defaults::hardware(), mib * MIB, sockets, cores);
        let description = format!("{name} instance type").into();
        let created = state.now;
        state.instance_types.insert(InstanceType { id, name: name.into(), description, config, created });
    }
}

fn add_template(state: &mut State, entry: &TemplateEntry) -> Result<(), InventoryError> {
    let by = format!("template {}", entry.name);
    let cluster = named(&state.clusters, "cluster", &entry.cluster, &by)?;
    let id = given(state, entry.id);
    let now = state.now;
    let mut config = sized_unchecked(&defaults::hardware(), entry.memory_mib * MIB, 1, entry.cores);
    let os = config.sub("os").cloned().unwrap_or_default().with("type", entry.os.as_str());
    Arc::make_mut(&mut config).set("os", os);
    let mut disks = Vec::new();
    for (index, disk) in entry.disks.iter().enumerate() {
        let domain = named(&state.storage_domains, "storage domain", &disk.storage_domain, &by)?;
        let profile = super::lifecycle::operations::default_profile(state, domain);
        let provisioned = disk.size_gib * GIB;
        let disk_id = given(state, disk.id);
        let row = Disk {
            id: disk_id,
            name: disk.name.as_deref().unwrap_or(&entry.name).into(),
            description: "".into(),
            status: DiskStatus::Ok,
            image: state.new_id(),
            format: DiskFormat::Cow,
            sparse: true,
            provisioned_bytes: provisioned,
            initial_bytes: 0,
            actual_bytes: disk.used_mib.map_or(provisioned / 10, |mib| mib * MIB),
            snapshot_bytes: 0,
            storage_domains: vec![domain],
            profile,
            quota: None,
            content: "data".into(),
            backup: "none".into(),
            qcow_version: "qcow2_v3".into(),
            shareable: false,
            wipe_after_delete: false,
            propagate_errors: false,
            created: now,
            vms: Vec::new(),
            template: Some(id),
            backing: None,
            origin: Some(entry.name.as_str().into()),
        };
        if state.disks.contains(disk_id) {
            return Err(InventoryError::Duplicate(disk_id));
        }
        storage::add(state, row);
        disks.push(Attachment {
            disk: disk_id,
            interface: "virtio_scsi".into(),
            active: true,
            bootable: index == 0,
            pass_discard: false,
            read_only: false,
            uses_scsi_reservation: false,
        });
    }
    let mut nics = Vec::new();
    for (index, profile) in entry.nics.iter().enumerate() {
        let profile = named(&state.vnic_profiles, "vNIC profile", profile, &by)?;
        nics.push(Nic {
            id: state.new_id(),
            name: format!("nic{}", index + 1).into(),
            description: "".into(),
            interface: "virtio".into(),
            mac: "".into(),
            plugged: true,
            linked: true,
            profile: Some(profile),
            filter_parameters: Vec::new(),
        });
    }
    let template = Template {
        id,
        name: entry.name.as_str().into(),
        description: entry.description.as_str().into(),
        comment: "".into(),
        cluster: Some(cluster),
        config,
        status: TemplateStatus::Ok,
        created: now,
        version: Version { number: 1, name: "base version".into(), base: id },
        disks,
        nics,
        consoles: vec![Console { protocol: "vnc".into() }],
        tags: Vec::new(),
        dependants: std::collections::BTreeSet::new(),
    };
    put(state, template, |state| &mut state.templates)?;
    Ok(())
}

fn add_vms(state: &mut State, entry: &VmEntry) -> Result<(), InventoryError> {
    let by = format!("VM {}", entry.name);
    let cluster = named(&state.clusters, "cluster", &entry.cluster, &by)?;
    let template = named(&state.templates, "template", &entry.template, &by)?;
    let tags = entry.tags.iter().map(|tag| named(&state.tags, "tag", tag, &by)).collect::<Result<Vec<Id>, _>>()?;
    for number in 1..=entry.count.max(1) {
        let name = if entry.count > 1 { format!("{}-{number}", entry.name) } else { entry.name.clone() };
        let id = blank_vm(state, &name, cluster, template);
        for tag in &tags {
            state.tagged.entry(*tag).or_default().insert(id);
        }
        if let Some(vm) = state.vms.get_mut(id) {
            vm.tags.clone_from(&tags);
        }
        // A world that has no room for a VM has it switched off, as an engine would after a power cut.
        if entry.running && commands::start(state, id, &commands::Start::default()).is_err() {
            tracing::warn!(%name, "the inventory's VM cannot run");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_inventory_makes_a_world() {
        let state = create(&Inventory::default(), 1).unwrap();
        assert_eq!((state.data_centers.len(), state.clusters.len(), state.hosts.len()), (1, 1, 3));
        assert_eq!(state.templates.named("fcos").count(), 1);
        let domain = state.storage_domains.named("data").next().unwrap();
        assert_eq!(domain.used_bytes, 1700 * MIB);
        assert_eq!(domain.committed_bytes, 10 * GIB);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |yaml: &str| match Inventory::parse(yaml).and_then(|inventory| create(&inventory, 0)) {
            Err(InventoryError::Read(error)) => error.to_string(),
            Err(error) => error.to_string(),
            Ok(_) => panic!("accepted: {yaml}"),
        };
        assert!(error("data_centres: []").contains("data_centres"));
        let missing =
            "data_centers: [{name: a, networks: [{name: n}], clusters: [{name: c}]}]\nvms: [{name: v, cluster: x}]";
        assert_eq!(error(missing), "the inventory has no cluster called x, which VM v refers to");
        let twice = "data_centers: [{name: a, id: 7a5b0000-0000-4000-8000-00000000dc01}, {name: b, id: 7a5b0000-0000-4000-8000-00000000dc01}]";
        assert!(error(twice).contains("twice"));
    }

    #[test]
    fn many_vms_are_one_entry() {
        let yaml = "data_centers: [{name: a, networks: [{name: n}], clusters: [{name: c, hosts: [{name: h}]}]}]\n\
                    tags: [{name: t}]\nvms: [{name: v, cluster: c, count: 3, tags: [t]}]";
        let state = create(&Inventory::parse(yaml).unwrap(), 0).unwrap();
        let names: Vec<&str> = state.vms.iter().map(|vm| &*vm.name).collect();
        assert_eq!(names, ["v-1", "v-2", "v-3"]);
        let tag = state.tags.named("t").next().unwrap().id;
        assert_eq!(state.tagged[&tag].len(), 3);
    }
}
