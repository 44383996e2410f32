//! PowerVS: the fields of `PowerVSMachineProviderConfig`, so that objects of the existing machine provider are read as they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretReference;

/// What a machine on PowerVS is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "self.serviceInstance.type != 'RegEx' && self.image.type != 'RegEx'",
        "message": "only a network can be given by an expression",
    },
]))]
pub struct PowerVSMachineProviderConfig {
    /// `machine.openshift.io/v1`.
    #[serde(default)]
    pub api_version: String,
    /// `PowerVSMachineProviderConfig`.
    #[schemars(extend("enum" = ["PowerVSMachineProviderConfig"]))]
    pub kind: String,
    /// The Secret with what machines are started with, in its key `userData`.
    pub user_data_secret: SecretReference,
    /// The Secret with the API key: `ibmcloud_api_key`, and where the platform is.
    pub credentials_secret: SecretReference,
    /// The workspace.
    pub service_instance: PowervsResource,
    /// The image that machines boot from.
    pub image: PowervsResource,
    /// The network that machines are in.
    pub network: PowervsResource,
    /// Name of the SSH key. Keys that the user data holds need none.
    #[serde(default)]
    pub key_pair_name: String,
    /// Type of the system, for example `s922`. Default: that which the zone has.
    #[serde(default)]
    pub system_type: String,
    /// How machines share processors. Default: `Shared`.
    #[serde(default)]
    #[schemars(extend("enum" = ["", "Dedicated", "Shared", "Capped"]))]
    pub processor_type: String,
    /// Number of processors, as a number or as text. Default: 0.5, and 1 for dedicated ones.
    #[serde(default)]
    #[schemars(schema_with = "number_or_text")]
    pub processors: Processors,
    /// Memory in GiB. Default: 32.
    #[serde(default, rename = "memoryGiB")]
    #[schemars(range(min = 0))]
    pub memory_gib: u32,
    /// Speed of the disk: `tier0`, `tier1`, `tier3`, `tier5k`. Default: `tier3`. The existing machine provider has no such field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_type: Option<String>,
    /// Load balancers whose pools the machine joins.
    #[serde(default)]
    pub load_balancers: Vec<LoadBalancerReference>,
}

/// Something on the platform, by its id, its name, or an expression that its name fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowervsResource {
    /// Which of the three is given.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["ID", "Name", "RegEx"]))]
    pub kind: String,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An expression that its name fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
}

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerReference {
    /// Its name.
    pub name: String,
    /// `Application`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A number that may be written as text; nothing is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Processors {
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
}

impl Default for Processors {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// What the API server lets through as either: a fraction has to be text.
pub(super) fn number_or_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "x-kubernetes-int-or-string": true,
        "anyOf": [{ "type": "integer" }, { "type": "string" }],
    })
}

impl Processors {
    /// The number; none if the text is none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) if text.trim().is_empty() => Some(0.0),
            Self::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_may_be_text() {
        for (text, number) in [("0.5", Some(0.5)), ("\"0.25\"", Some(0.25)), ("\"\"", Some(0.0)), ("\"many\"", None)] {
            let read: Processors = serde_json::from_str(text).unwrap();
            assert_eq!(read.number(), number, "{text}");
        }
    }
}
