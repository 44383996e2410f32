//! Templates and instance types.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::vm::{Attachment, Console, Nic};
use super::words::TemplateStatus;
use crate::core::Instant;
use crate::ovirt::representation::Tree;
use crate::ovirt::table::{Id, entities};

entities!(Template, InstanceType);

/// A template, or one version of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    /// `None` for Blank, which belongs to no cluster.
    pub(crate) cluster: Option<Id>,
    pub(crate) config: Arc<Tree>,
    pub(crate) status: TemplateStatus,
    pub(crate) created: Instant,
    pub(crate) version: Version,
    pub(crate) disks: Vec<Attachment>,
    pub(crate) nics: Vec<Nic>,
    pub(crate) consoles: Vec<Console>,
    pub(crate) tags: Vec<Id>,
    /// The VMs whose disks depend on it.
    pub(crate) dependants: std::collections::BTreeSet<Id>,
}

/// Which version of which template.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(crate) name: Box<str>,
    /// The first version; the template itself if it is the first.
    pub(crate) base: Id,
}

/// A size of VM with a name.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InstanceType {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) config: Arc<Tree>,
    pub(crate) created: Instant,
}
