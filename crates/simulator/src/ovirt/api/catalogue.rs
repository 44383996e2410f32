//! What every engine has and nobody changes: operating systems, network filters, scheduling policies, directories.

use super::found::{Found, Lookup, parse_id};
use super::view::View;
use crate::ovirt::defaults::SCHEDULING_POLICY;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::format_mac;
use crate::ovirt::operating_systems::{OPERATING_SYSTEMS, OperatingSystem};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The filter that vNIC profiles have: against spoofed hardware addresses.
pub(crate) const DEFAULT_NETWORK_FILTER: Id = Id::from_u128(0x38b3_6bd9_9a2d_0007_0000_0000_0000_0001);

const NETWORK_FILTERS: [(Id, &str); 3] = [
    (DEFAULT_NETWORK_FILTER, "vdsm-no-mac-spoofing"),
    (Id::from_u128(0x38b3_6bd9_9a2d_0007_0000_0000_0000_0002), "clean-traffic"),
    (Id::from_u128(0x38b3_6bd9_9a2d_0007_0000_0000_0000_0003), "no-mac-spoofing"),
];

/// A collection of things that are given, or one of them.
fn given<'s, T: Copy + 's>(
    (plural, singular): (&'static str, &'static str),
    all: Vec<T>,
    id: impl Fn(T) -> Id + 's,
    render: impl Fn(&mut View, &'static str, T) + 's,
    parts: &[&str],
) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::list(plural, singular, move |view| all.iter().for_each(|one| render(view, singular, *one)))),
        [wanted] => {
            let wanted = parse_id(wanted)?;
            let one = all.into_iter().find(|one| id(*one) == wanted).ok_or_else(Fault::not_found)?;
            Ok(Found::item(singular, move |view, element| render(view, element, one)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// The network filters.
pub(crate) fn network_filters<'s>(parts: &[&str]) -> Lookup<'s> {
    let render = |view: &mut View, element, (id, name): (Id, &'static str)| {
        view.open(element, format_args!("networkfilters/{id}"), id);
        view.out.text("name", name);
        view.out.open("version");
        view.out.text("major", 4);
        view.out.text("minor", 0);
        view.close();
        view.close();
    };
    given(("network_filters", "network_filter"), NETWORK_FILTERS.to_vec(), |(id, _)| id, render, parts)
}

/// The operating systems that a VM may be said to run.
pub(crate) fn operating_systems<'s>(parts: &[&str]) -> Lookup<'s> {
    let render = |view: &mut View, element, os: &'static OperatingSystem| {
        view.open(element, format_args!("operatingsystems/{}", os.uuid()), os.uuid());
        view.out.text("name", os.name);
        view.out.text("description", os.description);
        view.out.text("architecture", os.architecture);
        view.out.text("tpm_support", "supported");
        view.close();
    };
    let all: Vec<&'static OperatingSystem> = OPERATING_SYSTEMS.iter().collect();
    given(("operating_systems", "operating_system"), all, OperatingSystem::uuid, render, parts)
}

/// The one scheduling policy.
pub(crate) fn scheduling_policies<'s>(parts: &[&str]) -> Lookup<'s> {
    match parts {
        [id, part] if *id == SCHEDULING_POLICY.to_string() => match *part {
            "filters" => Ok(Found::nothing("filters", "filter")),
            "weights" => Ok(Found::nothing("weights", "weight")),
            "balances" => Ok(Found::nothing("balances", "balance")),
            _ => Err(Fault::not_found()),
        },
        parts => {
            let render = |view: &mut View, element, id: Id| {
                view.open(element, format_args!("schedulingpolicies/{id}"), id);
                view.out.text("name", "none");
                view.out.text("description", "");
                view.out.text("default_policy", false);
                view.out.text("locked", true);
                view.links(format_args!("schedulingpolicies/{id}"), &["balances", "filters", "weights"]);
                view.close();
            };
            given(("scheduling_policies", "scheduling_policy"), vec![SCHEDULING_POLICY], |id| id, render, parts)
        }
    }
}

/// The id of a directory of users.
pub(crate) fn domain_id(name: &str) -> Id {
    let folded = name.bytes().fold(0_u128, |id, byte| (id.rotate_left(8)) ^ u128::from(byte));
    uuid::Builder::from_u128(folded).with_version(uuid::Version::Random).into_uuid()
}

/// The directories of users, and the users and groups in them.
pub(crate) fn domains<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    let mut names: Vec<&'s str> = state.users.iter().map(|user| &*user.domain).collect();
    names.sort_unstable();
    names.dedup();
    match parts {
        [id, rest @ ..] if !rest.is_empty() => {
            let id = parse_id(id)?;
            let name = names.into_iter().find(|name| domain_id(name) == id).ok_or_else(Fault::not_found)?;
            match rest {
                ["users"] => Ok(Found::list("users", "user", move |view| {
                    for user in state.users.iter().filter(|user| *user.domain == *name) {
                        super::users::render(view, "user", user);
                    }
                })),
                ["groups"] => Ok(Found::list("groups", "group", move |view| {
                    for group in state.groups.iter().filter(|group| *group.domain == *name) {
                        super::groups::render(view, "group", group);
                    }
                })),
                _ => Err(Fault::not_found()),
            }
        }
        parts => {
            let render = |view: &mut View, element, name: &'s str| {
                let id = domain_id(name);
                view.open(element, format_args!("domains/{id}"), id);
                view.out.text("name", name);
                view.links(format_args!("domains/{id}"), &["groups", "users"]);
                view.close();
            };
            given(("domains", "domain"), names, domain_id, render, parts)
        }
    }
}

/// The one pool of hardware addresses.
pub(crate) fn mac_pools<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    let pool = &state.mac_pool;
    if let [id, "permissions", rest @ ..] = parts {
        let known = parse_id(id)? == pool.id;
        let object = crate::ovirt::model::Object::MacPool(pool.id);
        return if known { super::permissions::of(state, object, rest) } else { Err(Fault::not_found()) };
    }
    let render = |view: &mut View, element, (): ()| {
        view.open(element, format_args!("macpools/{}", pool.id), pool.id);
        view.out.text("name", "Default");
        view.out.text("description", "Default MAC pool");
        view.out.text("allow_duplicates", false);
        view.out.text("default_pool", true);
        view.out.open_list("ranges", "range");
        view.out.open("range");
        view.out.text("from", format_mac(pool.first));
        view.out.text("to", format_mac(pool.last()));
        view.close();
        view.close();
        view.links(format_args!("macpools/{}", pool.id), &["permissions"]);
        view.close();
    };
    given(("mac_pools", "mac_pool"), vec![()], |()| pool.id, render, parts)
}

/// The compatibility levels of clusters; only the present one is told.
pub(crate) fn cluster_levels<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    let level = format!("{}.{}", state.settings.version_part(0), state.settings.compatibility_minor());
    let known = match parts {
        [] => true,
        [id] => *id == level,
        _ => false,
    };
    if !known {
        return Err(Fault::not_found());
    }
    let render = move |view: &mut View, element: &'static str| {
        view.open(element, format_args!("clusterlevels/{level}"), &level);
        view.out.open_list("cpu_types", "cpu_type");
        for (number, name) in ["Intel Nehalem Family", "Intel Cascadelake Server Family"].into_iter().enumerate() {
            view.out.open("cpu_type");
            view.out.text("name", name);
            view.out.text("level", number + 1);
            view.out.text("architecture", "x86_64");
            view.close();
        }
        view.close();
        view.close();
    };
    if parts.is_empty() {
        Ok(Found::list("cluster_levels", "cluster_level", move |view| render(view, "cluster_level")))
    } else {
        Ok(Found::item("cluster_level", render))
    }
}
