//! Conditions: what is so about an object, since when, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is so about an object, since when, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What.
    #[serde(rename = "type")]
    pub kind: String,
    /// True, False or Unknown.
    pub status: String,
    /// Since when.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Why, for programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How bad it is, where it is not true.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub severity: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Sets a condition. Its time changes only if its status does.
pub fn set_condition(conditions: &mut Vec<Condition>, kind: &str, is_so: bool, reason: &str, message: &str, now: &str) {
    let status = if is_so { "True" } else { "False" };
    let severity = if is_so { "" } else { "Warning" };
    let known = conditions.iter().position(|condition| condition.kind == kind);
    let since = known
        .map(|at| &conditions[at])
        .filter(|condition| condition.status == status)
        .map_or_else(|| now.to_owned(), |condition| condition.last_transition_time.clone());
    let condition = Condition {
        kind: kind.to_owned(),
        status: status.to_owned(),
        last_transition_time: since,
        reason: reason.to_owned(),
        severity: severity.to_owned(),
        message: message.to_owned(),
    };
    match known {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_condition_is_that_of_its_last_change() {
        let mut conditions = Vec::new();
        set_condition(&mut conditions, "Drained", false, "Waiting", "", "1");
        set_condition(&mut conditions, "Drained", false, "Budget", "a budget is in the way", "2");
        assert_eq!((conditions.len(), conditions[0].last_transition_time.as_str()), (1, "1"));
        assert_eq!(conditions[0].reason, "Budget");
        set_condition(&mut conditions, "Drained", true, "Drained", "", "3");
        assert_eq!(conditions[0].last_transition_time, "3");
    }
}
