//! What tells the virtual addresses of clusters on one segment apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// VRRP router ids, 1 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouterIds {
    /// Of the API's virtual addresses.
    #[schemars(range(min = 1))]
    pub api: u8,
    /// Of the ingress' virtual addresses.
    #[schemars(range(min = 1))]
    pub ingress: u8,
}
