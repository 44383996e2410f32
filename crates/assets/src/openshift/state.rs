//! The file in which `openshift-install` keeps everything it has made, keys and passwords included.
//!
//! It is one JSON object: an asset's Go type is the key, its fields are the value. Landfall keeps the file as it is, reads
//! three entries of it and adds one.

use landfall_platform::InfraId;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Error;

/// The file's name in the program's directory.
pub(super) const FILE: &str = ".openshift_install_state.json";

const CLUSTER_ID: &str = "*installconfig.ClusterID";
const ROOT_CA: &str = "*tls.RootCA";
const CONFIG_SERVER: &str = "*tls.MCSCertKey";
/// Landfall's own entry: which version of the program wrote the others. The program keeps entries that it does not know.
const WRITTEN_BY: &str = "landfall.openshiftInstallVersion";

/// A state file that the program wrote.
pub(super) struct State(Map<String, Value>);

/// What identifies a cluster.
#[derive(Deserialize)]
struct ClusterId {
    #[serde(rename = "UUID")]
    uuid: Uuid,
    #[serde(rename = "InfraID")]
    infra_id: InfraId,
}

/// A certificate and its key, both as base64 of PEM.
#[derive(Deserialize)]
pub(super) struct CertificateAndKey {
    #[serde(rename = "CertRaw")]
    pub(super) certificate: String,
    #[serde(rename = "KeyRaw")]
    pub(super) key: String,
}

impl State {
    pub(super) fn parse(contents: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(contents).map(Self).map_err(|error| unusable(error.to_string()))
    }

    /// A state that knows nothing but which cluster this is.
    ///
    /// The program mints a new infra id whenever the install-config has changed, and objects on the platform would not be
    /// found again. Given this state and no install-config file it takes the id from here and renders all the rest anew.
    pub(super) fn seed(&self) -> Result<Self, Error> {
        let id = self.0.get(CLUSTER_ID).ok_or_else(|| missing(CLUSTER_ID))?;
        Ok(Self(Map::from_iter([(CLUSTER_ID.to_owned(), id.clone())])))
    }

    /// The infra id that the program minted.
    pub(super) fn infra_id(&self) -> Result<InfraId, Error> {
        Ok(self.entry::<ClusterId>(CLUSTER_ID)?.infra_id)
    }

    /// The unique id that the program made.
    pub(super) fn cluster_id(&self) -> Result<Uuid, Error> {
        Ok(self.entry::<ClusterId>(CLUSTER_ID)?.uuid)
    }

    /// The authority that signs for the machine config server.
    pub(super) fn root_ca(&self) -> Result<CertificateAndKey, Error> {
        self.entry(ROOT_CA)
    }

    /// What the machine config server identifies itself with.
    pub(super) fn config_server(&self) -> Result<CertificateAndKey, Error> {
        self.entry(CONFIG_SERVER)
    }

    /// Notes which version of the program wrote the state.
    pub(super) fn set_written_by(&mut self, version: &str) {
        self.0.insert(WRITTEN_BY.to_owned(), version.into());
    }

    /// Which version of the program wrote the state, if that was noted.
    pub(super) fn written_by(&self) -> Option<&str> {
        self.0.get(WRITTEN_BY)?.as_str()
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).expect("what was read as JSON can be written as JSON")
    }

    fn entry<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        let value = self.0.get(key).ok_or_else(|| missing(key))?;
        T::deserialize(value).map_err(|error| unusable(format!("its entry {key} is not understood: {error}")))
    }
}

fn missing(key: &str) -> Error {
    unusable(format!("it has no entry {key}"))
}

fn unusable(reason: String) -> Error {
    Error::Unusable { path: format!("{FILE} of openshift-install"), reason }
}
