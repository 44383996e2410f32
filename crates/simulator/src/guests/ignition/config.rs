//! The parts of an Ignition config that a guest acts upon.

use serde::Deserialize;

use super::IgnitionError;

/// The newest spec that is read: 3.3.
const NEWEST_MINOR: u64 = 3;

/// An Ignition config.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Config {
    pub(super) ignition: Ignition,
    #[serde(default)]
    pub(super) storage: Storage,
    #[serde(default)]
    pub(super) systemd: Systemd,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Ignition {
    pub(super) version: String,
    #[serde(default)]
    pub(super) config: References,
    #[serde(default)]
    pub(super) security: Security,
    #[serde(default)]
    pub(super) timeouts: Timeouts,
}

/// Other configs that belong to this one.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct References {
    #[serde(default)]
    pub(super) merge: Vec<Resource>,
    #[serde(default)]
    pub(super) replace: Resource,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Security {
    #[serde(default)]
    pub(super) tls: TlsTrust,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TlsTrust {
    #[serde(default)]
    pub(super) certificate_authorities: Vec<Resource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timeouts {
    /// Seconds after which a fetch is given up; for ever if none is given.
    pub(super) http_total: Option<u64>,
}

/// Something to be fetched, or given inline as a data URL.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    pub(super) source: Option<String>,
    pub(super) compression: Option<String>,
    #[serde(default)]
    pub(super) http_headers: Vec<Header>,
    #[serde(default)]
    pub(super) verification: Verification,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Verification {
    pub(super) hash: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Storage {
    #[serde(default)]
    pub(super) files: Vec<File>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) contents: Option<Resource>,
    #[serde(default)]
    pub(super) append: Vec<Resource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Systemd {
    #[serde(default)]
    pub(super) units: Vec<Unit>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::guests) struct Unit {
    pub(in crate::guests) name: String,
    pub(in crate::guests) contents: Option<String>,
    pub(in crate::guests) enabled: Option<bool>,
    pub(in crate::guests) mask: Option<bool>,
    #[serde(default)]
    pub(in crate::guests) dropins: Vec<Dropin>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::guests) struct Dropin {
    pub(in crate::guests) name: String,
    pub(in crate::guests) contents: Option<String>,
}

impl Config {
    /// Reads a config and refuses what this Ignition would refuse.
    pub(super) fn parse(text: &str) -> Result<Self, IgnitionError> {
        if text.trim_start().starts_with("#cloud-config") || text.trim_start().starts_with("#!") {
            return Err(IgnitionError::CloudInit);
        }
        let config: Self = serde_json::from_str(text).map_err(IgnitionError::Json)?;
        let version = &config.ignition.version;
        let numbers: Option<Vec<u64>> = version.split('.').map(|number| number.parse().ok()).collect();
        match numbers.as_deref() {
            Some([3, minor, 0]) if *minor <= NEWEST_MINOR => {}
            _ => return Err(IgnitionError::Version { version: version.clone() }),
        }
        for file in &config.storage.files {
            if !file.path.starts_with('/') {
                return Err(IgnitionError::Path { path: file.path.clone() });
            }
        }
        Ok(config)
    }
}
