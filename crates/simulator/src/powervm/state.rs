//! Everything that the simulated hosts know.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::atom::Clock;
use super::console::Console;
use super::ids;
use super::inventory::Settings;
use super::xml::Element;
use crate::core::Instant;
use crate::core::guest::GuestCommand;

/// How many events are kept; who reads later is told that some are missing.
const EVENTS: usize = 10_000;

/// An object: what a client reads, changes and deletes as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Object {
    pub(crate) id: String,
    /// The object that it belongs to; `None` for those that belong to nothing.
    pub(crate) parent: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) created: u64,
    pub(crate) element: Element,
}

impl Object {
    /// What kind it is, which is the name of its element.
    pub(crate) fn kind(&self) -> &str {
        &self.element.name
    }

    /// Whether it belongs to the service itself and not to what it manages.
    pub(crate) fn is_web(&self) -> bool {
        matches!(self.kind(), "File" | "JobRequest" | "JobResponse")
    }

    /// Whether it is a partition of any kind.
    pub(crate) fn is_partition(&self) -> bool {
        matches!(self.kind(), "LogicalPartition" | "VirtualIOServer")
    }

    /// The number of a partition.
    pub(crate) fn partition_id(&self) -> u32 {
        self.element.number("PartitionID").unwrap_or_default()
    }
}

/// Objects by id, in the order in which they were made.
pub(crate) type Objects = IndexMap<String, Object>;

/// A server with its hypervisor and its NovaLink partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// Machine type, model and serial number.
    pub(crate) machine: (String, String, String),
    /// The id of its managed system.
    pub(crate) system: String,
    pub(crate) objects: Objects,
    pub(crate) jobs: BTreeMap<u64, Job>,
    pub(crate) events: Events,
    pub(crate) uploads: IndexMap<String, Upload>,
    /// What is on optical media: user data by VIOS and name.
    pub(crate) media: BTreeMap<String, Media>,
    /// Partitions whose connection the administrator has cut until they are switched off.
    #[serde(default)]
    pub(crate) cut_off: BTreeSet<String>,
    /// Volumes of storage servers that a VIOS has not found yet.
    pub(crate) volumes: Vec<Volume>,
    /// Consoles that are open, by partition. They end with the process.
    #[serde(skip)]
    pub(crate) consoles: BTreeMap<String, Arc<Console>>,
}

/// What a guest finds on a medium.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Media {
    pub(crate) user_data: Option<String>,
    pub(crate) hostname: Option<String>,
}

/// A volume of a storage server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Volume {
    /// The ports of the storage server that show it, upper case.
    pub(crate) wwpns: Vec<String>,
    /// 16 hexadecimal digits.
    pub(crate) lun: String,
    pub(crate) megabytes: u64,
    pub(crate) name: String,
}

/// A job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// The kind of its target.
    pub(crate) group: String,
    pub(crate) operation: String,
    pub(crate) target: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) status: String,
    pub(crate) started: u64,
    pub(crate) completed: Option<u64>,
    pub(crate) results: Vec<(String, String)>,
    pub(crate) exception: Option<String>,
}

impl Job {
    /// A parameter; empty if it was not given.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

/// A file that is being uploaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub(crate) object: Object,
}

/// What happened, for those who ask.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Events {
    last: u64,
    queue: VecDeque<Happening>,
    /// The last event that each application has read.
    readers: BTreeMap<String, u64>,
}

/// An event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Happening {
    pub(crate) id: u64,
    pub(crate) kind: String,
    /// What it happened to, from `/rest/api` on, or what a client gave.
    pub(crate) data: String,
    pub(crate) detail: String,
}

impl Events {
    /// Takes note of something.
    pub(crate) fn add(&mut self, kind: &str, data: String, detail: &str) -> Happening {
        self.last += 1;
        let event = Happening { id: self.last, kind: kind.to_owned(), data, detail: detail.to_owned() };
        self.queue.push_back(event.clone());
        while self.queue.len() > EVENTS {
            self.queue.pop_front();
        }
        event
    }

    /// All who read are new from now on.
    pub(crate) fn forget_readers(&mut self) {
        self.readers.clear();
    }

    /// Whether an application would get something if it asked.
    pub(crate) fn has_news(&self, application: &str) -> bool {
        self.readers.get(application).is_none_or(|seen| *seen < self.last)
    }

    /// What an application has not read yet. A new one is told that it is new.
    pub(crate) fn read(&mut self, application: &str) -> Vec<Happening> {
        let special =
            |id, kind: &str| Happening { id, kind: kind.to_owned(), data: String::new(), detail: String::new() };
        let Some(seen) = self.readers.insert(application.to_owned(), self.last) else {
            self.last += 1;
            self.readers.insert(application.to_owned(), self.last);
            return vec![special(self.last, "NEW_CLIENT")];
        };
        let missing = self.queue.front().is_some_and(|first| first.id > seen + 1) && self.queue.len() == EVENTS;
        let missing = missing.then(|| special(seen + 1, "MISSING_EVENTS"));
        missing.into_iter().chain(self.queue.iter().filter(|event| event.id > seen).cloned()).collect()
    }
}

/// Somebody who is logged on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) user: String,
    pub(crate) host: usize,
}

/// What happens when its time has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Due {
    /// A job is done.
    Job { host: usize, id: u64 },
    /// A medium is taken out of a partition, which has had time to read it, and deleted.
    Eject { host: usize, partition: String, medium: String },
}

/// The whole world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) epoch: Timestamp,
    pub(crate) now: Instant,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    pub(crate) hosts: Vec<Host>,
    /// What belongs to no host: clusters, shared storage pools, tiers, logical units.
    pub(crate) pool: Objects,
    pub(crate) sessions: BTreeMap<String, Session>,
    pub(crate) agenda: Vec<(Instant, u64, Due)>,
    counter: u64,
    #[serde(skip)]
    pub(crate) guest_commands: Vec<GuestCommand>,
    /// Where tokens for local users are put.
    #[serde(skip)]
    pub(crate) token_directory: Option<PathBuf>,
    /// Whether optical media stay that should be taken out some time after a start.
    #[serde(skip)]
    pub(crate) keeps_media: bool,
    /// Where copies of optical media are kept.
    #[serde(skip)]
    pub(crate) media_directory: Option<PathBuf>,
    /// Whether it is served over TLS.
    #[serde(skip)]
    pub(crate) secure: bool,
}

impl State {
    /// A world without hosts.
    pub(crate) fn new(settings: Settings, seed: u64) -> Self {
        Self {
            epoch: Timestamp::UNIX_EPOCH,
            now: Instant(std::time::Duration::ZERO),
            seed,
            settings,
            hosts: Vec::new(),
            pool: Objects::new(),
            sessions: BTreeMap::new(),
            agenda: Vec::new(),
            counter: 0,
            guest_commands: Vec::new(),
            token_directory: None,
            keeps_media: false,
            media_directory: None,
            secure: false,
        }
    }

    /// Everything as it was earlier, except for who is logged on, what time it is, and where it is served.
    pub(crate) fn set_back(&mut self, earlier: &Self) {
        let (now, sessions) = (self.now, std::mem::take(&mut self.sessions));
        let (tokens, secure) = (self.token_directory.take(), self.secure);
        *self = earlier.clone();
        for (at, ..) in &mut self.agenda {
            at.0 = now.0.saturating_add(at.0.saturating_sub(self.now.0));
        }
        (self.now, self.sessions, self.token_directory, self.secure) = (now, sessions, tokens, secure);
    }

    /// A number that was not given before.
    pub(crate) fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Words that make a new name together with others.
    pub(crate) fn fresh(&mut self) -> String {
        let number = self.next();
        format!("{}-{number}", self.seed)
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock { epoch: self.epoch, now: self.now }
    }

    /// Lets something happen later.
    pub(crate) fn schedule(&mut self, after: std::time::Duration, due: Due) {
        let at = Instant(self.now.0.saturating_add(after));
        let number = self.next();
        let place = self.agenda.partition_point(|(time, _, _)| *time <= at);
        self.agenda.insert(place, (at, number, due));
    }

    /// An object that a host shows.
    pub(crate) fn object(&self, host: usize, id: &str) -> Option<&Object> {
        let find = |objects: &'_ Objects| -> Option<usize> {
            [id.to_owned(), id.to_uppercase(), id.to_lowercase()].iter().find_map(|id| objects.get_index_of(id))
        };
        let own = &self.hosts[host].objects;
        find(own).map(|index| &own[index]).or_else(|| find(&self.pool).map(|index| &self.pool[index]))
    }

    /// The same, to be changed.
    pub(crate) fn object_mut(&mut self, host: usize, id: &str) -> Option<&mut Object> {
        let id = self.object(host, id)?.id.clone();
        let own = &mut self.hosts[host].objects;
        if own.contains_key(&id) { own.get_mut(&id) } else { self.pool.get_mut(&id) }
    }

    /// An object of a kind.
    pub(crate) fn of_kind(&self, host: usize, kind: &str, id: &str) -> Option<&Object> {
        self.object(host, id).filter(|object| object.kind() == kind)
    }

    /// All objects that a host shows.
    pub(crate) fn objects(&self, host: usize) -> impl Iterator<Item = &Object> {
        self.hosts[host].objects.values().chain(self.pool.values())
    }

    /// All objects of a kind that a host shows.
    pub(crate) fn all<'a>(&'a self, host: usize, kind: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects(host).filter(move |object| object.kind() == kind)
    }

    /// The objects of a kind that belong to another.
    pub(crate) fn children<'a>(
        &'a self,
        host: usize,
        parent: &'a str,
        kind: &'a str,
    ) -> impl Iterator<Item = &'a Object> {
        self.all(host, kind).filter(move |object| object.parent.as_deref() == Some(parent))
    }

    /// Adds an object to a host, and says so to those who listen.
    pub(crate) fn add(&mut self, host: usize, id: &str, parent: Option<&str>, element: Element) {
        let created = self.clock().milliseconds();
        let object = Object { id: id.to_owned(), parent: parent.map(str::to_owned), created, element };
        let shared = matches!(object.kind(), "Cluster" | "SharedStoragePool" | "Tier" | "LogicalUnit");
        let objects = if shared { &mut self.pool } else { &mut self.hosts[host].objects };
        objects.insert(id.to_owned(), object);
        self.announce(host, "ADD_URI", id, "");
    }

    /// Takes an object away.
    pub(crate) fn remove(&mut self, host: usize, id: &str) {
        self.announce(host, "DELETE_URI", id, "");
        if self.hosts[host].objects.shift_remove(id).is_none() {
            self.pool.shift_remove(id);
        }
    }

    /// Tells those who listen what happened to an object.
    pub(crate) fn announce(&mut self, host: usize, kind: &str, id: &str, detail: &str) {
        let Some(path) = self.object(host, id).map(|object| self.path_of(host, object)) else { return };
        if self.pool.contains_key(id) {
            for host in &mut self.hosts {
                host.events.add(kind, path.clone(), detail);
            }
        } else {
            self.hosts[host].events.add(kind, path, detail);
        }
    }

    /// Where an object is, in the form in which events name it.
    pub(crate) fn path_of(&self, host: usize, object: &Object) -> String {
        let own = format!("{}/{}", object.kind(), object.id);
        match object.parent.as_deref().and_then(|parent| self.object(host, parent)) {
            // Partitions are found at the top too, and their children are addressed through them from there.
            Some(parent) => format!("/rest/api/uom/{}/{}/{own}", parent.kind(), parent.id),
            None => format!("/rest/api/uom/{own}"),
        }
    }

    /// A link to an object, in the form that objects use among each other.
    pub(crate) fn link(&self, host: usize, id: &str) -> String {
        self.object(host, id).map(|object| self.path_of(host, object)).unwrap_or_default()
    }

    /// Gives a partition another state, and says so.
    pub(crate) fn set_partition_state(&mut self, host: usize, id: &str, state: &str) {
        if let Some(partition) = self.object_mut(host, id) {
            partition.element.set("PartitionState", state);
        }
        self.announce(host, "MODIFY_URI", id, "PartitionState");
    }

    /// A name for the host's parts, as location codes have it: `U9009.42A.78A0001`.
    pub(crate) fn location(&self, host: usize) -> String {
        let (kind, model, serial) = &self.hosts[host].machine;
        format!("U{kind}.{model}.{serial}")
    }

    /// A new id for an object of a host.
    pub(crate) fn new_id(&mut self, host: usize, kind: &str) -> String {
        let fresh = self.fresh();
        ids::uuid(&[&self.hosts[host].name, kind, &fresh])
    }
}
