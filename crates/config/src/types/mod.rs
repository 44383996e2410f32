//! The types of `install-config.yaml`, one file per section.
//!
//! Doc comments on fields are what `landfall explain` prints, so they are written for the person who fills the file in.

mod dns;
mod endpoint;
mod format;
mod load_balancer;
mod machine_management;
mod machine_pool;
mod networking;
pub mod ovirt;
pub mod packet;
mod pki;
mod platform;
pub mod powervm;
pub mod powervs;
mod proxy;
mod router_ids;
mod secret;
mod software;
mod timeouts;

pub use dns::{Cloudflare, Dns, IbmDns, ManualDns, Rfc2136, Route53, TsigAlgorithm};
pub use endpoint::EndpointHolder;
pub use load_balancer::LoadBalancer;
pub use machine_management::MachineManagement;
pub use machine_pool::{Architecture, MachinePool, PoolPlatform, Role};
pub use networking::{ClusterNetwork, MachineNetwork, NetworkType, Networking};
pub use pki::{KeyAlgorithm, Pki};
pub use platform::Platform;
pub use proxy::Proxy;
pub use router_ids::RouterIds;
pub use secret::PullSecret;
pub use software::{ArtifactDigests, Distribution, ImageMirror, NodeAgent, OpenshiftInstall};
pub use timeouts::{Span, Timeouts};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// Everything Landfall needs to know to install a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallConfig {
    /// Version of this file's format. Always `v1`.
    pub api_version: ApiVersion,

    /// Names the cluster.
    pub metadata: Metadata,

    /// Domain under which the cluster's own domain lies: the API is at `api.<metadata.name>.<baseDomain>`, applications
    /// are below `apps.<metadata.name>.<baseDomain>`.
    pub base_domain: String,

    /// What to install.
    #[serde(default)]
    pub distribution: Distribution,

    /// Version of the distribution, for example `1.36.4`. Default: the newest Kubernetes that this Landfall knows; for
    /// OpenShift and OKD the version of the `openshift-install` that is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,

    /// SSH public keys, one per line, that may log in to the machines as user `core`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_key: Option<String>,

    /// Credentials for pulling images, as the JSON text that registries hand out. Needed for OpenShift and OKD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_secret: Option<PullSecret>,

    /// Address ranges of machines, pods and services.
    #[serde(default)]
    pub networking: Networking,

    /// The machines that run the control plane.
    #[serde(default = "MachinePool::control_plane")]
    pub control_plane: MachinePool,

    /// The machines that run workloads.
    #[serde(default = "MachinePool::compute")]
    pub compute: Vec<MachinePool>,

    /// Where the cluster runs. Exactly one platform.
    pub platform: Platform,

    /// Who balances the API and ingress traffic.
    #[serde(default)]
    pub load_balancer: LoadBalancer,

    /// Who looks after the machines once the cluster runs. Default: `managed`; with a kit of `landfall upi create`,
    /// `userManaged`, because whoever makes machines by hand does not expect others to start them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineManagement>,

    /// Where the cluster's public DNS records are made. Default: nowhere, you make them yourself beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,

    /// HTTP proxy that the machines use to reach the outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,

    /// CA certificates in PEM form that the machines trust in addition to those of their operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_trust_bundle: Option<String>,

    /// Registries that hold copies of images, for sites without access to the originals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_mirrors: Vec<ImageMirror>,

    /// URL below which the machines find Kubernetes, containerd, runc and CNI plug-ins, in the directory layout of the
    /// upstream download sites. Default: those sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_mirror: Option<Url>,

    /// Digests (`sha512-…` or `sha256-…`) of downloads that this Landfall does not know by itself, by file name. Needed
    /// for versions of Kubernetes other than the built-in ones.
    #[serde(default, skip_serializing_if = "ArtifactDigests::is_empty")]
    pub binary_digests: ArtifactDigests,

    /// Where the machines fetch the `landfall-node` program from. Default: it is part of their operating system image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_agent: Option<NodeAgent>,

    /// The `openshift-install` program that renders what is bound to a release. Only for OpenShift and OKD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openshift_install: Option<OpenshiftInstall>,

    /// Keys and certificates.
    #[serde(default)]
    pub pki: Pki,

    /// How long each phase of the installation may take.
    #[serde(default)]
    pub timeouts: Timeouts,

    /// Labels that every machine object and, where the platform can hold them, every created object carries in addition to
    /// the cluster's mark.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub labels: IndexMap<String, String>,
}

impl InstallConfig {
    /// The cluster's own domain, without a trailing dot.
    pub fn cluster_domain(&self) -> String {
        format!("{}.{}", self.metadata.name, self.base_domain.trim_end_matches('.'))
    }
}

/// Version of the file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The only version so far.
    #[default]
    #[serde(rename = "v1")]
    V1,
}

/// Names the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The cluster's name: one DNS label, at most 54 characters, lower case letters, digits and hyphens.
    pub name: String,
}
