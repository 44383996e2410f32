//! `landfall gather`: everything that there is to know about a cluster that does not come up.

use std::{fmt, path::PathBuf};

use clap::{Args, Subcommand};
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{
    cluster::{Boot, site},
    commands::destroy::{config_of, known_id, known_platform},
    context::Context,
    gather::{Hosts, gather},
    printer::Report,
};

/// Collect what there is to know about a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum Gather {
    /// Collect logs and states of a cluster whose control plane does not come up, without secrets
    Bootstrap(Bootstrap),
}

/// Flags of `gather bootstrap`.
#[derive(Args, Debug)]
pub(crate) struct Bootstrap {
    /// Address of the bootstrap machine, if the platform does not know it
    #[arg(long = "bootstrap", value_name = "HOST")]
    first: Option<String>,

    /// Address of a master, if the platform does not know it; may be repeated
    #[arg(long = "master", value_name = "HOST")]
    masters: Vec<String>,

    /// Private key to log in to the machines with [default: what ssh uses by itself]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Platform of the cluster [default: that of the install directory]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

/// Where the archive is.
#[derive(Serialize)]
struct Gathered {
    bundle: PathBuf,
}

impl Report for Gathered {}

impl fmt::Display for Gathered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.bundle.display())
    }
}

pub(crate) fn run(args: &Gather, context: &Context) -> anyhow::Result<()> {
    let Gather::Bootstrap(args) = args;
    let dir = WorkDir::open(&context.globals.dir)?;
    let infra_id = known_id(&dir)?;
    let config = config_of(&dir);
    let platform = known_platform(args.platform.as_deref(), config.as_ref(), &dir);
    let site = site(&platform, dir.root(), &context.environment, &infra_id, &Boot::default(), config.as_ref());
    let hosts = Hosts { bootstrap: args.first.clone(), masters: args.masters.clone(), key: args.key.clone() };
    let site = site.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"));
    let bundle = tokio::runtime::Runtime::new()?.block_on(gather(&dir, &infra_id, site, &hosts, context))?;
    Ok(context.printer.report(&Gathered { bundle })?)
}
