//! Public DNS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::powervs::ServiceEndpoints;

/// Where the cluster's public DNS records are made. Exactly one backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dns {
    /// Any name server that takes dynamic updates (RFC 2136), for example BIND, Knot or `PowerDNS`.
    Rfc2136(Rfc2136),
    /// Amazon Route 53.
    Route53(Route53),
    /// Cloudflare.
    Cloudflare(Cloudflare),
    /// Public zones of IBM Cloud Internet Services (CIS).
    Cis(IbmDns),
    /// Private zones of IBM Cloud DNS Services, which only networks see that the zone permits.
    #[serde(rename = "dnsServices")]
    DnsServices(IbmDns),
    /// Nobody: the records are printed, and the installation waits until they resolve.
    Manual(ManualDns),
}

/// A name server that takes dynamic updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rfc2136 {
    /// The primary name server, as `host` or `host:port`.
    pub server: String,
    /// The zone that holds the records. Default: the base domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Name of the TSIG key.
    pub key_name: String,
    /// Algorithm of the TSIG key.
    #[serde(default)]
    pub key_algorithm: TsigAlgorithm,
    /// File that holds the TSIG secret in base64, relative to the install directory. The secret itself never stands in this
    /// file.
    #[schemars(length(min = 1))]
    pub key_file: String,
    /// Reverse zones on the same server, like `2.0.192.in-addr.arpa`. The addresses of the API, and those of
    /// nodes with a record of their own, get a PTR record if they lie in one of them. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverse_zones: Vec<String>,
    /// Whether every node gets a record of its own, `<node>.<metadata.name>.<baseDomain>`, once the cluster is ready. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// Time to live of the records in seconds. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

/// Algorithm of a TSIG key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TsigAlgorithm {
    /// HMAC with SHA-256.
    #[default]
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// HMAC with SHA-512.
    HmacSha512,
}

/// Amazon Route 53. Credentials come from the usual AWS environment variables and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Route53 {
    /// Id of the hosted zone. Default: the zone with the name below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
    /// Name of the hosted zone. Default: the base domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// API endpoint other than Amazon's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Url>,
    /// Whether every node gets a record of its own, `<node>.<metadata.name>.<baseDomain>`, once the cluster is ready. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// Time to live of the records in seconds. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

/// Cloudflare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cloudflare {
    /// Name of the zone. Default: the base domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// File that holds an API token which may edit the zone, relative to the install directory. The token itself never stands
    /// in this file.
    #[schemars(length(min = 1))]
    pub token_file: String,
    /// API endpoint other than Cloudflare's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Url>,
    /// Whether every node gets a record of its own, `<node>.<metadata.name>.<baseDomain>`, once the cluster is ready. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// Time to live of the records in seconds. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

/// A DNS service of IBM Cloud. The API key is where that of the platform `powervs` is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IbmDns {
    /// CRN of the service's instance. Default: that of the account which has the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Name of the zone. Default: the base domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Addresses of services other than IBM's own. Default: those of `platform.powervs.serviceEndpoints`.
    #[serde(default, skip_serializing_if = "ServiceEndpoints::is_empty")]
    pub service_endpoints: ServiceEndpoints,
    /// Whether every node gets a record of its own, `<node>.<metadata.name>.<baseDomain>`, once the cluster is ready. Default:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// Time to live of the records in seconds. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

/// Records that you make yourself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManualDns {
    /// Time to live of the records in seconds, as they are printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}
