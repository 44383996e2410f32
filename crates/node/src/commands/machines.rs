//! `landfall-node machines`: the machine controller, run from the program that every master has.

use std::sync::Arc;

use clap::Subcommand;
use landfall_machines::{Arguments, Metrics};
use landfall_platform::MachineProvider;

use crate::stop;

/// Look after the machines of the cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum Machines {
    /// Keep machines as their objects say; runs in a pod.
    Controller(Box<Arguments>),
}

pub(crate) async fn run(what: &Machines) -> anyhow::Result<()> {
    let Machines::Controller(arguments) = what;
    // The same platforms as in the registry of `landfall`.
    let providers: Vec<Arc<dyn MachineProvider>> = vec![
        Arc::new(landfall_platform_ovirt::Provider),
        Arc::new(landfall_platform_packet::Provider),
        Arc::new(landfall_platform_powervm::Provider),
        Arc::new(landfall_platform_powervs::Provider),
    ];
    Arguments::clone(arguments).run(providers, Metrics::default(), stop::on_signal()?).await?;
    Ok(())
}
