//! The `landfall-node` program and the units that run it.

use askama::Template;

use super::{NodeUnit, sandbox::sandbox};
use crate::{Cluster, template};

/// Where the program is: where it is downloaded to, or where the operating system image has it.
pub(crate) fn agent_path(cluster: &Cluster<'_>) -> &'static str {
    if cluster.config.node_agent.is_some() { "/opt/bin/landfall-node" } else { "/usr/bin/landfall-node" }
}

/// A unit that runs a command of `landfall-node` for as long as the machine is up.
pub(crate) fn agent_unit(cluster: &Cluster<'_>, command: &str, description: &str) -> NodeUnit {
    // Only what holds addresses and balances needs packages, and it tries again; names and configs must not wait for them.
    render_agent(&AgentUnit {
        program: agent_path(cluster),
        command,
        description,
        after: "network-online.target",
        done: None,
        sandbox: sandbox(command),
    })
}

/// A unit that runs a command of `landfall-node` until it has succeeded, for which the command leaves the file `done`.
pub(super) fn agent_task(cluster: &Cluster<'_>, command: &str, description: &str, done: &str) -> NodeUnit {
    render_agent(&AgentUnit {
        program: agent_path(cluster),
        command,
        description,
        after: "network-online.target landfall-unpack.service containerd.service",
        done: Some(done),
        sandbox: sandbox(command),
    })
}

fn render_agent(unit: &AgentUnit<'_>) -> NodeUnit {
    NodeUnit::enabled(format!("landfall-{}.service", unit.command), template::text(unit))
}

#[derive(Template)]
#[template(path = "units/agent.service", escape = "none")]
struct AgentUnit<'a> {
    program: &'a str,
    command: &'a str,
    description: &'a str,
    after: &'a str,
    done: Option<&'a str>,
    sandbox: Vec<&'static str>,
}
