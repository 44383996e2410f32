//! The mark that every object of a cluster carries from the moment it is created: a tag.

use landfall_platform::InfraId;

/// The mark of one cluster. Tags are compared as a whole, so that of `a-bcdfg` is never taken for that of `ba-bcdfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(InfraId);

const NAME: &str = "landfall-name:";

impl Mark {
    /// The mark of a cluster.
    pub fn new(infra_id: InfraId) -> Self {
        Self(infra_id)
    }

    /// Whose mark it is.
    pub fn infra_id(&self) -> &InfraId {
        &self.0
    }

    /// The tag itself.
    pub fn tag(&self) -> String {
        format!("landfall:{}", self.0)
    }

    /// Whether tags carry the mark.
    pub fn is_on(&self, tags: &[String]) -> bool {
        tags.contains(&self.tag())
    }

    /// The name of an object of the cluster.
    pub fn name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.0)
    }

    /// All tags of an object that a plan knows under a name, with those that the user wants.
    pub fn tags(&self, name: &str, wanted: &[String]) -> Vec<String> {
        [self.tag(), format!("{NAME}{name}")].into_iter().chain(wanted.iter().cloned()).collect()
    }

    /// The name under which a plan knows an object with these tags.
    pub fn name_in(tags: &[String]) -> Option<&str> {
        tags.iter().find_map(|tag| tag.strip_prefix(NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_exact() {
        let mark = |id: &str| Mark::new(id.parse().unwrap());
        let tags = mark("a-bcdfg").tags("api", &["blue".to_owned()]);
        assert!(mark("a-bcdfg").is_on(&tags));
        assert_eq!((Mark::name_in(&tags), tags.len()), (Some("api"), 3));
        for other in ["ba-bcdfg", "a-bcdf", "a-bcdfg-hjklm"] {
            assert!(!mark(other).is_on(&tags), "{other}");
        }
    }
}
