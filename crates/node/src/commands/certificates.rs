//! `landfall-node certificates`.

use landfall_node::{machine::Machine, renewal};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    renewal::run(&machine, stop::on_signal()?).await?;
    Ok(())
}
