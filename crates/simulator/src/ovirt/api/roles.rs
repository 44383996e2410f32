//! Roles and their permits.

use super::found::{Found, Lookup};
use super::kind::Subject;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::Role;

/// Writes a role.
pub(crate) fn render(view: &mut View, element: &'static str, role: &Role) {
    let path = format_args!("roles/{}", role.id);
    view.open(element, path, role.id);
    view.out.text("name", &role.name);
    view.out.text("description", &role.description);
    view.out.text("administrative", role.administrative);
    view.out.text("mutable", role.mutable);
    view.links(path, &["permits"]);
    view.close();
}

/// A role, or what is under it.
pub(crate) fn at<'s>(role: &'s Role, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Role(role))),
        ["permits"] => Ok(Found::list("permits", "permit", move |view| {
            (0..role.permits.len()).for_each(|index| permit(view, "permit", role, index));
        })),
        ["permits", id] => {
            let index = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
            let index = index.filter(|index| *index < role.permits.len()).ok_or_else(Fault::not_found)?;
            Ok(Found::item("permit", move |view, element| permit(view, element, role, index)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// Permits are numbered from 1.
fn permit(view: &mut View, element: &'static str, role: &Role, index: usize) {
    let number = index + 1;
    view.open(element, format_args!("roles/{}/permits/{number}", role.id), number);
    view.out.text("name", &role.permits[index]);
    view.out.text("administrative", role.administrative);
    view.reference("role", "roles", role.id);
    view.close();
}
