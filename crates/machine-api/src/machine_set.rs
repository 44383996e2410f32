//! `MachineSet`: a number of equal machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Condition, LabelSelector, Labels, MachineSpec};

/// What a set of machines is to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.selector.matchLabels) || has(self.template.metadata) && has(self.template.metadata.labels) && self.selector.matchLabels.all(key, key in self.template.metadata.labels && self.template.metadata.labels[key] == self.selector.matchLabels[key])",
        "message": "the template's labels do not match the selector: machines that the set makes would not belong to it",
    },
    {
        "rule": "has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0 || has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0",
        "message": "an empty selector would take every machine of the namespace",
    },
    { "rule": "self.selector == oldSelf.selector", "message": "the selector stays as it is: make another set" },
]))]
pub struct MachineSetSpec {
    /// How many machines there are to be.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100_000), extend("default" = 1))]
    pub replicas: i32,
    /// For how long a node must have been ready to count as available.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub min_ready_seconds: i32,
    /// Which machines go first when there are too many. Default is Random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
    /// Which machines belong to the set. The template's labels must match it.
    pub selector: LabelSelector,
    /// What each machine is made from.
    pub template: Template,
}

fn one() -> i32 {
    1
}

/// Which machines go first when there are too many. Machines that are annotated to go, that are being deleted, that failed or that have
/// no node go before all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeletePolicy {
    /// Any.
    #[default]
    Random,
    /// The youngest.
    Newest,
    /// The oldest.
    Oldest,
}

/// What machines are made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// Labels and annotations of the machines.
    #[serde(default)]
    pub metadata: Labels,
    /// The spec of the machines.
    #[serde(default)]
    pub spec: MachineSpec,
}

/// What a set of machines is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineSetStatus {
    /// Machines that exist.
    pub replicas: i32,
    /// Those that carry all labels of the template.
    pub fully_labeled_replicas: i32,
    /// Those whose node is ready.
    pub ready_replicas: i32,
    /// Those whose node has been ready for the minimum time.
    pub available_replicas: i32,
    /// The selector as text, for autoscalers.
    pub label_selector: String,
    /// The generation that this was said about.
    pub observed_generation: i64,
    /// What is so about the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Why no machines can be made, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_reason: Option<String>,
    /// Why no machines can be made, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}
