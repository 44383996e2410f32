//! `landfall destroy cluster`: removes everything that carries the cluster's mark, and makes sure of it.

use std::{fmt, sync::Arc};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_assets::ClusterMetadata;
use landfall_engine::{Journal, Options, RetryPolicy, destroy};
use landfall_platform::{FileSet, InfraId, StepSpec};
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{
    cluster::{Binder, ClusterError, JOURNAL, METADATA, Progress, Site, site},
    context::Context,
    error::Error,
    printer::Report,
};

/// Remove what was created.
#[derive(Debug, Subcommand)]
pub(crate) enum Destroy {
    /// Remove everything of a cluster from its platform
    Cluster(Cluster),
}

/// Flags of `destroy cluster`.
#[derive(Args, Debug)]
pub(crate) struct Cluster {
    /// List what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Infra id of the cluster, if its install directory is lost
    #[arg(long, value_name = "ID")]
    infra_id: Option<InfraId>,

    /// Platform of the cluster, if its install directory is lost
    #[arg(long, value_name = "NAME", default_value = "ovirt")]
    platform: String,
}

/// What would be removed.
#[derive(Serialize)]
#[serde(transparent)]
struct Found(Vec<String>);

impl Report for Found {}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            writeln!(f, "nothing carries the cluster's mark")?;
        }
        self.0.iter().try_for_each(|title| writeln!(f, "{title}"))
    }
}

pub(crate) fn run(args: &Destroy, context: &Context) -> anyhow::Result<()> {
    let Destroy::Cluster(args) = args;
    let runtime = tokio::runtime::Runtime::new()?;
    if let Some(infra_id) = &args.infra_id {
        let site = site(&args.platform, &context.environment, infra_id, FileSet::default())?;
        let lost = tempfile::tempdir().context("cannot make a directory for the journal")?;
        let journal = Journal::open(&lost.path().join("journal.sqlite"), infra_id)?;
        return runtime.block_on(remove(args, &site, &journal, context));
    }
    let dir = WorkDir::open(&context.globals.dir)?;
    let infra_id = known_id(&dir)?;
    let locked = dir.lock(&context.holder())?;
    let site = site(&args.platform, &context.environment, &infra_id, FileSet::default())?;
    let journal = Journal::open(&locked.dir().path(JOURNAL), &infra_id)?;
    runtime.block_on(remove(args, &site, &journal, context))
}

/// The infra id as the install directory knows it: by its identity, or by `metadata.json` alone.
fn known_id(dir: &WorkDir) -> anyhow::Result<InfraId> {
    if let Some(identity) = dir.identity()? {
        return Ok(identity.infra_id);
    }
    let Some(file) = dir.read(METADATA)? else {
        return Err(Error::NoCluster { path: dir.root().to_owned() }.into());
    };
    let metadata: ClusterMetadata =
        serde_json::from_slice(&file.contents).with_context(|| format!("{METADATA} is not understood"))?;
    Ok(metadata.infra_id)
}

async fn remove(args: &Cluster, site: &Site, journal: &Journal, context: &Context) -> anyhow::Result<()> {
    let titles = |found: Vec<StepSpec>| found.into_iter().map(|spec| spec.title).collect();
    if args.dry_run {
        let found = site.discover.discover().await?;
        return Ok(context.printer.report(&Found(titles(found)))?);
    }
    let interrupt = context.interruptible()?;
    let progress = Arc::new(Progress::new(context));
    let bind = Binder { platform: site.bind.clone(), api: None };
    let options = Options { retry: RetryPolicy::default(), events: progress, cancel: interrupt.token() };
    destroy(&bind, site.discover.as_ref(), journal, &options).await.map_err(ClusterError::from)?;
    context.printer.info("nothing of the cluster is left on its platform");
    Ok(())
}
