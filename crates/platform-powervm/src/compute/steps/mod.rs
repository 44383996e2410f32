//! The steps that operations are made of, one file for each kind.

mod config_drive;
mod disk;
mod fibre_ports;
mod load_source;
mod loan;
mod mappings;
mod migration;
mod nics;
mod outline;
mod partition;
mod power;
mod shape;
mod volume;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use landfall_platform::{Bind, ErrorClass, Step, StepError, StepId, StepSpec};
use serde::{Deserialize, Serialize};

use super::{
    ConfigDrive, Error, Host, PartitionId, PartitionSpec, config_drive::MediumSpec, disk::DiskSpec, migration::Move,
    network::NicsSpec, operation::Outline, resize::Reshape, snapshot::Loan, volume::VolumeSpec,
};

pub(super) use fibre_ports::FibrePorts;
pub(super) use load_source::LoadSource;
pub(super) use mappings::Mappings;
pub(super) use migration::{Kept, Released, Trusted};
pub(super) use partition::close_console;
pub(super) use power::Running;
pub(super) use shape::Off;

/// What a step makes, and on which server. This is what journals keep: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Desired {
    /// The name of the server.
    pub(super) host: String,
    /// What it makes.
    #[serde(flatten)]
    pub(super) object: Object,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub(super) enum Object {
    /// A partition without anything.
    Partition(Box<PartitionSpec>),
    /// Its network adapters.
    Nics(NicsSpec),
    /// What its network adapters need of a server that it is not on yet.
    Links(NicsSpec),
    /// One of its disks.
    Disk(DiskSpec),
    /// A volume, known to VIOSes.
    Volume(VolumeSpec),
    /// A volume that a partition has.
    Attachment(VolumeSpec),
    /// The medium with its config drive.
    ConfigDrive(MediumSpec),
    /// What VIOSes show it.
    Mappings(Mappings),
    /// Where IBM i loads itself from.
    LoadSource(LoadSource),
    /// That it runs.
    Running(Running),
    /// That it is off for a while.
    Off(Off),
    /// Another shape of it.
    Reshape(Box<Reshape>),
    /// A disk that is larger than it was.
    Growth(DiskSpec),
    /// What it is shown no more.
    Released(Released),
    /// A logical unit that was there before it.
    Kept(Kept),
    /// The SSH key of a console that it comes from.
    Trusted(Trusted),
    /// That it is on another server.
    Moved(Move),
    /// One of its disks, shown to the management partition for a while.
    Loan(Loan),
    /// Virtual Fibre Channel ports.
    FibrePorts(FibrePorts),
    /// Nothing: what a journal says first about an operation.
    Outline(Outline),
}

impl Desired {
    /// The description of a step.
    pub(super) fn step(
        self,
        id: impl Into<StepId>,
        kind: &str,
        title: String,
        needs: Vec<StepId>,
        timeout: Duration,
    ) -> StepSpec {
        let desired = serde_json::to_value(self).unwrap_or_default();
        StepSpec { id: id.into(), title, kind: kind.into(), needs, timeout, desired }
    }
}

/// Makes steps act on servers.
#[derive(Clone)]
pub struct Binder {
    hosts: BTreeMap<String, Arc<Host>>,
    drives: BTreeMap<PartitionId, Arc<ConfigDrive>>,
}

impl Binder {
    /// Steps on these servers.
    pub fn new(hosts: impl IntoIterator<Item = Arc<Host>>) -> Self {
        let hosts = hosts.into_iter().map(|host| (host.name().to_owned(), host)).collect();
        Self { hosts, drives: BTreeMap::new() }
    }

    /// With what is on the config drive of a partition, which is no part of any plan because it may hold secrets.
    #[must_use]
    pub fn with_drive(mut self, partition: &PartitionId, drive: &ConfigDrive) -> Self {
        self.drives.insert(partition.clone(), Arc::new(drive.clone()));
        self
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let Desired { host, object } =
            Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        if let Object::Outline(_) = object {
            return Ok(Arc::new(outline::OutlineStep));
        }
        let known = self.hosts.get(&host).cloned();
        let host = known.ok_or_else(|| Error::Missing { what: format!("connection to server {host}"), host })?;
        Ok(match object {
            Object::Partition(spec) => Arc::new(partition::PartitionStep { host, spec: *spec }),
            Object::Nics(spec) => Arc::new(nics::NicsStep { host, spec }),
            Object::Links(spec) => Arc::new(nics::LinksStep { host, spec }),
            Object::Disk(spec) => Arc::new(disk::DiskStep { host, spec }),
            Object::Volume(spec) => Arc::new(volume::VolumeStep { host, spec }),
            Object::Attachment(spec) => Arc::new(volume::AttachmentStep { host, spec }),
            Object::ConfigDrive(spec) => {
                let drive = self.drives.get(&spec.partition).cloned();
                Arc::new(config_drive::ConfigDriveStep { host, spec, drive })
            }
            Object::Mappings(desired) => Arc::new(mappings::MappingsStep { host, desired }),
            Object::LoadSource(desired) => Arc::new(load_source::LoadSourceStep { host, desired }),
            Object::Running(desired) => Arc::new(power::PowerStep { host, desired }),
            Object::Off(desired) => Arc::new(shape::OffStep { host, desired }),
            Object::Reshape(desired) => Arc::new(shape::ReshapeStep { host, desired: *desired }),
            Object::Growth(desired) => Arc::new(shape::GrowthStep { host, disk: desired }),
            Object::Released(desired) => Arc::new(migration::ReleasedStep { host, desired }),
            Object::Kept(desired) => Arc::new(migration::KeptStep { host, desired }),
            Object::Trusted(desired) => Arc::new(migration::TrustedStep { host, desired }),
            Object::Moved(desired) => Arc::new(migration::MoveStep { host, desired }),
            Object::Loan(desired) => Arc::new(loan::LoanStep { host, desired }),
            Object::FibrePorts(desired) => Arc::new(fibre_ports::FibrePortsStep { host, desired }),
            Object::Outline(_) => Arc::new(outline::OutlineStep),
        })
    }
}
