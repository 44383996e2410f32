//! The root of the API: what product this is, and where everything else is.

use super::kind::Kind;
use super::view::View;
use crate::ovirt::model::{HostStatus, StorageDomainStatus, VmStatus};
use crate::ovirt::state::NIL;

/// The collections at the root that are not tables of the state.
const OTHERS: [&str; 10] = [
    "clusterlevels",
    "domains",
    "externalhostproviders",
    "icons",
    "macpools",
    "networkfilters",
    "openstackimageproviders",
    "operatingsystems",
    "schedulingpolicies",
    "vmpools",
];

/// Writes `<api>`.
pub(crate) fn render(view: &mut View, element: &'static str) {
    let state = view.state;
    let settings = &state.settings;
    view.out.open(element);
    view.out.open_links();
    for kind in Kind::ALL {
        view.link(kind.path(), format_args!("{}", kind.path()));
    }
    for path in OTHERS {
        view.link(path, format_args!("{path}"));
    }
    view.out.close_links();

    view.out.open("product_info");
    view.out.text("instance_id", state.mac_pool.id);
    view.out.text("name", "oVirt Engine");
    view.out.text("vendor", "ovirt.org");
    view.out.open("version");
    for (index, part) in ["major", "minor", "build", "revision"].into_iter().enumerate() {
        view.out.text(part, settings.version_part(index));
    }
    view.out.text("full_version", &settings.full_version);
    view.close();
    view.close();

    view.out.open("special_objects");
    view.reference("blank_template", "templates", NIL);
    view.reference("root_tag", "tags", NIL);
    view.close();

    view.out.open("summary");
    let running = state.vms.rows().filter(|vm| vm.status == VmStatus::Up).count();
    let hosts_up = state.hosts.iter().filter(|host| host.status == HostStatus::Up).count();
    let domains = &state.storage_domains;
    let active = domains.iter().filter(|domain| domain.status == StorageDomainStatus::Active).count();
    for (name, total, active) in [
        ("hosts", state.hosts.len(), hosts_up),
        ("storage_domains", domains.len(), active),
        ("users", state.users.len(), state.sessions.users()),
        ("vms", state.vms.len(), running),
    ] {
        view.out.open(name);
        view.out.text("active", active);
        view.out.text("total", total);
        view.close();
    }
    view.close();

    view.date("time", state.now);
    view.maybe_reference("authenticated_user", "users", view.access.user());
    view.maybe_reference("effective_user", "users", view.access.user());
    view.close();
}
