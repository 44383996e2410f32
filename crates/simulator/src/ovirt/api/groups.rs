//! Groups of users.

use super::found::{Found, Lookup};
use super::kind::Subject;
use super::view::View;
use super::{catalogue, permissions};
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Group, Holder};
use crate::ovirt::state::State;

/// Writes a group.
pub(crate) fn render(view: &mut View, element: &'static str, group: &Group) {
    let path = format_args!("groups/{}", group.id);
    view.open(element, path, group.id);
    view.out.text("name", &group.name);
    view.out.text("domain_entry_id", group.id);
    view.out.text("namespace", "*");
    view.reference_to(
        "domain",
        format_args!("domains/{}", catalogue::domain_id(&group.domain)),
        catalogue::domain_id(&group.domain),
    );
    view.links(path, &["permissions", "roles", "tags"]);
    view.close();
}

/// A group, or what is under it.
pub(crate) fn at<'s>(state: &'s State, group: &'s Group, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Group(group))),
        ["permissions", rest @ ..] => permissions::held(state, Holder::Group(group.id), rest),
        ["roles"] => Ok(Found::nothing("roles", "role")),
        ["tags"] => Ok(Found::nothing("tags", "tag")),
        _ => Err(Fault::not_found()),
    }
}
