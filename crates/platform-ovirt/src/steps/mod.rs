//! The steps of a cluster on oVirt: one file per kind of object.

mod affinity_group;
mod tag;
mod vm;

use std::{sync::Arc, time::Duration};

use landfall_platform::{Bind, ErrorClass, FileSet, InfraId, Step, StepError, StepSpec};
use serde::{Deserialize, Serialize};

pub use affinity_group::AffinityGroup;
pub use tag::Tag;
pub use vm::{Size, Vm};

use crate::{Client, Error, fleet::Fleet, mark::Mark};

/// What a step makes. This is what a plan holds, and what the journal keeps: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Desired {
    /// The cluster's tag.
    Tag(Tag),
    /// An affinity group.
    AffinityGroup(AffinityGroup),
    /// A virtual machine.
    Vm(Box<Vm>),
}

/// Makes steps act on an engine.
#[derive(Clone)]
pub struct Binder {
    engine: Engine,
}

/// What all steps of a cluster share.
#[derive(Clone)]
pub(crate) struct Engine {
    client: Arc<Client>,
    fleet: Fleet,
    mark: Mark,
    ignition: Arc<FileSet>,
}

impl Binder {
    /// Steps of a cluster, acting through a client. `ignition` holds the configs that machines are started with, by file name;
    /// it may be empty when things are only removed. Machines are looked at once per `interval`.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, ignition: Arc<FileSet>, interval: Duration) -> Self {
        let fleet = Fleet::new(Arc::clone(&client), infra_id, interval);
        Self { engine: Engine { client, fleet, mark: Mark::new(infra_id.clone()), ignition } }
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let engine = self.engine.clone();
        Ok(match desired {
            Desired::Tag(tag) => Arc::new(tag::TagStep { engine, desired: tag }),
            Desired::AffinityGroup(group) => Arc::new(affinity_group::AffinityGroupStep { engine, desired: group }),
            Desired::Vm(vm) => Arc::new(vm::VmStep { engine, desired: *vm }),
        })
    }
}

impl Engine {
    /// The error for an object that has the name but not the mark.
    fn foreign(&self, object: String) -> Error {
        Error::Foreign { object, engine: self.client.engine().host() }
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::new(error.class(), error)
    }
}
