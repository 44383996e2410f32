//! Keys and certificates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys and certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Pki {
    /// Kind of all private keys.
    pub key_algorithm: KeyAlgorithm,
    /// Days for which the cluster's certificate authorities are valid.
    #[schemars(range(min = 1, max = 36500))]
    pub ca_validity_days: u32,
    /// Days for which certificates signed by them are valid. Landfall issues its own anew on each run, until something is created.
    #[schemars(range(min = 1, max = 36500))]
    pub certificate_validity_days: u32,
}

impl Default for Pki {
    fn default() -> Self {
        Self { key_algorithm: KeyAlgorithm::default(), ca_validity_days: 3650, certificate_validity_days: 365 }
    }
}

/// Kind of private keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KeyAlgorithm {
    /// Elliptic curve keys on P-256: small and made in microseconds.
    #[default]
    #[serde(rename = "ecdsa-p256")]
    EcdsaP256,
    /// RSA with 2048 bits, for clients that know nothing else.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// RSA with 3072 bits.
    #[serde(rename = "rsa-3072")]
    Rsa3072,
    /// RSA with 4096 bits.
    #[serde(rename = "rsa-4096")]
    Rsa4096,
}
