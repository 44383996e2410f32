//! `landfall explain`.

use std::fmt;

use clap::Args;
use serde::Serialize;

use crate::{
    context::Context,
    printer::{self, Report},
};

/// Say what a field of the install-config means.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// Path of a field, as in platform.ovirt.api_vips; without it, the whole file
    path: Option<String>,

    /// Print the JSON Schema of the whole file instead
    #[arg(long, conflicts_with = "path")]
    schema: bool,
}

/// The documentation of one field.
#[derive(Serialize)]
struct Explanation<'a> {
    path: &'a str,
    text: String,
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text.trim_end())
    }
}

impl Report for Explanation<'_> {}

pub(crate) fn run(args: &Explain, context: &Context) -> anyhow::Result<()> {
    if args.schema {
        let schema = serde_json::to_string_pretty(&landfall_config::schema())?;
        return Ok(printer::print(&(schema + "\n"))?);
    }
    let text = landfall_config::explain(args.path.as_deref())?;
    Ok(context.printer.report(&Explanation { path: args.path.as_deref().unwrap_or_default(), text })?)
}
