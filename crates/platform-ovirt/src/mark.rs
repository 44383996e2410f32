//! The mark that every object of a cluster carries from the moment it is created.

use landfall_platform::InfraId;

/// The mark of one cluster.
///
/// It stands in the description of an object, which the engine stores in the same call that creates the object; a tag, which
/// the engine can attach only afterwards, would leave a moment without a mark. The brackets make it exact: the mark of
/// `a-bcdfg` is not found in that of `ba-bcdfg` or `a-bcdfg-hjklm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(InfraId);

impl Mark {
    /// The mark of a cluster.
    pub fn new(infra_id: InfraId) -> Self {
        Self(infra_id)
    }

    /// Whose mark it is.
    pub fn infra_id(&self) -> &InfraId {
        &self.0
    }

    /// A description that carries the mark, at its end: what a user has written before it can never be taken for one.
    pub fn description(&self, text: &str) -> String {
        format!("{text} [landfall:{}]", self.0)
    }

    /// Returns a pattern of the engine's search that finds all descriptions with the mark, and perhaps others.
    pub fn pattern(&self) -> String {
        format!("\"*[landfall:{}]*\"", self.0)
    }

    /// Whether a description carries the mark.
    pub fn is_on(&self, description: &str) -> bool {
        description.trim_end().ends_with(&format!("[landfall:{}]", self.0))
    }

    /// The name of an object of the cluster.
    pub fn name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_exact() {
        let mark = |id: &str| Mark::new(id.parse().unwrap());
        let description = mark("a-bcdfg").description("machine");
        assert!(mark("a-bcdfg").is_on(&description));
        for other in ["ba-bcdfg", "a-bcdf", "a-bcdfg-hjklm", "a"] {
            assert!(!mark(other).is_on(&description), "{other}");
            assert!(!mark(other).is_on(&mark("a-bcdfg").description(&mark(other).description("quoted"))), "{other}");
            assert!(!mark("a-bcdfg").is_on(&mark(other).description("machine")), "{other}");
        }
    }
}
