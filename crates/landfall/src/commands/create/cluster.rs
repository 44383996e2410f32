//! `landfall create cluster`: from the install-config to nodes that are ready. Run again, it goes on where it stopped.

use std::{net::IpAddr, sync::Arc, time::Duration};

use clap::Args;
use landfall_asset_host::Reader;
use landfall_assets as assets;
use landfall_config::InstallConfig;
use landfall_engine::{Journal, Options, Plan, RetryPolicy, Snapshot, State, apply, retire};
use landfall_platform::{FileSet, InfraId, StepId, StepSpec, user_data_step};
use landfall_workdir::{Locked, WorkDir};
use serde::Serialize;
use tokio::{net::lookup_host, time::timeout};

use super::{Derive, summary};
use crate::{
    cluster::{
        ASSET_HOST, Ahead, Binder, Boot, ClusterError, HostRequest, JOURNAL, KUBECONFIG, OnProblems, Plans, Progress,
        Site, Wait, api as waiting_api, api_address, check_certificates, preflight, require_credentials, site,
        with_credentials,
    },
    commands::nodes::Nodes,
    context::Context,
    error::Error,
    gather::{Hosts, gather},
    interrupt::Interrupt,
    pasteable::quote,
    stages::{Derived, Source, Target, freeze, has_begun, secrets},
};

/// Longest time to look the API's name up for the closing advice.
const LOOKUP: Duration = Duration::from_secs(2);

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

    /// Serve the bootstrap config to the first machine that fetches it: for networks that translate the addresses of machines
    #[arg(long)]
    asset_translated: bool,
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
    let derived = super::derive_to(Target::IgnitionConfigs, &args.derive, &source, &locked, context, interrupt)?;
    summary::tell_files(context.printer, &derived);
    let infra_id = derived.identity.as_ref().map(|identity| identity.infra_id.clone());
    let infra_id = infra_id.ok_or_else(|| anyhow::anyhow!("the cluster has no infra id"))?;
    let (config, dir) = (&source.config, locked.dir());
    let runtime = tokio::runtime::Runtime::new()?;
    // Machines that are up fetch nothing any more.
    let frozen = derived.frozen.as_ref().filter(|_| !was_ready(config, dir));
    let told = frozen.map(|frozen| &frozen.told);
    let request = HostRequest { listen: args.asset_listen.as_deref(), told };
    // The release's own config server asks for no credential.
    let own_secrets = if config.distribution.is_openshift() { None } else { secrets(dir, &FileSet::default())? };
    let ignition = match own_secrets {
        Some(secrets) => {
            let cluster = assets::Cluster { config, infra_id: &infra_id };
            with_credentials(ignition(&derived), &cluster, &secrets, context.now)?
        }
        None => ignition(&derived),
    };
    let boot = Boot::prepare(config, &infra_id, dir.root(), ignition, &request, &context.environment);
    let boot = Arc::new(runtime.block_on(boot)?);
    let site = site(config.platform.name(), dir.root(), &context.environment, &infra_id, &boot, Some(config))?;
    boot.admit(if args.asset_translated {
        Reader::First
    } else {
        Reader::Machine { machines: Arc::clone(&site.machines), name: bootstrap_name(&infra_id, &site) }
    });
    let installation = Installation {
        source: &source,
        derived: &derived,
        site: &site,
        boot: &boot,
        infra_id: &infra_id,
        locked: &locked,
        context,
        progress,
    };
    runtime.block_on(installation.install(args, interrupt))
}

/// Returns the name of the bootstrap machine.
fn bootstrap_name(infra_id: &InfraId, site: &Site) -> String {
    let step = site.bootstrap.as_str();
    format!("{infra_id}-{}", step.strip_prefix("vm/").unwrap_or(step))
}

/// What machines are started with, as it is on disk.
fn ignition(derived: &Derived) -> FileSet {
    derived.plans.last().map(landfall_workdir::Plan::effective).unwrap_or_default()
}

/// One installation on its way.
struct Installation<'a> {
    source: &'a Source,
    derived: &'a Derived,
    site: &'a Site,
    boot: &'a Arc<Boot>,
    infra_id: &'a InfraId,
    locked: &'a Locked,
    context: &'a Context,
    progress: &'a Arc<Progress>,
}

impl Installation<'_> {
    fn dir(&self) -> &WorkDir {
        self.locked.dir()
    }

    async fn install(&self, args: &Cluster, interrupt: &Interrupt) -> anyhow::Result<()> {
        let config = &self.source.config;
        let journal = Journal::open(&self.dir().path(JOURNAL), self.infra_id)?;
        let before = journal.snapshot().await.map_err(Error::Journal)?;
        let (ahead, is_begun) = (ahead(config, &before, self.site), self.derived.frozen.is_some());
        check_certificates(self.dir(), config, ahead, is_begun, self.context.now)?;
        let facts = tokio::select! {
            facts = preflight(self.site, config, on_problems(args, &before), self.progress) => facts?,
            () = interrupt.token().cancelled_owned() => return Err(Error::Interrupted.into()),
        };
        let api = Arc::new(waiting_api(self.dir(), config)?);
        let bind = Binder { platform: self.site.bind.clone(), api: Some(api), boot: Some(Arc::clone(self.boot)) };
        let options = Options {
            retry: RetryPolicy::default(),
            removal_timeout: Some(config.timeouts.destroy.duration()),
            events: self.progress.clone(),
            cancel: interrupt.token(),
        };

        let plans = Plans::new(config, self.infra_id, &facts, self.site.public_dns(config).as_ref())?;
        let is_pivoted = is_pivoted(&before, self.site);
        // What the bootstrap machine has read is not put where it was once more.
        self.boot.publish(!is_pivoted && !is_done(&before, &user_data_step())).await?;
        self.freeze(interrupt)?;
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
        let nodes = waiting_api(self.dir(), config)?.nodes().await?;
        self.tell(&nodes).await
    }

    /// Writes down what machines are given, before the first of them is made. Nothing of it changes from now on.
    fn freeze(&self, interrupt: &Interrupt) -> anyhow::Result<()> {
        let Derived { identity: Some(identity), frozen: None, .. } = self.derived else { return Ok(()) };
        let derived = self.derived;
        let mut frozen = freeze(identity, self.source, derived.credentials, &derived.plans, self.context.now);
        frozen.told = self.boot.told().clone();
        if let Some(file) = self.dir().read(ASSET_HOST)? {
            frozen.add_file(ASSET_HOST, file);
        }
        let _held = interrupt.hold();
        Ok(frozen.commit(self.locked)?)
    }

    /// Steps that are to be done anew, because their machine was taken away (a spot instance, for example) before the cluster
    /// was ready, and those that lead addresses to it. Afterwards machines are the machine controller's matter.
    async fn lost(&self, plan: &Plan, snapshot: &Snapshot) -> anyhow::Result<Vec<StepId>> {
        if is_ready(&self.source.config, snapshot) {
            return Ok(Vec::new());
        }
        let is_done = |id: &StepId| is_done(snapshot, id);
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
        match gather(self.dir(), self.infra_id, Ok(self.site), &Hosts::default(), self.context).await {
            Ok(bundle) => self.progress.say(&format!("it is in {}", bundle.display())),
            Err(error) => self.progress.warn(&format!("it could not be collected: {error:#}")),
        }
    }

    async fn tell(&self, nodes: &[landfall_cluster::Node]) -> anyhow::Result<()> {
        let path = self.dir().path(KUBECONFIG);
        // Absolute, so that the line works in any directory.
        let path = std::path::absolute(&path).unwrap_or(path);
        let kubeconfig = path.display().to_string();
        self.context.printer.text(&Nodes(nodes))?;
        self.context
            .printer
            .info(format_args!("the cluster is ready; to use it: export KUBECONFIG={}", quote(&kubeconfig)));
        if let Some(advice) = missing_name(&self.source.config, api_address(self.dir(), &self.source.config)).await {
            self.context.printer.info(advice);
        }
        self.progress.result(&Ready { outcome: "ready", infra_id: self.infra_id, kubeconfig, nodes: Nodes(nodes) });
        Ok(())
    }
}

/// Returns what the user has to do before the kubeconfig works here, if the name in it has no address yet.
async fn missing_name(config: &InstallConfig, address: Option<IpAddr>) -> Option<String> {
    let host = format!("api.{}", config.cluster_domain());
    let known = timeout(LOOKUP, lookup_host((host.as_str(), 6443))).await;
    if known.is_ok_and(|found| found.is_ok_and(|mut addresses| addresses.next().is_some())) {
        return None;
    }
    let record = address.map(|address| format!(", or add this line to /etc/hosts: {address} {host}"));
    Some(format!("kubectl cannot find {host} from here: create its DNS record{}", record.unwrap_or_default()))
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

/// Whether all nodes were ready once.
fn is_ready(config: &InstallConfig, snapshot: &Snapshot) -> bool {
    is_done(snapshot, &Wait::all_nodes(config).step())
}

/// The same as the journal of a directory says.
fn was_ready(config: &InstallConfig, dir: &WorkDir) -> bool {
    Journal::read(&dir.path(JOURNAL)).is_ok_and(|snapshot| is_ready(config, &snapshot))
}

fn is_done(snapshot: &Snapshot, step: &StepId) -> bool {
    snapshot.entry(step).is_some_and(|entry| entry.state == State::Done)
}

fn ahead(config: &InstallConfig, snapshot: &Snapshot, site: &Site) -> Ahead {
    match (is_ready(config, snapshot), is_pivoted(snapshot, site)) {
        (true, _) => Ahead::Nothing,
        (false, true) => Ahead::Nodes,
        (false, false) => Ahead::Everything,
    }
}
