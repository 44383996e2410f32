//! `landfall machines get`.

use std::fmt;

use anyhow::Context as _;
use clap::Args;
use landfall_machines::Machine;
use serde::Serialize;

use super::Reach;
use crate::{context::Context, printer::Report};

/// Show one machine.
#[derive(Args, Debug)]
pub(crate) struct Get {
    /// Name of the machine
    #[arg(value_name = "MACHINE")]
    name: String,

    #[command(flatten)]
    reach: Reach,
}

/// A machine, in full for programs and in short for people.
#[derive(Serialize)]
#[serde(transparent)]
struct Shown(Machine);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.0;
        let status = machine.status.clone().unwrap_or_default();
        let mut line = |name: &str, value: &str| {
            if value.is_empty() { Ok(()) } else { writeln!(f, "{name:<12}  {value}") }
        };
        line("machine", machine.name())?;
        line("phase", machine.phase().map_or("Pending", |phase| phase.name()))?;
        line("provider id", machine.provider_id().unwrap_or_default())?;
        line("state", status.provider_status["instanceState"].as_str().unwrap_or_default())?;
        line("node", machine.node_name().unwrap_or_default())?;
        for address in &status.addresses {
            line("address", &format!("{} ({})", address.address, address.kind))?;
        }
        line("failure", status.error_message.as_deref().unwrap_or_default())?;
        if let Some(last) = &status.last_operation {
            line("last done", format!("{} {} {}", last.kind, last.state, last.description).trim_end())?;
        }
        for condition in &status.conditions {
            let why = [condition.reason.as_str(), condition.message.as_str()].join(" ");
            line("condition", format!("{} {} {}", condition.kind, condition.status, why.trim()).trim_end())?;
        }
        Ok(())
    }
}

impl Report for Shown {}

pub(super) async fn run(args: &Get, context: &Context) -> anyhow::Result<()> {
    let found = args.reach.open(context).await?.machine(&args.name).await?;
    let missing = || format!("there is no machine {}; 'landfall machines list' shows all", args.name);
    context.printer.report(&Shown(found.with_context(missing)?))?;
    Ok(())
}
