//! Which objects of a kind a step means: the one whose id was recorded, and those that have its name and are not known to be foreign.

use landfall_platform::{Context, Outputs, StepError};

use crate::{Error, Site, client::Resource};

/// What is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own<'a> {
    /// A name of the cluster; the id of something that was found by its tag and lost its name.
    name: &'a str,
    recorded: Option<String>,
    /// The id of what has the name and is not the cluster's.
    foreign: Option<String>,
}

impl<'a> Own<'a> {
    /// What a step means, with what was recorded when its object was made.
    pub(crate) fn new(name: &'a str, outputs: Option<&Outputs>) -> Self {
        let known = |key: &str| outputs.and_then(|outputs| outputs.get(key));
        Self { name, recorded: known("id"), foreign: known("foreign") }
    }

    /// The id that was recorded.
    pub(crate) fn recorded(&self) -> Option<&str> {
        self.recorded.as_deref()
    }

    /// Whether an object is meant.
    pub(crate) fn is(&self, id: &str, name: &str) -> bool {
        let is_named = name == self.name && self.foreign.as_deref() != Some(id);
        is_named || id == self.name || self.recorded() == Some(id)
    }
}

/// The cluster's object of a kind that takes tags only after it was made: the one whose id was recorded, or the one with the name
/// that carries the tag or that an earlier attempt asked for while the name was free. Another with the name is an error.
///
/// Returns nothing if the object is to be made; that it is going to be asked for is then written down.
pub(crate) async fn adopt<T: Resource>(site: &Site, name: &str, context: &Context) -> Result<Option<T>, StepError> {
    if let Some(id) = context.recorded::<String>("id")
        && let Some(found) = site.client.with_id::<T>(&id).await?
    {
        return Ok(Some(found));
    }
    let named = site.client.all::<T>().await?.into_iter().find(|object| object.name() == name);
    let Some(found) = named else {
        context.note(Outputs::default().with("asked", true)).await?;
        return Ok(None);
    };
    let was_asked_for = context.recorded::<bool>("asked") == Some(true);
    if was_asked_for || site.client.has_tag(found.crn(), &site.mark.tag()).await? {
        return Ok(Some(found));
    }
    // A removal must know that this one stays.
    context.note(Outputs::default().with("foreign", found.id())).await?;
    Err(Error::Foreign { object: format!("{} {name}", T::TITLE) }.into())
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
        let foreign = Outputs::default().with("foreign", "r006-4");
        let own = Own::new("a-bcdfg-vpc", Some(&foreign));
        assert!(!own.is("r006-4", "a-bcdfg-vpc") && own.is("r006-5", "a-bcdfg-vpc"));
    }
}
