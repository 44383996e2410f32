//! References to entities in what clients send: by id or by name.

use super::found::parse_id;
use super::kind::{Kind, Subject};
use crate::ovirt::fault::Fault;
use crate::ovirt::representation::Tree;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The entity that `tree` refers to in `field`. A reference without id and name, such as the empty elements that some
/// clients send, refers to nothing.
pub(crate) fn reference(state: &State, tree: &Tree, field: &str, kind: Kind) -> Result<Option<Id>, Fault> {
    tree.sub(field).map_or(Ok(None), |given| resolve(state, given, kind))
}

/// The entity that `given` refers to.
pub(crate) fn resolve(state: &State, given: &Tree, kind: Kind) -> Result<Option<Id>, Fault> {
    let what = type_name(kind);
    if let Some(id) = given.text("id").filter(|id| !id.is_empty()) {
        let id = parse_id(id)?;
        return kind.get(state, id).map(|_| Some(id)).ok_or_else(|| Fault::missing(&what, format_args!("id={id}")));
    }
    let Some(name) = given.text("name").or_else(|| given.text("alias")).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let mut named = kind.prefixed(state, name).into_iter().flatten().filter(|subject| subject.name() == name);
    match (kind, named.next()) {
        (_, None) => Err(Fault::missing(&what, format_args!("name={name}"))),
        // A template's name stands for all its versions; without a number the newest is meant.
        (Kind::Template, Some(first)) => {
            let wanted = given.sub("version").and_then(|version| version.int("version_number"));
            let versions = std::iter::once(first).chain(named).filter_map(|subject| match subject {
                Subject::Template(template) => Some(template),
                _ => None,
            });
            versions
                .filter(|template| wanted.is_none_or(|wanted| i64::from(template.version.number) == wanted))
                .max_by_key(|template| template.version.number)
                .map(|template| Some(template.id))
                .ok_or_else(|| Fault::missing(&what, format_args!("name={name}")))
        }
        (_, Some(found)) => Ok(Some(found.id())),
    }
}

/// The entity that `tree` must refer to in `field`.
pub(crate) fn required(
    state: &State,
    tree: &Tree,
    field: &str,
    kind: Kind,
    owner: &str,
    method: &str,
) -> Result<Id, Fault> {
    reference(state, tree, field, kind)?.ok_or_else(|| Fault::incomplete(owner, &format!("{field}.id|name"), method))
}

/// The name of a kind in messages: `StorageDomain`.
fn type_name(kind: Kind) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    kind.singular().split('_').map(capitalised).collect()
}

/// The quota that `tree` refers to. Quotas have no collection at the root, so they are not a kind.
pub(crate) fn reference_quota(state: &State, tree: &Tree) -> Result<Option<Id>, Fault> {
    let Some(given) = tree.sub("quota") else { return Ok(None) };
    if let Some(id) = given.text("id").filter(|id| !id.is_empty()) {
        let id = parse_id(id)?;
        let known = state.quotas.contains(id);
        return if known { Ok(Some(id)) } else { Err(Fault::missing("Quota", format_args!("id={id}"))) };
    }
    let named = given.text("name").and_then(|name| state.quotas.named(name).next());
    Ok(named.map(|quota| quota.id))
}
