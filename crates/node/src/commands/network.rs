//! `landfall-node network`.

use landfall_node::{machine::Machine, network};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    network::run(&machine, stop::on_signal()?).await?;
    Ok(())
}
