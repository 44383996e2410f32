//! `landfall-node boot-script`.

use anyhow::Context as _;
use landfall_node::{boot_script, machine::Machine};

use super::everywhere;
use crate::stop;

pub(crate) async fn run() -> anyhow::Result<()> {
    let machine = Machine::this()?;
    let facts = machine.facts.boot_script.as_ref().context("this machine serves no boot script")?;
    let script = std::fs::read(&facts.file).with_context(|| format!("cannot read {}", facts.file))?;
    let listener = everywhere::listen(facts.port).await?;
    tracing::info!(address = %listener.local_addr()?, "serving the boot script");
    boot_script::serve(listener, script.into(), stop::on_signal()?).await;
    Ok(())
}
