//! From bytes to a defaulted, validated configuration.

use serde_json::Value;

use crate::{ConfigError, InstallConfig, Notice, Problem, Problems, normalize, path, schema_walk, yaml};

/// An install-config that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The configuration, with all defaults filled in.
    pub config: InstallConfig,
    /// What the user should know about it.
    pub notices: Vec<Notice>,
}

/// Fields whose rules follow from the distribution. If that is wrong, nothing can be said about them.
const BY_DISTRIBUTION: [&str; 5] =
    ["version", "networking.networkType", "pullSecret", "openshiftInstall", "binaryDigests"];

/// Reads an install-config from the contents of a file.
pub fn parse(bytes: &[u8]) -> Result<Parsed, ConfigError> {
    parse_tree(parse_yaml(bytes)?)
}

/// Reads YAML into a generic tree, without judging what is in it.
pub fn parse_yaml(bytes: &[u8]) -> Result<Value, ConfigError> {
    yaml::read(bytes)
}

/// Makes a configuration from a generic tree, as it is read from a file or put together from answers and flags.
pub fn parse_tree(mut tree: Value) -> Result<Parsed, ConfigError> {
    let (mut problems, mut notices) = normalize::normalize(&mut tree);
    let found = schema_walk::walk(&mut tree);
    problems.extend(found.problems);

    let config: InstallConfig = match serde_path_to_error::deserialize(tree) {
        Ok(config) => config,
        Err(error) => {
            problems.push(Problem::new(error.path().to_string(), format!("cannot be read: {}", error.inner())));
            return Err(ConfigError::Invalid(Problems::new(problems)));
        }
    };
    let config = config.with_defaults();
    let (judged, more) = config.judge();
    problems.extend(judged.into_iter().filter(|problem| !is_doubtful(&problem.path, &found.doubtful)));
    notices.extend(more);
    if problems.is_empty() {
        Ok(Parsed { config, notices })
    } else {
        Err(ConfigError::Invalid(Problems::new(problems)))
    }
}

fn is_doubtful(path: &str, doubtful: &[String]) -> bool {
    doubtful.iter().any(|doubtful| {
        path::is_within(path, doubtful)
            || path::is_within(doubtful, path)
            || doubtful == "distribution" && BY_DISTRIBUTION.iter().any(|field| path::is_within(path, field))
    })
}
