//! `landfall create cluster`: from the install-config to nodes that are ready. Run again, it goes on where it stopped.

use std::sync::Arc;

use clap::Args;
use landfall_dns::is_dns;
use landfall_engine::{Journal, Options, Plan, RetryPolicy, Snapshot, State, apply, retire};
use landfall_platform::{FileSet, InfraId, StepId, StepSpec};
use landfall_workdir::WorkDir;
use serde::Serialize;

use super::{Derive, summary};
use crate::{
    cluster::{
        Binder, Boot, ClusterError, JOURNAL, KUBECONFIG, OnProblems, Plans, Progress, Site, Wait, api as waiting_api,
        preflight, require_credentials, site,
    },
    commands::nodes::Nodes,
    context::Context,
    error::Error,
    gather::{Hosts, gather},
    interrupt::Interrupt,
    stages::{Derived, Source, Target},
};

/// Flags of `create cluster`.
#[derive(Args, Debug)]
pub(crate) struct Cluster {
    #[command(flatten)]
    derive: Derive,

    /// Go on even if the platform lacks something that the installation needs
    #[arg(long)]
    skip_preflight: bool,

    /// Address and port to serve what machines boot with, on platforms that need it [default: as the install-config says]
    #[arg(long, value_name = "HOST:PORT")]
    asset_listen: Option<String>,
}

/// The last line for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    outcome: &'static str,
    infra_id: &'a InfraId,
    kubeconfig: String,
    nodes: Nodes<'a>,
}

pub(crate) fn run(args: &Cluster, context: &Context) -> anyhow::Result<()> {
    let progress = Arc::new(Progress::new(context));
    create(args, context, &progress).inspect_err(|error| progress.failed(error))
}

fn create(args: &Cluster, context: &Context, progress: &Arc<Progress>) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    source.notices.iter().for_each(|notice| context.printer.warn(notice));
    require_credentials(source.config.platform.name(), &context.environment)?;
    let interrupt = context.interruptible()?;
    let locked = dir.lock(&context.holder())?;
    refuse_destroyed(locked.dir())?;
    let derived = super::derive_to(Target::IgnitionConfigs, &args.derive, &source, &locked, context, interrupt)?;
    summary::tell_files(context.printer, &derived);
    let infra_id = derived.identity.as_ref().map(|identity| identity.infra_id.clone());
    let infra_id = infra_id.ok_or_else(|| anyhow::anyhow!("the cluster has no infra id"))?;
    let (config, root) = (&source.config, locked.dir().root());
    let runtime = tokio::runtime::Runtime::new()?;
    let (listen, environment) = (args.asset_listen.as_deref(), &context.environment);
    let boot = Boot::prepare(config, &infra_id, root, ignition(&derived), listen, environment);
    let boot = runtime.block_on(boot)?;
    let site = site(config.platform.name(), root, &context.environment, &infra_id, &boot, Some(config))?;
    let dir = locked.dir();
    let installation =
        Installation { source: &source, site: &site, boot: &boot, infra_id: &infra_id, dir, context, progress };
    runtime.block_on(installation.install(args, interrupt))
}

/// What machines are started with, as it is on disk.
fn ignition(derived: &Derived) -> FileSet {
    derived.plans.last().map(landfall_workdir::Plan::effective).unwrap_or_default()
}

/// A directory whose cluster was destroyed stays as it is: its infra id, keys and journal belong to that cluster.
fn refuse_destroyed(dir: &WorkDir) -> anyhow::Result<()> {
    let path = dir.path(JOURNAL);
    if !path.exists() {
        return Ok(());
    }
    let snapshot = Journal::read(&path)?;
    if is_destroyed(&snapshot) {
        return Err(Error::Destroyed { path: dir.root().to_owned(), infra_id: snapshot.infra_id }.into());
    }
    Ok(())
}

/// Whether something was made on the platform and all of it is gone. Records alone come and go with 'landfall dns'.
pub(crate) fn is_destroyed(snapshot: &Snapshot) -> bool {
    has_begun(snapshot) && snapshot.remaining().next().is_none()
}

/// Whether anything of the platform was to be made.
fn has_begun(snapshot: &Snapshot) -> bool {
    snapshot.entries.iter().any(|entry| !is_dns(&entry.spec.kind))
}

/// One installation on its way.
struct Installation<'a> {
    source: &'a Source,
    site: &'a Site,
    boot: &'a Boot,
    infra_id: &'a InfraId,
    dir: &'a WorkDir,
    context: &'a Context,
    progress: &'a Arc<Progress>,
}

impl Installation<'_> {
    async fn install(&self, args: &Cluster, interrupt: &Interrupt) -> anyhow::Result<()> {
        let config = &self.source.config;
        let journal = Journal::open(&self.dir.path(JOURNAL), self.infra_id)?;
        let before = journal.snapshot().await.map_err(Error::Journal)?;
        let facts = tokio::select! {
            facts = preflight(self.site, config, on_problems(args, &before), self.progress) => facts?,
            () = interrupt.token().cancelled_owned() => return Err(Error::Interrupted.into()),
        };
        let api = Arc::new(waiting_api(self.dir, config)?);
        let bind = Binder { platform: self.site.bind.clone(), api: Some(api) };
        let options = Options {
            retry: RetryPolicy::default(),
            removal_timeout: Some(config.timeouts.destroy.duration()),
            events: self.progress.clone(),
            cancel: interrupt.token(),
        };

        let plans = Plans::new(config, self.infra_id, &facts, self.site.public_dns(config).as_ref())?;
        let is_pivoted = is_pivoted(&before, self.site);
        self.boot.publish(!is_pivoted).await?;
        if !is_pivoted {
            self.tell_records()?;
            let applied = apply(&plans.bootstrap, &bind, &journal, &options).await.map_err(ClusterError::from);
            if let Err(ClusterError::Bootstrap(_)) = &applied {
                self.gather().await;
            }
            applied?;
        }
        self.progress.say("the bootstrap machine has done its work");
        let retired: Vec<_> = std::iter::once(&self.site.bootstrap).chain(&self.site.temporary).cloned().collect();
        retire(&retired, &bind, &journal, &options).await.map_err(ClusterError::Retirement)?;
        if let Some(duty) = self.boot.forget_secrets().await? {
            self.progress.say(&duty);
        }
        let lost = self.lost(&plans.last, &journal.snapshot().await.map_err(Error::Journal)?).await?;
        retire(&lost, &bind, &journal, &options).await.map_err(ClusterError::Retirement)?;
        let done = apply(&plans.last, &bind, &journal, &options).await.map_err(ClusterError::from)?;
        if let Some(dns) = self.site.public_dns(config) {
            let named = plans.with_names(config, &dns, &done)?;
            apply(&named, &bind, &journal, &options).await.map_err(ClusterError::from)?;
        }
        self.boot.withdraw().await?;

        // By now it is known where the API is, if it was not before.
        let nodes = waiting_api(self.dir, config)?.nodes().await?;
        self.tell(&nodes)
    }

    /// Steps that are to be done anew, because their machine was taken away (a spot instance, for example) before the cluster
    /// was ready, and those that lead addresses to it. Afterwards machines are the machine controller's matter.
    async fn lost(&self, plan: &Plan, snapshot: &Snapshot) -> anyhow::Result<Vec<StepId>> {
        let is_done = |id: &StepId| snapshot.entry(id).is_some_and(|entry| entry.state == State::Done);
        if is_done(&Wait::all_nodes(&self.source.config).step()) {
            return Ok(Vec::new());
        }
        let there = self.site.machines.list().await?;
        if !there.silent.is_empty() {
            // A machine may be on one of these, and is not lost then.
            let silent = there.silent.join(", ");
            self.progress.say(&format!("nobody knows whether machines are gone: {silent} does not answer"));
            return Ok(Vec::new());
        }
        let is_lost = |id: &StepId| {
            let suffix = id.as_str().strip_prefix("vm/").filter(|_| is_done(id));
            suffix.is_some_and(|suffix| {
                let name = format!("{}-{suffix}", self.infra_id);
                there.machines.iter().all(|machine| machine.name != name)
            })
        };
        let lost: Vec<StepId> = plan.steps().map(|step| step.id.clone()).filter(is_lost).collect();
        for step in &lost {
            self.progress.say(&format!("{} is gone and is made again", step.as_str()));
        }
        let leads = |step: &&StepSpec| step.kind.as_str() == "led" && step.needs.iter().any(|need| lost.contains(need));
        let led: Vec<StepId> =
            plan.steps().filter(leads).map(|step| step.id.clone()).filter(|id| is_done(id)).collect();
        Ok([led, lost].concat())
    }

    /// Records that the user makes.
    fn tell_records(&self) -> anyhow::Result<()> {
        let config = &self.source.config;
        let text = self.site.public_dns(config).map(|dns| dns.by_hand(config)).transpose()?.flatten();
        if let Some(text) = text {
            self.progress.say(&text);
        }
        Ok(())
    }

    /// Collects what there is to know while it can be had. What stands in the way of that is not what the user came for.
    async fn gather(&self) {
        self.progress.say("the control plane does not come up; collecting what there is to know");
        match gather(self.dir, self.infra_id, Ok(self.site), &Hosts::default(), self.context).await {
            Ok(bundle) => self.progress.say(&format!("it is in {}", bundle.display())),
            Err(error) => self.progress.warn(&format!("it could not be collected: {error:#}")),
        }
    }

    fn tell(&self, nodes: &[landfall_cluster::Node]) -> anyhow::Result<()> {
        let kubeconfig = self.dir.path(KUBECONFIG).display().to_string();
        self.context.printer.text(&Nodes(nodes))?;
        self.context.printer.info(format_args!("the cluster is ready; to use it: export KUBECONFIG={kubeconfig}"));
        self.progress.result(&Ready { outcome: "ready", infra_id: self.infra_id, kubeconfig, nodes: Nodes(nodes) });
        Ok(())
    }
}

fn on_problems(args: &Cluster, before: &Snapshot) -> OnProblems {
    match args.skip_preflight {
        true => OnProblems::GoOn,
        false if !has_begun(before) => OnProblems::Stop,
        false => OnProblems::Tell,
    }
}

/// Whether the bootstrap machine has done its work: its removal has begun.
fn is_pivoted(snapshot: &Snapshot, site: &Site) -> bool {
    let state = snapshot.entry(&site.bootstrap).map(|entry| entry.state);
    matches!(state, Some(State::Removing | State::RemoveFailed | State::Removed))
}
