//! Parts of Kubernetes' own vocabulary that the machine objects repeat.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Labels and annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Labels {
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "labels")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Which objects are meant, by their labels. All that is said must hold; an empty selector means all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "labels")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<Requirement>,
}

/// What is required of one label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// The label.
    #[schemars(length(max = 317))]
    pub key: String,
    /// How its value relates to the values.
    pub operator: Operator,
    /// The values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "values")]
    pub values: Vec<String>,
}

/// Labels are bounded, so that the API server knows what rules about them cost.
fn labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 64,
        "additionalProperties": { "type": "string", "maxLength": 63 },
    })
}

fn values(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "maxItems": 32,
        "items": { "type": "string", "maxLength": 63 },
        "x-kubernetes-list-type": "atomic",
    })
}

/// How the value of a label relates to some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Whether an object with these labels is meant.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.holds(labels))
    }

    /// Whether nothing is required.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

impl Requirement {
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => !value.is_some_and(|value| self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// As the query parameter of the API has it, for autoscalers.
impl std::fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.match_expressions.iter().map(|Requirement { key, operator, values }| match operator {
            Operator::In => format!("{key} in ({})", values.join(",")),
            Operator::NotIn => format!("{key} notin ({})", values.join(",")),
            Operator::Exists => key.clone(),
            Operator::DoesNotExist => format!("!{key}"),
        });
        f.write_str(&labels.chain(expressions).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_means_what_kubernetes_means() {
        let labels: BTreeMap<_, _> = [("a".to_owned(), "1".to_owned())].into();
        let selector = |expressions: &[(&str, Operator, &[&str])]| LabelSelector {
            match_expressions: expressions
                .iter()
                .map(|&(key, operator, values)| Requirement {
                    key: key.to_owned(),
                    operator,
                    values: values.iter().map(|&value| value.to_owned()).collect(),
                })
                .collect(),
            ..LabelSelector::default()
        };
        for (expression, expected, text) in [
            (("a", Operator::In, &["1", "2"][..]), true, "a in (1,2)"),
            (("a", Operator::NotIn, &["1"]), false, "a notin (1)"),
            (("b", Operator::NotIn, &["1"]), true, "b notin (1)"),
            (("b", Operator::Exists, &[]), false, "b"),
            (("b", Operator::DoesNotExist, &[]), true, "!b"),
        ] {
            let selector = selector(&[expression]);
            assert_eq!((selector.matches(&labels), selector.to_string().as_str()), (expected, text));
        }
        assert!(LabelSelector::default().matches(&labels));
    }
}
