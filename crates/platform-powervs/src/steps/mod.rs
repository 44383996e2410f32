//! The steps of a cluster on PowerVS: one file per kind of object.

mod boot_config;
mod connection;
mod dhcp;
mod image;
mod instance;
mod load_balancer;
mod members;
mod object_storage;
mod public_gateway;
mod security_group;
mod ssh_key;
mod subnet;
mod tag;
mod transit_gateway;
mod user_data;
mod vpc;
mod workspace;

use std::sync::Arc;

use bytes::Bytes;
use landfall_platform::{Bind, Context, ErrorClass, FileSet, Outputs, Step, StepError, StepSpec};
use serde::{Deserialize, Serialize};

pub use boot_config::BootConfig;
pub use connection::Connection;
pub use dhcp::Dhcp;
pub use image::{Image, ImageSource};
pub use load_balancer::LoadBalancer;
pub use members::Members;
pub(crate) use members::rearrange;
pub use object_storage::ObjectStorage;
pub(crate) use object_storage::stored;
pub use public_gateway::PublicGateway;
pub use security_group::SecurityGroup;
pub use ssh_key::SshKey;
pub(crate) use ssh_key::is_marked;
pub use subnet::Subnet;
pub use tag::Tag;
pub use transit_gateway::TransitGateway;
pub use user_data::UserData;
pub use vpc::Vpc;
pub use workspace::Workspace;

use crate::{
    Error, Site,
    client::Resource,
    machines::{Machines, Vm},
    own::{Own, owned},
};

/// What a step makes. This is what a plan holds, and what the journal keeps: names and sizes, never secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each has a file of its own that says what it is")]
pub enum Desired {
    Workspace(Workspace),
    Dhcp(Dhcp),
    SshKey(SshKey),
    Image(Image),
    Vpc(Vpc),
    Subnet(Subnet),
    Tag(Tag),
    PublicGateway(PublicGateway),
    SecurityGroup(SecurityGroup),
    LoadBalancer(LoadBalancer),
    TransitGateway(TransitGateway),
    Connection(Connection),
    ObjectStorage(ObjectStorage),
    BootConfig(BootConfig),
    Instance(Box<Vm>),
    Members(Members),
    UserData(UserData),
}

/// What machines are started with.
#[derive(Clone, Default)]
pub struct Inputs {
    /// Configs, by the name of the file that a plan gives. May be empty when things are only removed.
    pub ignition: FileSet,
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
        Machines { site: self.site.clone() }
    }

    fn config(&self, file: &str, machine: &str) -> Option<Bytes> {
        self.inputs.ignition.of_machine(file, machine).map(|file| file.contents.clone().into())
    }
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let desired = Desired::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let site = self.site.clone();
        Ok(match desired {
            Desired::Workspace(desired) => Arc::new(workspace::Act { site, desired }),
            Desired::Dhcp(desired) => Arc::new(dhcp::Act { site, desired }),
            Desired::SshKey(desired) => Arc::new(ssh_key::Act { site, desired }),
            Desired::Image(desired) => Arc::new(image::Act { site, desired }),
            Desired::Vpc(desired) => Arc::new(vpc::Act { site, desired }),
            Desired::Subnet(desired) => Arc::new(subnet::Act { site, desired }),
            Desired::Tag(desired) => Arc::new(tag::Act { site, desired }),
            Desired::PublicGateway(desired) => Arc::new(public_gateway::Act { site, desired }),
            Desired::SecurityGroup(desired) => Arc::new(security_group::Act { site, desired }),
            Desired::LoadBalancer(desired) => Arc::new(load_balancer::Act { site, desired }),
            Desired::TransitGateway(desired) => Arc::new(transit_gateway::Act { site, desired }),
            Desired::Connection(desired) => Arc::new(connection::Act { site, desired }),
            Desired::ObjectStorage(desired) => Arc::new(object_storage::Act { site, desired }),
            Desired::BootConfig(desired) => {
                Arc::new(boot_config::Act { site, contents: self.config(&desired.ignition, "bootstrap"), desired })
            }
            Desired::Instance(desired) => Arc::new(instance::Act {
                machines: self.machines(),
                config: self.config(&desired.ignition, &desired.name),
                desired: *desired,
            }),
            Desired::Members(desired) => Arc::new(members::Act { site, desired }),
            Desired::UserData(desired) => Arc::new(user_data::Act { site, desired }),
        })
    }
}

/// What is noted of an object as soon as the platform has told its id.
fn id(id: &str) -> Outputs {
    Outputs::default().with("id", id)
}

/// Deletes what is meant, and waits until it is gone: by its id, since what is leaving may have lost its tag.
async fn erase<T: Resource>(site: &Site, own: &Own<'_>, context: &Context) -> Result<(), Error> {
    for meant in owned::<T>(site, own).await? {
        let look = || async {
            let Some(object) = site.client.with_id::<T>(meant.id()).await? else { return Ok(Some(())) };
            if !object.is_leaving() {
                site.client.discard(&object).await?;
            }
            context.report("going");
            Ok(None)
        };
        site.until(look).await?;
    }
    Ok(())
}

/// Whether an object of VPC or a gateway can be used; an error if it never will be.
fn settled(object: &str, status: &str) -> Result<bool, Error> {
    match status {
        "available" => Ok(true),
        "failed" => Err(Error::Failed {
            object: object.to_owned(),
            state: status.to_owned(),
            reason: "the platform gives no reason".to_owned(),
        }),
        _ => Ok(false),
    }
}
