//! Disk profiles.

use super::found::{Found, Lookup};
use super::kind::Subject;
use super::permissions;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{DiskProfile, Object};
use crate::ovirt::state::State;

/// Writes a disk profile.
pub(crate) fn render(view: &mut View, element: &'static str, profile: &DiskProfile) {
    let path = format_args!("diskprofiles/{}", profile.id);
    view.open(element, path, profile.id);
    view.names(&profile.name, &profile.description, "");
    view.reference("storage_domain", "storagedomains", profile.storage_domain);
    view.links(path, &["permissions"]);
    view.close();
}

/// A disk profile, or what is under it.
pub(crate) fn at<'s>(state: &'s State, profile: &'s DiskProfile, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::DiskProfile(profile))),
        ["permissions", rest @ ..] => permissions::of(state, Object::DiskProfile(profile.id), rest),
        _ => Err(Fault::not_found()),
    }
}
