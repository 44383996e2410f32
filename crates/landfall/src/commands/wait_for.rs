//! `landfall wait-for`: waits that an earlier run began.

use clap::Subcommand;
use landfall_workdir::WorkDir;

use crate::{
    cluster::{Progress, Waiter},
    commands::nodes::Nodes,
    context::Context,
    stages::Source,
};

/// Wait for a cluster that is being installed.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum WaitFor {
    /// Until the control plane is on the masters
    BootstrapComplete,
    /// Until all nodes are ready
    InstallComplete,
}

pub(crate) fn run(what: WaitFor, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let interrupt = context.interruptible()?;
    let progress = Progress::new(context.printer, context.globals.output, context.globals.quiet);
    tokio::runtime::Runtime::new()?.block_on(async {
        let waiter = Waiter::new(&dir, &source.config, &progress, interrupt.token())?;
        waiter.bootstrap().await?;
        if let WaitFor::InstallComplete = what {
            let nodes = waiter.nodes().await?;
            context.printer.report(&Nodes(&nodes))?;
        }
        Ok(())
    })
}
