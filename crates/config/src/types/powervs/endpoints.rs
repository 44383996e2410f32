//! Where the services of IBM Cloud are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// A service of IBM Cloud. The names are those of the reference installer; `TransitGateway` is one that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Service {
    /// Public DNS zones (Internet Services).
    #[serde(rename = "CIS")]
    Cis,
    /// Object storage.
    #[serde(rename = "COS")]
    Cos,
    /// Private DNS zones.
    #[serde(rename = "DNSServices")]
    DnsServices,
    /// Finds what carries a tag, in all services.
    GlobalSearch,
    /// Tags on whatever other services made.
    GlobalTagging,
    /// Who is who.
    #[serde(rename = "IAM")]
    Iam,
    /// Power Virtual Server.
    Power,
    /// Workspaces and other instances of services.
    ResourceController,
    /// Resource groups.
    ResourceManager,
    /// What joins networks.
    TransitGateway,
    /// Virtual private clouds, with their load balancers.
    #[serde(rename = "VPC")]
    Vpc,
}

impl Service {
    /// All services.
    pub const ALL: [Self; 11] = [
        Self::Cis,
        Self::Cos,
        Self::DnsServices,
        Self::GlobalSearch,
        Self::GlobalTagging,
        Self::Iam,
        Self::Power,
        Self::ResourceController,
        Self::ResourceManager,
        Self::TransitGateway,
        Self::Vpc,
    ];

    /// Its name, as an install-config spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cis => "CIS",
            Self::Cos => "COS",
            Self::DnsServices => "DNSServices",
            Self::GlobalSearch => "GlobalSearch",
            Self::GlobalTagging => "GlobalTagging",
            Self::Iam => "IAM",
            Self::Power => "Power",
            Self::ResourceController => "ResourceController",
            Self::ResourceManager => "ResourceManager",
            Self::TransitGateway => "TransitGateway",
            Self::Vpc => "VPC",
        }
    }
}

/// Where one service is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceEndpoint {
    /// Which service.
    pub name: Service,
    /// Where it is: https, and the path that everything is below, without the version of the API. Plain http only on this computer.
    pub url: Url,
}

/// Where services are that are not where IBM has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ServiceEndpoints(pub Vec<ServiceEndpoint>);

impl ServiceEndpoints {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a service is, if something is said about it.
    pub fn get(&self, service: Service) -> Option<&Url> {
        self.0.iter().find(|endpoint| endpoint.name == service).map(|endpoint| &endpoint.url)
    }

    /// These, and others for services that these say nothing about.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        let further = others.0.iter().filter(|other| self.get(other.name).is_none());
        Self(self.0.iter().chain(further).cloned().collect())
    }
}
