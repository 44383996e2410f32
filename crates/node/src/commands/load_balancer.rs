//! `landfall-node load-balancer`.

use landfall_node::{load_balancer, machine::Machine};

use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    load_balancer::run(&machine, stop::on_signal()?).await?;
    Ok(())
}
