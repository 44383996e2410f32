//! What is installed, and where it is fetched from.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Architecture;

/// Digests of downloads by file name.
pub type ArtifactDigests = IndexMap<String, String>;

/// What to install.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Kubernetes as its project releases it, set up by kubeadm.
    #[default]
    Kubernetes,
    /// Red Hat OpenShift, rendered by the release's own `openshift-install`.
    Openshift,
    /// The community distribution OKD, rendered by the release's own `openshift-install`.
    Okd,
}

/// A registry namespace and where its images are found instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageMirror {
    /// The registry or repository that image names refer to, without tag or digest, for example `registry.k8s.io`.
    pub source: String,
    /// Places that hold copies, tried in order.
    pub mirrors: Vec<String>,
}

/// Where the machines fetch the `landfall-node` program from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeAgent {
    /// URL of the program; `{arch}` in it stands for the machine's architecture (`amd64`, `arm64`, `ppc64le`).
    pub url: String,
    /// SHA-512 of the program in hexadecimal, for each architecture that the cluster uses.
    #[schemars(extend("propertyNames" = { "enum": Architecture::ALL.map(Architecture::name) }))]
    pub sha512: IndexMap<Architecture, String>,
}

/// The `openshift-install` program to use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenshiftInstall {
    /// Path of the program. Default: the one found on `PATH`. The flag `--openshift-install` goes before both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Release image to install instead of the one built into the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_image: Option<String>,
}

impl Distribution {
    /// Whether the release's own installer renders this distribution.
    pub fn is_openshift(self) -> bool {
        matches!(self, Self::Openshift | Self::Okd)
    }

    /// The name as the install-config spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Openshift => "openshift",
            Self::Okd => "okd",
        }
    }
}
