//! `landfall create cluster`: from the install-config to nodes that are ready. Run again, it goes on where it stopped.

use landfall_engine::{Journal, Options, RetryPolicy, State, apply, retire};
use landfall_platform::{FileSet, InfraId};
use landfall_workdir::WorkDir;
use std::sync::Arc;

use super::{Derive, summary};
use crate::{
    cluster::{ClusterError, JOURNAL, KUBECONFIG, Progress, Site, Waiter, site},
    commands::nodes,
    context::Context,
    error::Error,
    interrupt::Interrupt,
    stages::{Derived, Source, Target},
};

pub(crate) fn run(args: &Derive, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    source.notices.iter().for_each(|notice| context.printer.warn(notice));
    let interrupt = context.interruptible()?;
    let locked = dir.lock(&context.holder())?;
    let derived = super::derive_to(Target::IgnitionConfigs, args, &source, &locked, context, &interrupt)?;
    summary::tell(context.printer, Target::IgnitionConfigs, &derived);
    let infra_id = derived.identity.as_ref().map(|identity| identity.infra_id.clone());
    let infra_id = infra_id.ok_or_else(|| anyhow::anyhow!("the cluster has no infra id"))?;
    let ignition = ignition(&derived);
    let site = site(source.config.platform.name(), &context.environment, &infra_id, ignition)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(install(&source, &site, &infra_id, locked.dir(), context, &interrupt))
}

/// What machines are started with, as it is on disk.
fn ignition(derived: &Derived) -> FileSet {
    derived.plans.last().map(landfall_workdir::Plan::effective).unwrap_or_default()
}

async fn install(
    source: &Source,
    site: &Site,
    infra_id: &InfraId,
    dir: &WorkDir,
    context: &Context,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let cancel = interrupt.token();
    let progress = Arc::new(Progress::new(context.printer, context.globals.output, context.globals.quiet));
    let options = Options { retry: RetryPolicy::default(), events: progress.clone(), cancel: cancel.clone() };
    let journal = Journal::open(&dir.path(JOURNAL), infra_id)?;
    let pivoted = is_pivoted(&journal, site).await?;

    let plan = site.plan(&source.config, infra_id, pivoted).await?;
    apply(&plan, site.bind.as_ref(), &journal, &options).await.map_err(ClusterError::from)?;
    let waiter = Waiter::new(dir, &source.config, &progress, cancel)?;
    if !pivoted {
        waiter.bootstrap().await?;
    }
    progress.say("removing the bootstrap machine");
    retire(&[site.bootstrap.clone()], site.bind.as_ref(), &journal, &options).await.map_err(ClusterError::from)?;
    let nodes = waiter.nodes().await?;
    context.printer.report(&nodes::Nodes(&nodes))?;
    let kubeconfig = dir.path(KUBECONFIG);
    context.printer.info(format_args!("the cluster is ready; to use it: export KUBECONFIG={}", kubeconfig.display()));
    Ok(())
}

/// Whether the bootstrap machine has done its work: its removal has begun.
async fn is_pivoted(journal: &Journal, site: &Site) -> Result<bool, Error> {
    let snapshot = journal.snapshot().await.map_err(Error::Journal)?;
    let state = snapshot.entry(&site.bootstrap).map(|entry| entry.state);
    Ok(matches!(state, Some(State::Removing | State::RemoveFailed | State::Removed)))
}
