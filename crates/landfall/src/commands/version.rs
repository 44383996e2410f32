//! `landfall version`.

use std::fmt;

use clap::Args;
use landfall_config::DEFAULT_KUBERNETES_VERSION;
use serde::Serialize;

use crate::{context::Context, printer::Report};

/// Print the version.
#[derive(Args, Debug)]
pub(crate) struct Version {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    landfall: &'static str,
    kubernetes: &'static str,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "landfall {}", self.landfall)?;
        writeln!(f, "installs Kubernetes {} unless told otherwise", self.kubernetes)
    }
}

impl Report for Versions {}

pub(crate) fn run(_args: &Version, context: &Context) -> anyhow::Result<()> {
    let versions = Versions { landfall: env!("CARGO_PKG_VERSION"), kubernetes: DEFAULT_KUBERNETES_VERSION };
    Ok(context.printer.report(&versions)?)
}
