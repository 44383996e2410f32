//! Text that must not appear in logs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registry credentials. Printed as a placeholder; written out only when the install-config itself is written.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true))]
pub struct PullSecret(String);

impl PullSecret {
    /// Takes the JSON text as it is; validation judges it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the file that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PullSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PullSecret(…)")
    }
}
