//! `landfall-node join`.

use landfall_node::{join, machine::Machine};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    let stop = stop::on_signal()?;
    tokio::select! {
        joined = join::run(&machine) => joined?,
        () = stop.cancelled() => anyhow::bail!("stopped before the machine has joined"),
    }
    Ok(())
}
