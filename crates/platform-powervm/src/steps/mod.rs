//! The steps of a cluster on PowerVM: one file per kind of object.

mod image;
mod unasked;
mod user_data;
mod vm;

use std::{path::PathBuf, sync::Arc};

use landfall_platform::{Bind, ErrorClass, FileSet, Step, StepError, StepSpec};
use landfall_wire::Images;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use image::Image;
pub(crate) use image::{is_among, pool_units};
pub use user_data::UserData;

use crate::{
    machines::{Machines, Partition},
    site::Site,
};

/// What a step makes. This is what a plan holds, and what the journal keeps: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Desired {
    /// The cluster's own image in a shared storage pool.
    Image(Image),
    /// A machine.
    Vm(Box<Partition>),
    /// The config drive of a machine, which is deleted.
    UserData(UserData),
    /// Whatever is on a server that did not answer when it was asked. It is only ever found, never made.
    Unasked {
        /// The name of the server.
        host: String,
    },
}

/// Files of the machine that the program runs on.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The Ignition configs that machines are started with, by file name. May be empty when things are only removed.
    pub ignition: FileSet,
    /// Where images are downloaded and unpacked to, and looked for before they are downloaded again.
    pub image_cache: PathBuf,
}

/// Makes steps act on servers.
#[derive(Clone)]
pub struct Binder {
    site: Site,
    inputs: Arc<Inputs>,
}

impl Binder {
    /// Steps of a cluster.
    pub fn new(site: Site, inputs: Inputs) -> Self {
        Self { site, inputs: Arc::new(inputs) }
    }

    /// The machine verbs, for the same cluster.
    pub fn machines(&self) -> Machines {
        Machines { site: self.site.clone(), images: self.images() }
    }

    fn images(&self) -> Images {
        Images::new(self.inputs.image_cache.clone())
    }

    fn user_data(&self, file: &str, machine: &str) -> Option<SecretString> {
        let file = self.inputs.ignition.of_machine(file, machine)?;
        Some(String::from_utf8_lossy(&file.contents).into_owned().into())
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        Ok(match desired {
            Desired::Image(image) => {
                Arc::new(image::ImageStep { site: self.site.clone(), images: self.images(), desired: image })
            }
            Desired::Unasked { host } => Arc::new(unasked::UnaskedStep { site: self.site.clone(), host }),
            Desired::UserData(desired) => Arc::new(user_data::UserDataStep { machines: self.machines(), desired }),
            Desired::Vm(partition) => Arc::new(vm::VmStep {
                machines: self.machines(),
                user_data: self.user_data(&partition.ignition, &partition.name),
                desired: *partition,
            }),
        })
    }
}
