//! `landfall destroy cluster`: removes everything that carries the cluster's mark, and makes sure of it.
//!
//! The install directory stays as it is: it is how a failed removal is taken up again, and its journal says that the cluster
//! is gone once it is.

use std::{fmt, sync::Arc};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_assets::ClusterMetadata;
use landfall_config::InstallConfig;
use landfall_engine::{Entry, Journal, Options, RetryPolicy, destroy, unfound};
use landfall_platform::{InfraId, StepSpec};
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{
    cluster::{Binder, Boot, ClusterError, JOURNAL, METADATA, Progress, Site, remove_assets, site},
    context::Context,
    error::Error,
    printer::Report,
    stages::Source,
};

/// Where clusters were before there was a choice.
const DEFAULT_PLATFORM: &str = "ovirt";

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

    /// Platform of the cluster, if its install directory is lost [default: that of the install directory, else ovirt]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

/// What would be removed.
#[derive(Serialize)]
#[serde(transparent)]
struct Found(Vec<String>);

/// The last line for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Destroyed<'a> {
    outcome: &'static str,
    infra_id: &'a InfraId,
    removed: Vec<String>,
}

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
    if args.dry_run {
        return list(args, context);
    }
    let progress = Arc::new(Progress::new(context));
    remove(args, context, &progress).inspect_err(|error| progress.failed(error))
}

/// Shows what would go. Needs no lock, because it changes nothing.
fn list(args: &Cluster, context: &Context) -> anyhow::Result<()> {
    let infra_id = match &args.infra_id {
        Some(infra_id) => infra_id.clone(),
        None => known_id(&WorkDir::open(&context.globals.dir)?)?,
    };
    let dir = &context.globals.dir;
    let opened = args.infra_id.is_none().then(|| WorkDir::open(dir)).transpose()?;
    let config = opened.as_ref().and_then(config_of);
    let platform = match &opened {
        Some(opened) => known_platform(args.platform.as_deref(), config.as_ref(), opened),
        None => args.platform.clone().unwrap_or_else(|| DEFAULT_PLATFORM.to_owned()),
    };
    let site = site(&platform, dir, &context.environment, &infra_id, &Boot::default(), config.as_ref())?;
    let discover = site.discover(config.as_ref())?;
    let found: Vec<StepSpec> = tokio::runtime::Runtime::new()?.block_on(discover.discover())?;
    let recorded = opened.as_ref().map(|opened| recorded(opened, &found)).unwrap_or_default();
    let titles = found.into_iter().map(|spec| spec.title).chain(recorded).collect();
    Ok(context.printer.report(&Found(titles))?)
}

/// Returns what the journal knows of and what was not found. It is looked for by its recorded id only when it is removed, so it is told apart
/// from what is there for certain.
fn recorded(dir: &WorkDir, found: &[StepSpec]) -> Vec<String> {
    let Ok(snapshot) = Journal::read(&dir.path(JOURNAL)) else { return Vec::new() };
    let title = |entry: &Entry| {
        let has_id = entry.outputs.as_ref().is_some_and(|outputs| outputs.get::<serde_json::Value>("id").is_some());
        let remark = if has_id { "recorded, not found" } else { "asked for, not found" };
        format!("{} ({remark}; removed if it still exists)", entry.spec.title)
    };
    unfound(&snapshot, found).into_iter().map(title).collect()
}

fn remove(args: &Cluster, context: &Context, progress: &Arc<Progress>) -> anyhow::Result<()> {
    let connect = |infra_id: &InfraId, platform: &str, config: Option<&InstallConfig>| {
        site(platform, &context.globals.dir, &context.environment, infra_id, &Boot::default(), config)
    };
    if let Some(infra_id) = &args.infra_id {
        let site = connect(infra_id, args.platform.as_deref().unwrap_or(DEFAULT_PLATFORM), None)?;
        let lost = tempfile::tempdir().context("cannot make a directory for the journal")?;
        let journal = Journal::open(&lost.path().join("journal.sqlite"), infra_id)?;
        return Removal { infra_id, site: &site, journal: &journal, config: None }.carry_out(context, progress);
    }
    let dir = WorkDir::open(&context.globals.dir)?;
    let infra_id = known_id(&dir)?;
    let locked = dir.lock(&context.holder())?;
    let config = config_of(locked.dir());
    let platform = known_platform(args.platform.as_deref(), config.as_ref(), locked.dir());
    let site = connect(&infra_id, &platform, config.as_ref())?;
    let journal = Journal::open(&locked.dir().path(JOURNAL), &infra_id)?;
    Removal { infra_id: &infra_id, site: &site, journal: &journal, config }.carry_out(context, progress)
}

/// The platform: the one that is named, that of the install-config, or that of `metadata.json`.
pub(crate) fn known_platform(named: Option<&str>, config: Option<&InstallConfig>, dir: &WorkDir) -> String {
    let written = || {
        let file = dir.read(METADATA).ok()??;
        let metadata: ClusterMetadata = serde_json::from_slice(&file.contents).ok()?;
        let powervm = metadata.powervm.map(|_| "powervm");
        metadata.packet.map(|_| "packet").or(metadata.powervs.map(|_| "powervs")).or(powervm)
    };
    let known = named.or_else(|| Some(config?.platform.name()));
    known.or_else(written).unwrap_or(DEFAULT_PLATFORM).to_owned()
}

/// The install-config. One that is gone or broken does not keep a cluster from being removed.
pub(crate) fn config_of(dir: &WorkDir) -> Option<InstallConfig> {
    Source::read(dir).ok().map(|source| source.config)
}

/// The infra id as the install directory knows it: by its identity, or by `metadata.json` alone.
pub(crate) fn known_id(dir: &WorkDir) -> anyhow::Result<InfraId> {
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

struct Removal<'a> {
    infra_id: &'a InfraId,
    site: &'a Site,
    journal: &'a Journal,
    config: Option<InstallConfig>,
}

impl Removal<'_> {
    fn carry_out(&self, context: &Context, progress: &Arc<Progress>) -> anyhow::Result<()> {
        let bind = Binder { platform: self.site.bind.clone(), api: None, boot: None };
        let discover = self.site.discover(self.config.as_ref())?;
        let options = Options {
            retry: RetryPolicy::default(),
            removal_timeout: self.config.as_ref().map(|config| config.timeouts.destroy.duration()),
            events: progress.clone(),
            cancel: context.interruptible()?.token(),
        };
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(destroy(&bind, discover.as_ref(), self.journal, &options)).map_err(ClusterError::from)?;
        if let Some(config) = &self.config {
            runtime.block_on(remove_assets(config, self.infra_id, &context.environment))?;
        }
        let removed = progress.removed();
        context.printer.info(match removed.len() {
            0 => format!("nothing carried the mark of {}", self.infra_id),
            1 => format!("1 object removed; nothing of {} is left on its platform", self.infra_id),
            count => format!("{count} objects removed; nothing of {} is left on its platform", self.infra_id),
        });
        progress.result(&Destroyed { outcome: "destroyed", infra_id: self.infra_id, removed });
        Ok(())
    }
}
