//! `landfall-node vip`.

use landfall_node::{machine::Machine, vip};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    vip::run(&machine, stop::on_signal()?).await?;
    Ok(())
}
