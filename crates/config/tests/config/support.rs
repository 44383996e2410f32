//! A good configuration to start from, and short ways to ask what is wrong with a changed one.

use landfall_config::{ConfigError, InstallConfig, Notice, Parsed, Problem, parse_tree, parse_yaml, tree};
use serde_json::Value;

/// The example that the documentation shows.
pub(crate) const EXAMPLE: &str = include_str!("../../../../examples/ovirt/install-config.yaml");

pub(crate) fn example() -> Value {
    let text = EXAMPLE.replace("127.66.0.0/16", "192.0.2.0/24").replace("127.66.0.", "192.0.2.");
    parse_yaml(text.as_bytes()).unwrap()
}

/// The example after some assignments as of `--set`.
pub(crate) fn changed(assignments: &[&str]) -> Value {
    let mut config = example();
    for assignment in assignments {
        tree::set(&mut config, assignment).unwrap_or_else(|error| panic!("{assignment}: {error}"));
    }
    config
}

pub(crate) fn accepted(assignments: &[&str]) -> Parsed {
    parse_tree(changed(assignments)).unwrap_or_else(|error| panic!("{assignments:?}: {error}"))
}

pub(crate) fn config(assignments: &[&str]) -> InstallConfig {
    accepted(assignments).config
}

pub(crate) fn notices(assignments: &[&str]) -> Vec<Notice> {
    accepted(assignments).notices
}

pub(crate) fn problems(assignments: &[&str]) -> Vec<Problem> {
    problems_of(changed(assignments))
}

pub(crate) fn problems_of(config: Value) -> Vec<Problem> {
    match parse_tree(config) {
        Ok(_) => Vec::new(),
        Err(ConfigError::Invalid(problems)) => problems.iter().cloned().collect(),
        Err(other) => panic!("{other}"),
    }
}

/// Exactly one problem, at a path, whose text has a fragment in it.
pub(crate) fn assert_problem(assignments: &[&str], path: &str, fragment: &str) {
    let problems = problems(assignments);
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        matches!(problems.as_slice(), [only] if only.path == path) && texts[0].contains(fragment),
        "{assignments:?}: wanted one problem at {path} with '{fragment}', got {texts:#?}"
    );
}

/// A notice at a path, whose text has a fragment in it.
pub(crate) fn assert_notice(assignments: &[&str], path: &str, fragment: &str) {
    let notices = notices(assignments);
    assert!(
        notices.iter().any(|notice| notice.path == path && notice.message.contains(fragment)),
        "{assignments:?}: wanted a notice at {path} with '{fragment}', got {notices:#?}"
    );
}
