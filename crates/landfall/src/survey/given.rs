//! What was given beforehand, by flags and files.

use landfall_config::{ConfigError, Problem, parse_tree};
use serde_json::Value;

/// What is wrong with the values that were given, as far as it can be told while others are missing.
pub(super) fn problems(partial: &Value) -> Vec<Problem> {
    match parse_tree(partial.clone()) {
        Err(ConfigError::Invalid(problems)) => problems.iter().filter(|p| exists(partial, &p.path)).cloned().collect(),
        // Nothing else comes of a tree.
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Whether a path (`compute[0].replicas`) leads to something. What is missing will be asked for.
fn exists(tree: &Value, path: &str) -> bool {
    let steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty());
    let found = steps.into_iter().try_fold(tree, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    });
    found.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_values_are_found_and_missing_ones_are_not() {
        let partial = json!({
            "metadata": {"name": "Demo"},
            "compute": [{"name": "worker", "replicas": -1}],
            "plattform": {},
        });
        let mut paths: Vec<String> = problems(&partial).into_iter().map(|problem| problem.path).collect();
        paths.sort();
        assert_eq!(paths, ["compute[0].replicas", "metadata.name", "plattform"]);
        assert_eq!(problems(&json!({"metadata": {"name": "demo"}})), []);
    }
}
