//! `landfall machines scale`.

use anyhow::Context as _;
use clap::Args;

use super::{
    Reach,
    table::{Fleet, SetRow},
};
use crate::context::Context;

/// Say how many machines a set is to have.
#[derive(Args, Debug)]
pub(crate) struct Scale {
    /// Name of the set of machines
    #[arg(value_name = "SET")]
    name: String,

    /// How many machines it is to have
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=100_000))]
    replicas: i32,

    #[command(flatten)]
    reach: Reach,
}

pub(super) async fn run(args: &Scale, context: &Context) -> anyhow::Result<()> {
    let directory = args.reach.open(context).await?;
    let missing = || format!("there is no set {}; 'landfall machines list' shows all", args.name);
    let before = directory.set(&args.name).await?.with_context(missing)?;
    directory.scale(&args.name, args.replicas).await?;
    context
        .printer
        .info(format_args!("{}: {} machines wanted, {} before", args.name, args.replicas, before.spec.replicas));
    let after = directory.set(&args.name).await?.with_context(missing)?;
    context.printer.report(&Fleet { machines: Vec::new(), sets: vec![SetRow::new(&after)] })?;
    Ok(())
}
