//! Provider specs: what each platform needs to know to make a machine, in the words that its existing machine provider uses.
//!
//! **Adding a platform.** Write the type of its provider spec in a file beside these, with the fields `userDataSecret` and
//! `credentialsSecret` that all have; read it in the platform's crate; name its schema in [`schema`]. Nothing else here
//! grows.

mod ovirt;
mod packet;
mod powervm;
mod powervs;

pub use ovirt::{Cpu, NetworkInterface, OsDisk, OvirtMachineProviderSpec};
pub use packet::PacketMachineProviderSpec;
pub use powervm::{PowerVMMachineProviderSpec, PowervmPool, PowervmVlan};
pub use powervs::{LoadBalancerReference, PowerVSMachineProviderConfig, PowervsResource, Processors};

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A reference to a Secret in the namespace of the machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretReference {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// What all provider specs have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shared {
    /// Which platform's it is.
    pub kind: String,
    /// The Secret with what machines are started with, in its key `userData`.
    pub user_data_secret: SecretReference,
    /// The Secret with the platform's credentials.
    pub credentials_secret: SecretReference,
}

impl Shared {
    /// Reads what all provider specs have.
    pub fn read(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }
}

/// The schema of a platform's provider specs, by the name of the platform.
pub fn schema(platform: &str) -> Option<Schema> {
    let settings = schemars::generate::SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
    match platform {
        "ovirt" => Some(settings.into_generator().into_root_schema_for::<OvirtMachineProviderSpec>()),
        "packet" => Some(settings.into_generator().into_root_schema_for::<PacketMachineProviderSpec>()),
        "powervm" => Some(settings.into_generator().into_root_schema_for::<PowerVMMachineProviderSpec>()),
        "powervs" => Some(settings.into_generator().into_root_schema_for::<PowerVSMachineProviderConfig>()),
        _ => None,
    }
}
