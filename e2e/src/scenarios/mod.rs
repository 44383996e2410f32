//! What is tried, in this order.

mod config_server;
mod etcd;
mod fail_over;
mod install;
mod machines;
mod power_loss;
mod remove;
mod renewal;
mod workload;

use futures::future::BoxFuture;

use crate::cluster::Cluster;

/// Something to try.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Whether it is part of every run; the rest is of no use if it fails.
    pub(crate) always: bool,
    /// Whether it is part of `make test`.
    pub(crate) gate: bool,
    /// Says what was seen.
    pub(crate) run: for<'a> fn(&'a Cluster<'a>) -> BoxFuture<'a, anyhow::Result<String>>,
}

/// All scenarios. After the first cluster is destroyed comes what needs one of its own.
pub(crate) const SCENARIOS: [Scenario; 22] = [
    Scenario { name: "install", always: true, gate: true, run: |cluster| Box::pin(install::run(cluster)) },
    Scenario { name: "workload", always: false, gate: false, run: |cluster| Box::pin(workload::run(cluster)) },
    Scenario { name: "scale-workers", always: false, gate: false, run: |cluster| Box::pin(machines::scale(cluster)) },
    Scenario { name: "replace-worker", always: false, gate: true, run: |cluster| Box::pin(machines::replace(cluster)) },
    Scenario {
        name: "config-server",
        always: false,
        gate: true,
        run: |cluster| Box::pin(config_server::refusals(cluster)),
    },
    Scenario {
        name: "config-server-current",
        always: false,
        gate: false,
        run: |cluster| Box::pin(config_server::current(cluster)),
    },
    Scenario {
        name: "config-server-crowd",
        always: false,
        gate: false,
        run: |cluster| Box::pin(config_server::crowd(cluster)),
    },
    Scenario { name: "renewal", always: false, gate: false, run: |cluster| Box::pin(renewal::run(cluster)) },
    Scenario { name: "kill-haproxy", always: false, gate: true, run: |cluster| Box::pin(fail_over::haproxy(cluster)) },
    Scenario {
        name: "kill-apiserver",
        always: false,
        gate: false,
        run: |cluster| Box::pin(fail_over::api_server(cluster)),
    },
    Scenario {
        name: "kill-keepalived",
        always: false,
        gate: false,
        run: |cluster| Box::pin(fail_over::keepalived(cluster)),
    },
    Scenario { name: "freeze-holder", always: false, gate: true, run: |cluster| Box::pin(fail_over::freeze(cluster)) },
    Scenario { name: "cut-holder", always: false, gate: false, run: |cluster| Box::pin(fail_over::cut(cluster)) },
    Scenario {
        name: "switch-off-holder",
        always: false,
        gate: true,
        run: |cluster| Box::pin(fail_over::switch_off(cluster)),
    },
    Scenario {
        name: "replace-master",
        always: false,
        gate: false,
        run: |cluster| Box::pin(machines::replace_master(cluster)),
    },
    Scenario {
        name: "replace-master-without-power",
        always: false,
        gate: true,
        run: |cluster| Box::pin(power_loss::replacement_at_its_worst(cluster)),
    },
    Scenario {
        name: "power-loss-replacement",
        always: false,
        gate: false,
        run: |cluster| Box::pin(power_loss::replacement(cluster)),
    },
    Scenario {
        name: "power-loss-renewal",
        always: false,
        gate: false,
        run: |cluster| Box::pin(power_loss::renewal(cluster)),
    },
    Scenario { name: "destroy", always: true, gate: true, run: |cluster| Box::pin(remove::run(cluster)) },
    Scenario {
        name: "reboot-bootstrap",
        always: false,
        gate: false,
        run: |cluster| Box::pin(install::with_a_reboot(cluster)),
    },
    Scenario {
        name: "power-loss-join",
        always: false,
        gate: false,
        run: |cluster| Box::pin(power_loss::join(cluster)),
    },
    Scenario {
        name: "power-loss-pivot",
        always: false,
        gate: false,
        run: |cluster| Box::pin(power_loss::pivot(cluster)),
    },
];
