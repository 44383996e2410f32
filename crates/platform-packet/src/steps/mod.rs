//! The steps of a cluster on Packet: one file per kind of object.

mod addresses;
mod bgp;
mod device;
mod led;
mod network;
mod project;
mod ssh_key;

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use landfall_platform::{Bind, ErrorClass, FileSet, Step, StepError, StepSpec};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use addresses::Addresses;
pub use led::{Led, Target};
pub(crate) use led::{is_beside, lead};
pub use network::Network;
pub use project::ProjectStep;
pub use ssh_key::SshKeyStep;

use crate::{
    Site,
    machines::{Device, Machines},
};

/// What a step makes. This is what a plan holds, and what the journal keeps: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Desired {
    /// The cluster's own project.
    Project(ProjectStep),
    /// A block of addresses.
    Addresses(Addresses),
    /// A virtual network.
    Network(Network),
    /// An SSH key of the project.
    SshKey(SshKeyStep),
    /// BGP in the project. It cannot be taken back.
    Bgp,
    /// A machine.
    Device(Box<Device>),
    /// An elastic address that leads to a machine.
    Led(Led),
}

/// Whether control planes are well.
#[async_trait]
pub trait ControlPlane: Send + Sync {
    /// Whether the API server of the machine with this address is ready.
    async fn is_ready(&self, address: IpAddr) -> bool;
}

/// What machines are started with, and who knows how they do.
#[derive(Clone, Default)]
pub struct Inputs {
    /// User data, by the name of the file that a plan gives. May be empty when things are only removed.
    pub user_data: FileSet,
    /// Where machines that boot from the network find their script.
    pub script_url: Option<String>,
    /// Asks control planes. Not needed when things are only removed.
    pub control_plane: Option<Arc<dyn ControlPlane>>,
}

/// Makes steps act on an account.
#[derive(Clone)]
pub struct Binder {
    site: Site,
    inputs: Inputs,
}

impl Binder {
    /// Steps of a cluster.
    pub fn new(site: Site, inputs: Inputs) -> Self {
        Self { site, inputs }
    }

    /// The machine verbs, for the same cluster.
    pub fn machines(&self) -> Machines {
        Machines { site: self.site.clone(), script_url: self.inputs.script_url.clone() }
    }

    fn user_data(&self, file: &str, machine: &str) -> Option<SecretString> {
        let file = self.inputs.user_data.of_machine(file, machine)?;
        Some(String::from_utf8_lossy(&file.contents).into_owned().into())
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let site = self.site.clone();
        Ok(match desired {
            Desired::Project(desired) => Arc::new(project::Act { site, desired }),
            Desired::Addresses(desired) => Arc::new(addresses::Act { site, desired }),
            Desired::Network(desired) => Arc::new(network::Act { site, desired }),
            Desired::SshKey(desired) => Arc::new(ssh_key::Act { site, desired }),
            Desired::Bgp => Arc::new(bgp::Act { site }),
            Desired::Device(desired) => Arc::new(device::Act {
                machines: self.machines(),
                user_data: self.user_data(&desired.ignition, &desired.name),
                desired: *desired,
            }),
            Desired::Led(desired) => {
                Arc::new(led::Act { site, desired, control_plane: self.inputs.control_plane.clone() })
            }
        })
    }
}
