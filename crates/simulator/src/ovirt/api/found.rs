//! What an address leads to.

use super::kind::{Kind, Subject};
use super::view::{Rendered, View};
use crate::ovirt::fault::Fault;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// A resource that can be written. The element is that of a reference which is replaced by what it refers to; without
/// one the resource uses its own.
pub(crate) struct Found<'s>(Box<Render<'s>>);

type Render<'s> = dyn Fn(&mut View, Option<&'static str>) -> Rendered + 's;

impl<'s> Found<'s> {
    /// A single thing, whose own element is `element`.
    pub(crate) fn item(element: &'static str, render: impl Fn(&mut View, &'static str) + 's) -> Self {
        Self(Box::new(move |view, given| {
            render(view, given.unwrap_or(element));
            Ok(())
        }))
    }

    /// An entity.
    pub(crate) fn subject(subject: Subject<'s>) -> Self {
        Self::item(subject.kind().singular(), move |view, element| subject.render(view, element))
    }

    /// A collection: `items` writes each item.
    pub(crate) fn list(plural: &'static str, singular: &'static str, items: impl Fn(&mut View) + 's) -> Self {
        Self(Box::new(move |view, given| {
            view.out.open_list(given.unwrap_or(plural), singular);
            items(view);
            view.close();
            Ok(())
        }))
    }

    /// A collection of entities, of which the caller sees what it may and as many as it asks for.
    pub(crate) fn subjects(kind: Kind, subjects: Vec<Subject<'s>>) -> Self {
        Self::list(kind.plural(), kind.singular(), move |view| {
            let max = view.params.number("max").filter(|max| *max >= 0).and_then(|max| usize::try_from(max).ok());
            let visible = subjects.iter().filter(|subject| view.access.sees(view.state, **subject));
            let shown: Vec<Subject> = visible.take(max.unwrap_or(usize::MAX)).copied().collect();
            for subject in shown {
                subject.render(view, kind.singular());
            }
        })
    }

    /// A collection that is always empty here.
    pub(crate) fn nothing(plural: &'static str, singular: &'static str) -> Self {
        Self::list(plural, singular, |_| {})
    }

    /// Anything that may be refused.
    pub(crate) fn fallible(render: impl Fn(&mut View, Option<&'static str>) -> Rendered + 's) -> Self {
        Self(Box::new(render))
    }

    /// Writes it.
    pub(crate) fn render(&self, view: &mut View, element: Option<&'static str>) -> Rendered {
        (self.0)(view, element)
    }
}

/// What looking for an address gives.
pub(crate) type Lookup<'s> = Result<Found<'s>, Fault>;

/// Reads an id. What is none cannot name anything.
pub(crate) fn parse_id(text: &str) -> Result<Id, Fault> {
    Some(text)
        .filter(|text| text.len() == 36)
        .and_then(|text| Id::try_parse(text).ok())
        .ok_or_else(|| Fault::malformed_id(&text.chars().take(64).collect::<String>()))
}

/// The entity of that kind with that id, or the 404 of a missing resource.
pub(crate) fn subject<'s>(state: &'s State, kind: Kind, id: &str) -> Result<Subject<'s>, Fault> {
    kind.get(state, parse_id(id)?).ok_or_else(Fault::not_found)
}
