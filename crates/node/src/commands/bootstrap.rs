//! `landfall-node bootstrap`.

use landfall_node::{bootstrap, machine::Machine};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    bootstrap::run(Machine::this()?, stop::on_signal()?).await?;
    Ok(())
}
