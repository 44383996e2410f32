//! Bookmarks: searches with a name.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::Subject;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::Bookmark;
use crate::ovirt::representation::types::BOOKMARK;
use crate::ovirt::table::Id;

/// Writes a bookmark.
pub(crate) fn render(view: &mut View, element: &'static str, bookmark: &Bookmark) {
    view.open(element, format_args!("bookmarks/{}", bookmark.id), bookmark.id);
    view.out.text("name", &bookmark.name);
    view.out.text("value", &bookmark.value);
    view.close();
}

/// A bookmark; there is nothing under it.
pub(crate) fn at<'s>(bookmark: &'s Bookmark, parts: &[&str]) -> Lookup<'s> {
    if parts.is_empty() { Ok(Found::subject(Subject::Bookmark(bookmark))) } else { Err(Fault::not_found()) }
}

/// Makes a bookmark.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&BOOKMARK)?;
    let name = require(&tree, "Bookmark", "name", "add")?;
    let value = require(&tree, "Bookmark", "value", "add")?;
    if call.state.bookmarks.named(name).next().is_some() {
        return Err(attempt("add", "Bookmark").name_in_use());
    }
    let id = call.state.new_id();
    call.state.bookmarks.insert(Bookmark { id, name: name.into(), value: value.into() });
    Ok(Done::Created { path: format!("bookmarks/{id}"), job: None })
}

/// Changes a bookmark.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&BOOKMARK)?;
    if let Some(name) = tree.text("name") {
        call.state.bookmarks.rename(id, name);
    }
    let bookmark = call.state.bookmarks.get_mut(id).ok_or_else(Fault::not_found)?;
    tree.update("value", &mut bookmark.value);
    Ok(Done::Updated { path: format!("bookmarks/{id}") })
}

/// Removes a bookmark.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    call.state.bookmarks.remove(id).ok_or_else(Fault::not_found)?;
    Ok(Done::Removed { job: None })
}
