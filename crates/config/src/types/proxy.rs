//! The HTTP proxy of the machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// HTTP proxy that the machines use to reach the outside. At least one of the two URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proxy {
    /// Proxy for plain HTTP, an `http://` URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_proxy: Option<String>,
    /// Proxy for HTTPS, an `http://` or `https://` URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub https_proxy: Option<String>,
    /// Names, domains (with a leading dot), addresses and networks that are reached directly, separated by commas. The
    /// cluster's own names and networks are always added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<String>,
}
