//! Which objects of a kind a step means: the one whose id is in the journal, those that carry the cluster's tag with its name, and the one
//! with its name that an earlier attempt asked for. A name alone says nothing.

use landfall_platform::{Context, Outputs, StepError};

use crate::{Error, Site, client::Resource};

/// Objects that a step means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own<'a> {
    /// A name of the cluster; the id of something that was found by its mark.
    name: &'a str,
    recorded: Option<String>,
    /// True if the journal says that the object was asked for while its name was free, and has no answer.
    asked: bool,
}

impl<'a> Own<'a> {
    /// What a step means, with what was recorded when its object was made.
    pub(crate) fn new(name: &'a str, outputs: Option<&Outputs>) -> Self {
        let recorded = outputs.and_then(|outputs| outputs.get("id")).filter(|id: &String| !id.is_empty());
        Self { name, recorded, asked: was_asked_for(outputs) }
    }

    /// The id that was recorded.
    pub(crate) fn recorded(&self) -> Option<&str> {
        self.recorded.as_deref()
    }

    /// Returns true if an object is meant, whatever its tag is.
    pub(crate) fn is(&self, id: &str, name: &str) -> bool {
        match self.recorded() {
            Some(recorded) => recorded == id,
            None => id == self.name || self.asked && name == self.name,
        }
    }

    /// Returns true if an object is meant in case that it carries the cluster's tag.
    fn is_if_tagged(&self, name: &str) -> bool {
        name == self.name
    }
}

/// Returns true if the journal says that an object was asked for.
pub(crate) fn was_asked_for(outputs: Option<&Outputs>) -> bool {
    outputs.and_then(|outputs| outputs.get("asked")) == Some(true)
}

/// What is written down before an object is asked for whose name is free.
pub(crate) fn asked() -> Outputs {
    Outputs::default().with("asked", true)
}

/// Returns all objects of a kind that are meant, also one whose id was recorded and which no list shows.
pub(crate) async fn owned<T: Resource>(site: &Site, own: &Own<'_>) -> Result<Vec<T>, Error> {
    let mut found: Vec<T> = Vec::new();
    for object in site.client.all::<T>().await? {
        if own.is(object.id(), object.name())
            || own.is_if_tagged(object.name()) && site.carries_tag(object.crn()).await?
        {
            found.push(object);
        }
    }
    if let Some(id) = own.recorded().filter(|id| found.iter().all(|object| object.id() != *id)) {
        found.extend(site.client.with_id(id).await?);
    }
    Ok(found)
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
        context.note(asked()).await?;
        return Ok(None);
    };
    let was_asked_for = context.recorded::<bool>("asked") == Some(true);
    if was_asked_for || site.carries_tag(found.crn()).await? {
        return Ok(Some(found));
    }
    Err(Error::Foreign { object: format!("{} {name}", T::TITLE) }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_known_by_its_recorded_id_or_as_what_was_asked_for() {
        let outputs = Outputs::default().with("id", "r006-1");
        let own = Own::new("a-bcdfg-vpc", Some(&outputs));
        assert!(own.is("r006-1", "renamed"));
        assert!(!own.is("r006-2", "a-bcdfg-vpc"), "another has got the name");
        assert!(!own.is("r006-10", "a-bcdfg-vpc-2"));
        assert!(Own::new("r006-3", None).is("r006-3", "renamed"));
        assert!(!Own::new("a-bcdfg-vpc", None).is("r006-4", "a-bcdfg-vpc"), "a name alone says nothing");
        let asked = asked();
        let own = Own::new("a-bcdfg-vpc", Some(&asked));
        assert!(own.is("r006-5", "a-bcdfg-vpc") && !own.is("r006-5", "ba-bcdfg-vpc"));
    }
}
