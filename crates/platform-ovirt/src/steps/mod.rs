//! The steps of a cluster on oVirt: one file per kind of object.

mod affinity_group;
mod tag;
mod template;
mod user_data;
mod vm;

use std::{path::PathBuf, sync::Arc, time::Duration};

use landfall_platform::{Bind, ErrorClass, FileSet, InfraId, Step, StepError, StepSpec};
use landfall_wire::Images;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use affinity_group::AffinityGroup;
pub use tag::Tag;
pub use template::Template;
pub use user_data::UserData;

use crate::{
    Client,
    machines::{Machines, Vm},
    site::Site,
};

/// What a step makes. This is what a plan holds, and what the journal keeps: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Desired {
    /// The cluster's tag.
    Tag(Tag),
    /// An affinity group.
    AffinityGroup(AffinityGroup),
    /// The cluster's own template.
    Template(Template),
    /// A virtual machine.
    Vm(Box<Vm>),
    /// The user data of a machine, which is emptied.
    UserData(UserData),
}

/// Files of the machine that the program runs on.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The Ignition configs that machines are started with, by file name. May be empty when things are only removed.
    pub ignition: FileSet,
    /// Where images are downloaded and unpacked to, and looked for before they are downloaded again.
    pub image_cache: PathBuf,
}

/// Makes steps act on an engine.
#[derive(Clone)]
pub struct Binder {
    site: Site,
    inputs: Arc<Inputs>,
}

impl Binder {
    /// Steps of a cluster, acting through a client. Whatever is waited for is looked at once per `interval`.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, inputs: Inputs, interval: Duration) -> Self {
        Self { site: Site::new(client, infra_id, interval), inputs: Arc::new(inputs) }
    }

    /// The machine verbs, for the same cluster.
    pub fn machines(&self) -> Machines {
        Machines { site: self.site.clone() }
    }

    fn user_data(&self, file: &str, machine: &str) -> Option<SecretString> {
        let file = self.inputs.ignition.of_machine(file, machine)?;
        Some(String::from_utf8_lossy(&file.contents).into_owned().into())
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let site = self.site.clone();
        Ok(match desired {
            Desired::Tag(tag) => Arc::new(tag::TagStep { site, desired: tag }),
            Desired::AffinityGroup(group) => Arc::new(affinity_group::AffinityGroupStep { site, desired: group }),
            Desired::Template(template) => {
                let images = Images::new(self.inputs.image_cache.clone());
                Arc::new(template::TemplateStep { machines: self.machines(), images, desired: template })
            }
            Desired::Vm(vm) => Arc::new(vm::VmStep {
                machines: self.machines(),
                user_data: self.user_data(&vm.ignition, &vm.name),
                desired: *vm,
            }),
            Desired::UserData(desired) => Arc::new(user_data::UserDataStep { machines: self.machines(), desired }),
        })
    }
}
