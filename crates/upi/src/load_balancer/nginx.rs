//! nginx, as a balancer of streams.

use askama::Template;

use super::Port;
use crate::template;

/// The whole configuration.
pub(super) fn configuration(ports: &[Port]) -> String {
    template::text(&Configuration { ports })
}

#[derive(Template)]
#[template(path = "nginx.conf", escape = "none")]
struct Configuration<'a> {
    ports: &'a [Port],
}
