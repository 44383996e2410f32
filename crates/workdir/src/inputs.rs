//! What a stage was derived from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Digest;

/// Digests of everything that a stage is derived from, by the name that a user knows it by (`install-config.yaml`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<String, Digest>);

impl Inputs {
    /// Adds an input.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, digest: Digest) -> Self {
        self.0.insert(name.into(), digest);
        self
    }

    /// The names of the inputs that differ from earlier ones, or are only in one of the two.
    pub fn changed_since(&self, earlier: &Self) -> Vec<String> {
        let names: BTreeSet<_> = self.0.keys().chain(earlier.0.keys()).collect();
        names.into_iter().filter(|name| self.0.get(*name) != earlier.0.get(*name)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_changed() {
        let before = Inputs::default().with("a", Digest::of("1")).with("b", Digest::of("1")).with("c", Digest::of("1"));
        let after = Inputs::default().with("a", Digest::of("1")).with("b", Digest::of("2")).with("d", Digest::of("1"));
        assert_eq!(after.changed_since(&before), ["b", "c", "d"]);
        assert!(after.changed_since(&after).is_empty());
    }
}
