//! CPU profiles.

use super::found::{Found, Lookup};
use super::kind::Subject;
use super::permissions;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{CpuProfile, Object};
use crate::ovirt::state::State;

/// Writes a CPU profile.
pub(crate) fn render(view: &mut View, element: &'static str, profile: &CpuProfile) {
    let path = format_args!("cpuprofiles/{}", profile.id);
    view.open(element, path, profile.id);
    view.names(&profile.name, &profile.description, "");
    view.reference("cluster", "clusters", profile.cluster);
    view.links(path, &["permissions"]);
    view.close();
}

/// A CPU profile, or what is under it.
pub(crate) fn at<'s>(state: &'s State, profile: &'s CpuProfile, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::CpuProfile(profile))),
        ["permissions", rest @ ..] => permissions::of(state, Object::CpuProfile(profile.id), rest),
        _ => Err(Fault::not_found()),
    }
}
