//! `Machine`: one machine of the cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, Labels};

/// What a machine is to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!has(oldSelf.providerID) || oldSelf.providerID == '' || has(self.providerID) && self.providerID == oldSelf.providerID",
    "message": "providerID stays as it is once it is set: it names the instance that the machine is",
}]))]
pub struct MachineSpec {
    /// Labels and annotations for the node.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: Labels,
    /// Taints that the node gets in addition to its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub taints: Vec<Taint>,
    /// What the platform needs to know to make the machine.
    pub provider_spec: ProviderSpec,
    /// The machine's id on its platform, as its node has it too.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Who must agree before the machine is drained or removed.
    #[serde(skip_serializing_if = "is_default")]
    pub lifecycle_hooks: LifecycleHooks,
}

/// What the platform needs to know to make a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProviderSpec {
    /// The settings, in the form of the platform.
    #[schemars(schema_with = "any_object")]
    pub value: Value,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Its name.
    pub key: String,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What it does to pods that do not tolerate it.
    #[schemars(extend("enum" = ["NoSchedule", "PreferNoSchedule", "NoExecute"]))]
    pub effect: String,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub time_added: Option<String>,
}

/// Who must agree before a machine is drained or removed: hooks are added by others, who take them away when they are ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct LifecycleHooks {
    /// Must be gone before the node is drained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub pre_drain: Vec<Hook>,
    /// Must be gone before the machine is removed from its platform.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub pre_terminate: Vec<Hook>,
}

/// A program that must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hook {
    /// What it does.
    #[schemars(length(min = 3, max = 256))]
    pub name: String,
    /// Who it is.
    #[schemars(length(min = 3, max = 512))]
    pub owner: String,
}

/// What a machine is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineStatus {
    /// Where the machine is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Under which the machine can be reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addresses: Vec<Address>,
    /// The node that runs on the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_ref: Option<NodeReference>,
    /// What is so about the machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Why the machine failed for good, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_reason: Option<ErrorReason>,
    /// Why the machine failed for good, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// What was last done about the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_operation: Option<LastOperation>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_updated: Option<String>,
    /// What the platform says about the machine, in its own form.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schemars(schema_with = "any_object")]
    pub provider_status: Value,
}

/// Where a machine is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// It is being made on the platform.
    Provisioning,
    /// It runs, and its node is not there yet.
    Provisioned,
    /// It runs, and has a node.
    Running,
    /// It is being drained and removed.
    Deleting,
    /// It will never be what it is to be.
    Failed,
}

impl Phase {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provisioning => "Provisioning",
            Self::Provisioned => "Provisioned",
            Self::Running => "Running",
            Self::Deleting => "Deleting",
            Self::Failed => "Failed",
        }
    }
}

/// Why a machine failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ErrorReason {
    /// The platform refuses what the provider spec says.
    InvalidConfiguration,
    /// The instance was there and is gone.
    InstanceMissing,
    /// Another thing of that name is in the way.
    CreateError,
    /// Written by others.
    #[serde(other)]
    Other,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// `InternalIP`, `ExternalIP`, `InternalDNS` or `Hostname`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The address.
    pub address: String,
}

/// A reference to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct NodeReference {
    /// `Node`.
    #[serde(default)]
    pub kind: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its uid.
    #[serde(default)]
    pub uid: String,
}

/// What was last done about a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastOperation {
    /// `Create`, `Delete` or `Fence`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `Processing`, `Failed` or `Successful`.
    pub state: String,
    /// How far it has come, or why it failed.
    pub description: String,
    /// Since when.
    #[schemars(extend("format" = "date-time"))]
    pub last_updated: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn any_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}
