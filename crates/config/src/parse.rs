//! From bytes to a defaulted, validated configuration.

use serde_json::Value;

use crate::{
    ConfigError, InstallConfig, Notice, Problem, Problems, normalize, path,
    report::Report,
    schema_walk::{self, Doubtful},
    yaml,
};

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
    let mut report = Report::default();
    normalize::normalize(&mut tree, &mut report);
    let doubtful = schema_walk::walk(&mut tree, &mut report);

    let config = match serde_path_to_error::deserialize::<_, InstallConfig>(tree) {
        Ok(config) => Some(config.with_defaults()),
        Err(error) => {
            report.problem(Problem::new(error.path().to_string(), format!("cannot be read: {}", error.inner())));
            None
        }
    };
    if let Some(config) = &config {
        let mut judged = Report::default();
        config.judge(&mut judged);
        report.extend(judged, |problem| !is_consequence(&problem.path, &doubtful));
    }
    let (problems, total, notices) = report.into_parts();
    match config {
        Some(config) if total == 0 => Ok(Parsed { config, notices }),
        _ => Err(ConfigError::Invalid(Problems::new(problems, total))),
    }
}

/// Whether what is found at a path may come from the repair of something else.
fn is_consequence(path: &str, doubtful: &Doubtful) -> bool {
    doubtful.concerns(path)
        || doubtful.contains("distribution") && BY_DISTRIBUTION.iter().any(|field| path::is_within(path, field))
}
