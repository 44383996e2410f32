//! Which objects of a kind a step means when it removes: those with its name, and the one whose id was recorded.

use landfall_platform::Outputs;

/// What is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own<'a> {
    /// A name of the cluster; the id of something that was found by its tag and lost its name.
    name: &'a str,
    recorded: Option<String>,
}

impl<'a> Own<'a> {
    /// What a step means, with what was recorded when its object was made.
    pub(crate) fn new(name: &'a str, outputs: Option<&Outputs>) -> Self {
        Self { name, recorded: outputs.and_then(|outputs| outputs.get("id")) }
    }

    /// The id that was recorded.
    pub(crate) fn recorded(&self) -> Option<&str> {
        self.recorded.as_deref()
    }

    /// Whether an object is meant.
    pub(crate) fn is(&self, id: &str, name: &str) -> bool {
        name == self.name || id == self.name || self.recorded() == Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_compared_as_a_whole() {
        let outputs = Outputs::default().with("id", "r006-1");
        let own = Own::new("a-bcdfg-vpc", Some(&outputs));
        assert!(own.is("r006-2", "a-bcdfg-vpc") && own.is("r006-1", "renamed"));
        assert!(!own.is("r006-2", "ba-bcdfg-vpc") && !own.is("r006-10", "a-bcdfg-vpc-2"));
        assert!(Own::new("r006-3", None).is("r006-3", "renamed"));
    }
}
