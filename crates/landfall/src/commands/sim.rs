//! `landfall sim`: platforms to practise on and to test against.

use anyhow::Context as _;
use clap::Subcommand;
use landfall_simulator::ovirt;

/// Run a simulated platform until it is stopped.
#[derive(Debug, Subcommand)]
pub(crate) enum Sim {
    /// An oVirt engine; when it is ready it prints one line of JSON with what a client needs
    Ovirt(Box<ovirt::Options>),
}

pub(crate) fn run(sim: &Sim) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the simulator's tasks")?;
    runtime.block_on(async {
        match sim {
            Sim::Ovirt(options) => {
                let running = ovirt::start(options).await.context("cannot start the simulated oVirt engine")?;
                running.announce(&mut std::io::stdout().lock()).context("cannot say where the simulator is")?;
                running.run_until_signal().await;
            }
        }
        Ok(())
    })
}
