//! Everything that an engine knows, in one place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::agenda::{Agenda, Due, Key};
use super::imageio::{BlankImages, Images};
use super::lifecycle::Operation;
use super::model::{
    About, AffinityGroup, AffinityLabel, Bookmark, Cluster, CpuProfile, DataCenter, Disk, DiskProfile, Event, Events,
    Group, Holder, Host, InstanceType, Job, MacPool, Network, Permission, Quota, Role, Severity, StorageDomain, Tag,
    Template, Transfer, User, Vm, VnicProfile,
};
use super::settings::Settings;
use super::sso::Sessions;
use super::table::{Id, Table};
use crate::core::guest::GuestCommand;
use crate::core::{Instant, clock};

/// The template that every engine has, and the root of the tags.
pub(crate) const NIL: Id = Uuid::nil();

/// The state of an engine. It is a value: what it was given decides all that it will do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// The time of the call that is being answered, or of the change that is being made.
    pub(crate) now: Instant,
    /// The time of day of the simulated time zero.
    pub(crate) epoch: Timestamp,
    pub(crate) settings: Settings,
    ids: Ids,
    pub(crate) agenda: Agenda,
    /// Work on storage that is under way, by the id of its job.
    pub(crate) operations: BTreeMap<Id, Operation>,
    /// Entities that an operation reserves without a state of their own that would say so.
    pub(crate) busy: BTreeSet<Id>,
    pub(crate) sessions: Sessions,
    pub(crate) data_centers: Table<DataCenter>,
    pub(crate) clusters: Table<Cluster>,
    pub(crate) hosts: Table<Host>,
    pub(crate) networks: Table<Network>,
    pub(crate) vnic_profiles: Table<VnicProfile>,
    pub(crate) mac_pool: MacPool,
    pub(crate) storage_domains: Table<StorageDomain>,
    pub(crate) disk_profiles: Table<DiskProfile>,
    pub(crate) cpu_profiles: Table<CpuProfile>,
    pub(crate) disks: Table<Disk>,
    pub(crate) transfers: Table<Transfer>,
    pub(crate) templates: Table<Template>,
    pub(crate) instance_types: Table<InstanceType>,
    pub(crate) vms: Table<Vm>,
    pub(crate) affinity_groups: Table<AffinityGroup>,
    pub(crate) affinity_labels: Table<AffinityLabel>,
    pub(crate) quotas: Table<Quota>,
    pub(crate) users: Table<User>,
    pub(crate) groups: Table<Group>,
    pub(crate) roles: Table<Role>,
    pub(crate) permissions: Table<Permission>,
    pub(crate) tags: Table<Tag>,
    /// The VMs that have a tag.
    pub(crate) tagged: BTreeMap<Id, BTreeSet<Id>>,
    pub(crate) bookmarks: Table<Bookmark>,
    pub(crate) jobs: Table<Job>,
    pub(crate) events: Events,
    #[serde(skip)]
    pub(crate) cause: Cause,
    #[serde(skip)]
    pub(crate) guest_commands: Vec<GuestCommand>,
    #[serde(skip)]
    pub(crate) images: ImageStore,
}

/// Where the bytes of the disks are, by the ids of the disks.
#[derive(Clone)]
pub(crate) struct ImageStore(pub(crate) Arc<dyn Images>);

impl Default for ImageStore {
    fn default() -> Self {
        Self(Arc::new(BlankImages))
    }
}

impl std::fmt::Debug for ImageStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("ImageStore")
    }
}

/// On whose behalf the engine acts at the moment.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    /// The user, if it is not the engine itself.
    pub(crate) user: Option<Id>,
    /// The correlation id of the request.
    pub(crate) correlation: Box<str>,
    /// How many times longer than usual the changes take that this call starts.
    pub(crate) slowdown: u32,
    /// Whether the changes that this call starts stay unfinished until an administrator releases them.
    pub(crate) held: bool,
    /// Whether the engine is to have no room for anything.
    pub(crate) no_capacity: bool,
}

impl Default for Cause {
    fn default() -> Self {
        Self { user: None, correlation: "".into(), slowdown: 1, held: false, no_capacity: false }
    }
}

/// Makes ids: the same seed gives the same ids in the same order.
#[derive(Debug, Serialize, Deserialize)]
struct Ids {
    seed: u64,
    made: u64,
}

impl State {
    /// An engine without anything in it.
    pub(crate) fn empty(seed: u64, settings: Settings) -> Self {
        let mut ids = Ids { seed, made: 0 };
        let mac_pool = MacPool::new(ids.next(), settings.first_mac);
        Self {
            now: Instant(Duration::ZERO),
            epoch: clock::Clock::STEPPED_EPOCH,
            settings,
            ids,
            agenda: Agenda::default(),
            operations: BTreeMap::new(),
            busy: BTreeSet::new(),
            sessions: Sessions::default(),
            data_centers: Table::default(),
            clusters: Table::default(),
            hosts: Table::default(),
            networks: Table::default(),
            vnic_profiles: Table::default(),
            mac_pool,
            storage_domains: Table::default(),
            disk_profiles: Table::default(),
            cpu_profiles: Table::default(),
            disks: Table::default(),
            transfers: Table::default(),
            templates: Table::default(),
            instance_types: Table::default(),
            vms: Table::default(),
            affinity_groups: Table::default(),
            affinity_labels: Table::default(),
            quotas: Table::default(),
            users: Table::default(),
            groups: Table::default(),
            roles: Table::default(),
            permissions: Table::default(),
            tags: Table::default(),
            tagged: BTreeMap::new(),
            bookmarks: Table::default(),
            jobs: Table::default(),
            events: Events::default(),
            cause: Cause::default(),
            guest_commands: Vec::new(),
            images: ImageStore::default(),
        }
    }

    /// An id that was not used before.
    pub(crate) fn new_id(&mut self) -> Id {
        self.ids.next()
    }

    /// A secret that nobody can guess who does not know the seed.
    pub(crate) fn new_secret(&mut self) -> String {
        let (first, second) = (self.ids.next(), self.ids.next());
        format!("{}{}", first.simple(), second.simple())
    }

    /// Puts something on the agenda `delay` from now, stretched as the present call asks.
    pub(crate) fn later(&mut self, delay: Duration, due: Due) -> Key {
        let at = self.after(delay.saturating_mul(self.cause.slowdown));
        self.agenda.add(at, due)
    }

    /// The time in that long from now; a clock that was moved to the end of time stays there.
    pub(crate) fn after(&self, delay: Duration) -> Instant {
        Instant(self.now.0.saturating_add(delay))
    }

    /// The time of day at a simulated time.
    pub(crate) fn timestamp(&self, at: Instant) -> Timestamp {
        clock::timestamp(self.epoch, at)
    }

    /// Writes an event of the engine's own log.
    pub(crate) fn log(&mut self, code: u32, severity: Severity, description: String, about: About) {
        let event = Event {
            index: 0,
            code,
            severity,
            time: self.now,
            description: description.into(),
            correlation: self.cause.correlation.clone(),
            origin: "oVirt".into(),
            custom_id: None,
            user: self.cause.user,
            about,
        };
        self.events.push(event);
    }

    /// Whether a user has an administrator's role on anything.
    pub(crate) fn is_administrator(&self, user: Id) -> bool {
        self.permissions.iter().any(|permission| {
            permission.holder == Holder::User(user)
                && self.roles.get(permission.role).is_some_and(|role| role.administrative)
        })
    }

    /// Lets VMs share the configuration of their template again where it is the same: a stored state holds copies.
    pub(crate) fn share_configurations(&mut self) {
        for vm in self.vms.iter_mut() {
            if let Some(template) =
                self.templates.get(vm.original_template).filter(|template| template.config == vm.config)
            {
                vm.config = template.config.clone();
            }
        }
    }

    /// The data centre of a cluster.
    pub(crate) fn data_center_of(&self, cluster: Id) -> Option<Id> {
        self.clusters.get(cluster).map(|cluster| cluster.data_center)
    }
}

impl Ids {
    fn next(&mut self) -> Id {
        self.made += 1;
        let digest =
            Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(self.made.to_be_bytes()).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}
