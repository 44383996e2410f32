//! `landfall machines list`.

use super::{
    Reach,
    table::{Fleet, MachineRow, SetRow},
};
use crate::context::Context;

pub(super) async fn run(reach: &Reach, context: &Context) -> anyhow::Result<()> {
    let directory = reach.open(context).await?;
    let (machines, sets) = (directory.machines().await?, directory.sets().await?);
    let fleet = Fleet {
        machines: machines.iter().map(|machine| MachineRow::new(machine, context.now)).collect(),
        sets: sets.iter().map(SetRow::new).collect(),
    };
    context.printer.report(&fleet)?;
    Ok(())
}
