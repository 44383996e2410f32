//! HAProxy.

use askama::Template;

use super::Port;
use crate::{Inventory, MachineKind, template};

/// The whole configuration.
pub(super) fn configuration(inventory: &Inventory, ports: &[Port]) -> String {
    let bootstrap = inventory.of_role(MachineKind::Bootstrap).next().map(|machine| machine.name.as_str());
    template::text(&Configuration { bootstrap, ports })
}

#[derive(Template)]
#[template(path = "haproxy.cfg", escape = "none")]
struct Configuration<'a> {
    bootstrap: Option<&'a str>,
    ports: &'a [Port],
}
