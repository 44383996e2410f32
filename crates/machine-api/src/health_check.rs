//! `MachineHealthCheck`: when machines count as unhealthy, and what is done about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, LabelSelector};

/// When machines count as unhealthy, and what is done about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckSpec {
    /// Which machines are watched.
    pub selector: LabelSelector,
    /// A node in any of these conditions for this long is unhealthy.
    #[schemars(length(min = 1), extend("x-kubernetes-list-type" = "atomic"))]
    pub unhealthy_conditions: Vec<UnhealthyCondition>,
    /// How many of the machines, as a number or a percentage, may be unhealthy before nothing more is replaced. Without it 40 %, but
    /// one machine at least; then machines are also replaced a tenth at a time, and none while most nodes of the cluster do not
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "number_or_percentage")]
    pub max_unhealthy: Option<Value>,
    /// How long a machine may take until its node is there. 0 means for ever.
    #[serde(default = "ten_minutes")]
    #[schemars(regex(pattern = r"^0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"), extend("default" = "10m"))]
    pub node_startup_timeout: String,
    /// What another program is to do about an unhealthy machine, instead of replacing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation_template: Option<ObjectReference>,
}

/// A condition of a node that is unhealthy if it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnhealthyCondition {
    /// What: `Ready`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// How: `False` or `Unknown`.
    #[schemars(length(min = 1))]
    pub status: String,
    /// How long.
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"))]
    pub timeout: String,
}

/// A reference to an object of any kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct ObjectReference {
    /// Its API.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// What a health check sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct HealthCheckStatus {
    /// Machines that are watched.
    pub expected_machines: i32,
    /// Those that are healthy.
    pub current_healthy: i32,
    /// How many more may be replaced now.
    pub remediations_allowed: i32,
    /// What is so about the check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// How many percent of the machines may be unhealthy, where a check does not say. The existing controller takes 100 % here. But it
/// replaces machines by deleting objects, one drain after the other, and what this project does about an unhealthy machine is to
/// switch it off at once: when the API server's address fails, no kubelet reports any more, and all machines would be switched off
/// that still serve their applications.
const USUAL_PERCENT: usize = 40;
/// One of so many machines is replaced at a time, where a check does not say how many may be unhealthy.
const USUAL_PART: usize = 10;

impl HealthCheckSpec {
    /// Returns how many of so many machines may be unhealthy before nothing more is replaced.
    pub fn tolerated(&self, machines: usize) -> usize {
        let text = match &self.max_unhealthy {
            None => return (machines * USUAL_PERCENT / 100).max(1),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        match text.strip_suffix('%').map(str::parse::<usize>) {
            // Rounded down, as the existing controller does.
            Some(Ok(percent)) => machines * percent.min(100) / 100,
            _ => text.parse().unwrap_or(0),
        }
    }

    /// Returns how many of so many machines may be replaced at the same time.
    pub fn at_once(&self, machines: usize) -> usize {
        if self.max_unhealthy.is_some() { machines } else { machines.div_ceil(USUAL_PART).max(1) }
    }
}

fn ten_minutes() -> String {
    "10m".to_owned()
}

fn number_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "x-kubernetes-int-or-string": true,
        "anyOf": [{ "type": "integer" }, { "type": "string" }],
        "pattern": "^((100|[0-9]{1,2})%|[0-9]+)$",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tolerated_is_a_number_or_a_share() {
        for (given, machines, tolerated) in [
            (Value::from("40%"), 5, 2),
            (Value::from("40%"), 4, 1),
            (Value::from("100%"), 3, 3),
            (Value::from("2"), 9, 2),
            (Value::from(3), 9, 3),
            (Value::from("many"), 9, 0),
        ] {
            let spec = HealthCheckSpec { max_unhealthy: Some(given), ..HealthCheckSpec::default() };
            assert_eq!(spec.tolerated(machines), tolerated);
            assert_eq!(spec.at_once(machines), machines);
        }
    }

    #[test]
    fn a_check_that_says_nothing_is_careful() {
        let spec: HealthCheckSpec =
            serde_json::from_value(serde_json::json!({ "selector": {}, "unhealthyConditions": [] })).unwrap();
        for (machines, tolerated, at_once) in [(1, 1, 1), (3, 1, 1), (10, 4, 1), (50, 20, 5)] {
            assert_eq!((spec.tolerated(machines), spec.at_once(machines)), (tolerated, at_once), "{machines}");
        }
        assert!(spec.tolerated(3) < 3, "an outage of the API must not switch off all workers");
    }
}
