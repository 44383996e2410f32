//! From bytes to a defaulted, validated configuration.

use serde_json::Value;

use crate::{ConfigError, InstallConfig, Notice, Problem, Problems};

/// The largest file that is read. A real one is a few KiB; a trust bundle of all public CAs is 250 KiB.
pub const MAX_SIZE: usize = 1 << 20;

/// An install-config that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The configuration, with all defaults filled in.
    pub config: InstallConfig,
    /// What the user should know about it.
    pub notices: Vec<Notice>,
}

/// Reads an install-config from the contents of a file.
pub fn parse(bytes: &[u8]) -> Result<Parsed, ConfigError> {
    parse_tree(parse_yaml(bytes)?)
}

/// Reads YAML into a generic tree, without judging what is in it.
pub fn parse_yaml(bytes: &[u8]) -> Result<Value, ConfigError> {
    if bytes.len() > MAX_SIZE {
        return Err(ConfigError::TooLarge { size: bytes.len(), limit: MAX_SIZE });
    }
    serde_saphyr::from_slice(bytes).map_err(|error| {
        let location = error.location();
        ConfigError::NotYaml {
            line: location.map_or(0, |l| l.line()),
            column: location.map_or(0, |l| l.column()),
            message: error.without_snippet().to_string(),
        }
    })
}

/// Makes a configuration from a generic tree, as it is read from a file or put together from answers and flags.
pub fn parse_tree(tree: Value) -> Result<Parsed, ConfigError> {
    let config: InstallConfig = serde_path_to_error::deserialize(tree).map_err(|error| {
        let problem = Problem::new(error.path().to_string(), format!("cannot be read: {}", error.inner()));
        ConfigError::Invalid(Problems::from_vec(vec![problem]).expect("one problem"))
    })?;
    let config = config.with_defaults();
    let (problems, notices) = config.validate();
    match Problems::from_vec(problems) {
        Some(problems) => Err(ConfigError::Invalid(problems)),
        None => Ok(Parsed { config, notices }),
    }
}
