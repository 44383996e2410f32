//! Users, roles, permissions, tags and bookmarks.

use serde::{Deserialize, Serialize};

use crate::ovirt::table::{Id, entities};

entities!(User, Group, Role, Permission, Tag, Bookmark);

/// Somebody who can log in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) id: Id,
    /// The first name.
    pub(crate) name: Box<str>,
    pub(crate) last_name: Box<str>,
    /// What is typed to log in, with the profile: `admin@internal`.
    pub(crate) login: Box<str>,
    pub(crate) email: Box<str>,
    pub(crate) password: Box<str>,
    /// The authorization domain: `internal-authz`.
    pub(crate) domain: Box<str>,
}

/// A group of users.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) domain: Box<str>,
}

/// A set of permits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Role {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) administrative: bool,
    pub(crate) mutable: bool,
    pub(crate) permits: Vec<Box<str>>,
}

/// A role of a user or group on an object.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Permission {
    pub(crate) id: Id,
    /// Permissions have no name; the table wants one.
    pub(crate) name: Box<str>,
    pub(crate) role: Id,
    pub(crate) holder: Holder,
    pub(crate) object: Object,
}

/// Who has a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Holder {
    /// A user.
    User(Id),
    /// A group.
    Group(Id),
}

/// What a permission is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Object {
    /// Everything.
    System,
    /// A data centre and all in it.
    DataCenter(Id),
    /// A cluster and all in it.
    Cluster(Id),
    /// A host.
    Host(Id),
    /// A storage domain and the disks on it.
    StorageDomain(Id),
    /// A VM.
    Vm(Id),
    /// A template.
    Template(Id),
    /// A disk.
    Disk(Id),
    /// A network.
    Network(Id),
    /// A vNIC profile.
    VnicProfile(Id),
    /// A CPU profile.
    CpuProfile(Id),
    /// A disk profile.
    DiskProfile(Id),
    /// A quota.
    Quota(Id),
    /// The pool of hardware addresses.
    MacPool(Id),
}

/// A label of a tree of labels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tag {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    /// `None` for the root.
    pub(crate) parent: Option<Id>,
}

/// A search that somebody saved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bookmark {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) value: Box<str>,
}
