//! Who balances the API and ingress traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who balances the API and ingress traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LoadBalancer {
    /// Landfall: on oVirt and PowerVM keepalived and haproxy on the cluster's own machines, elsewhere the platform's means.
    #[default]
    Managed,
    /// You: an existing load balancer holds the addresses, and Landfall configures none on the machines.
    UserManaged,
}
