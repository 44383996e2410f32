//! Users.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{catalogue, permissions};
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Holder, User};
use crate::ovirt::representation::types::USER;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

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

/// Lets somebody of a directory in. The simulated directory has everybody, and their password is their name.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&USER)?;
    let name = require(&tree, "User", "user_name", "add")?;
    let state = &mut *call.state;
    let domain = tree.sub("domain").and_then(|domain| domain.text("name").or_else(|| domain.text("id")));
    let (principal, profile) = name.rsplit_once('@').unwrap_or((name, "internal"));
    let profile = profile.strip_suffix("-authz").unwrap_or(profile);
    let login = format!("{principal}@{profile}");
    if let Some(user) = state.users.iter().find(|user| *user.login == *login) {
        return Ok(Done::Created { path: format!("users/{}", user.id), job: None });
    }
    let id = state.new_id();
    state.users.insert(User {
        id,
        name: principal.into(),
        last_name: "".into(),
        login: login.into(),
        email: "".into(),
        password: principal.into(),
        domain: domain.map_or_else(|| format!("{profile}-authz"), str::to_owned).into(),
    });
    Ok(Done::Created { path: format!("users/{id}"), job: None })
}

/// Shuts somebody out, and takes all permissions with it.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    if state.cause.user == Some(id) {
        return Err(attempt("remove", "User").conflict("Removing the logged-in user is not allowed."));
    }
    state.users.remove(id).ok_or_else(Fault::not_found)?;
    state.sessions.revoke_user(id);
    permissions::forget_holder(state, Holder::User(id));
    Ok(Done::Removed { job: None })
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
