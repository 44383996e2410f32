//! Users.

use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{catalogue, permissions};
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Holder, User};
use crate::ovirt::state::State;

const LINKS: &[&str] = &["options", "permissions", "roles", "sshpublickeys", "tags"];

/// Writes a user.
pub(crate) fn render(view: &mut View, element: &'static str, user: &User) {
    let path = format_args!("users/{}", user.id);
    view.open(element, path, user.id);
    view.out.text("name", &user.name);
    view.out.text("department", "");
    view.out.text("domain_entry_id", user.id);
    view.out.text("email", &user.email);
    view.out.text("last_name", &user.last_name);
    view.out.text("namespace", "*");
    view.out.text("principal", user.principal());
    view.out.text("user_name", format_args!("{}@{}", user.principal(), user.domain));
    view.reference_to(
        "domain",
        format_args!("domains/{}", catalogue::domain_id(&user.domain)),
        catalogue::domain_id(&user.domain),
    );
    view.links(path, LINKS);
    view.close();
}

/// A user, or what is under it.
pub(crate) fn at<'s>(state: &'s State, user: &'s User, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::User(user))),
        ["permissions", rest @ ..] => permissions::held(state, Holder::User(user.id), rest),
        ["roles"] => {
            let mut held: Vec<_> = state
                .permissions
                .iter()
                .filter(|permission| permission.holder == Holder::User(user.id))
                .map(|permission| permission.role)
                .collect();
            held.sort_unstable();
            held.dedup();
            Ok(Found::subjects(Kind::Role, held.into_iter().filter_map(|id| Kind::Role.get(state, id)).collect()))
        }
        ["tags"] => Ok(Found::nothing("tags", "tag")),
        ["sshpublickeys"] => Ok(Found::nothing("ssh_public_keys", "ssh_public_key")),
        ["options"] => Ok(Found::nothing("user_options", "user_option")),
        _ => Err(Fault::not_found()),
    }
}

impl User {
    /// What is typed to log in, without the profile.
    pub(crate) fn principal(&self) -> &str {
        self.login.rsplit_once('@').map_or(&self.login, |(principal, _)| principal)
    }

    /// Whether this is the user that somebody calls so: with the profile, with the domain, or alone.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        *self.login == *name
            || name.strip_prefix(self.principal()).is_some_and(|rest| {
                rest.is_empty() || rest.strip_prefix('@').is_some_and(|domain| *domain == *self.domain)
            })
    }
}
