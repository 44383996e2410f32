//! `landfall-node dns`.

use landfall_node::{dns, machine::Machine};

use crate::stop;

pub(crate) async fn run(multicast: bool) -> anyhow::Result<()> {
    let machine = Machine::this()?;
    dns::run(&machine, multicast, stop::on_signal()?).await?;
    Ok(())
}
