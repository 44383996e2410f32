//! systemd units.

use askama::Template;

use super::{NodeUnit, agent_path};
use crate::{Cluster, template};

/// A unit that runs a command of `landfall-node` for as long as the machine is up.
pub(crate) fn agent_unit(cluster: &Cluster<'_>, command: &str, description: &str) -> NodeUnit {
    // Only what holds addresses and balances needs packages, and it tries again; names and configs must not wait for them.
    render_agent(&AgentUnit {
        program: agent_path(cluster),
        command,
        description,
        after: "network-online.target",
        done: None,
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
}

/// Unpacks the downloads, which Ignition cannot.
pub(super) fn unpack() -> NodeUnit {
    NodeUnit::enabled("landfall-unpack.service", include_str!("../../templates/units/landfall-unpack.service"))
}

/// containerd from the downloads, also where the operating system brings another one.
pub(super) fn containerd() -> NodeUnit {
    NodeUnit::enabled("containerd.service", include_str!("../../templates/units/containerd.service"))
}

/// The kubelet, with the settings in a drop-in of the name that kubeadm's packages use.
pub(super) fn kubelet() -> NodeUnit {
    NodeUnit {
        dropins: vec![(
            "10-kubeadm.conf".to_owned(),
            include_str!("../../templates/units/kubelet-kubeadm.conf").to_owned(),
        )],
        ..NodeUnit::enabled("kubelet.service", include_str!("../../templates/units/kubelet.service"))
    }
}
