//! `landfall dns`: the public DNS records of a cluster, for those who want only this part.

use std::{fmt, net::IpAddr, sync::Arc};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_assets::Cluster;
use landfall_config::InstallConfig;
use landfall_dns::{Binder, Data, NameError, Probe, Service, is_dns, manual};
use landfall_engine::{Journal, Options, PlanBuilder, Record, RetryPolicy, apply, destroy, retire};
use landfall_platform::{Finding, InfraId, StepId, StepSpec};
use landfall_workdir::{INSTALL_CONFIG, WorkDir};
use serde::Serialize;

use super::plan;
use crate::{
    cluster::{ClusterError, JOURNAL, Progress, PublicDns, dns_binder},
    context::Context,
    error::Error,
    printer::Report,
    stages::{KitSource, Source},
};

/// Look after the public DNS records of a cluster, and nothing else.
#[derive(Debug, Subcommand)]
pub(crate) enum Dns {
    /// Print the records that the cluster needs, and look whether they can be made
    Check(Check),
    /// Make the records, and wait until they are visible
    Apply,
    /// Remove the records of the cluster, and no others
    Remove(Remove),
}

/// Flags of `dns check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Do not make and remove a record to see whether the credentials may
    #[arg(long)]
    read_only: bool,
}

/// Flags of `dns remove`.
#[derive(Args, Debug)]
pub(crate) struct Remove {
    /// Infra id of the cluster, if only its install-config is left
    #[arg(long, value_name = "ID")]
    infra_id: Option<InfraId>,
}

/// What `dns check` found.
#[derive(Serialize)]
struct Checked {
    records: manual::Records,
    findings: Vec<Finding>,
}

impl Report for Checked {}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.records, self.records.zone_snippet())
    }
}

/// The last line for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    outcome: &'static str,
    infra_id: &'a InfraId,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

pub(crate) fn run(command: &Dns, context: &Context) -> anyhow::Result<()> {
    match command {
        Dns::Check(args) => check(args, context),
        Dns::Apply => apply_records(context, |_| Ok(Vec::new())),
        Dns::Remove(args) => {
            let progress = Arc::new(Progress::new(context));
            remove(args, context, &progress).inspect_err(|error| progress.failed(error))
        }
    }
}

/// The records of the cluster of an install directory.
struct Records {
    config: InstallConfig,
    infra_id: InfraId,
    dns: PublicDns,
    binder: Binder,
}

impl Records {
    fn new(dir: &WorkDir, infra_id: InfraId, context: &Context) -> anyhow::Result<Self> {
        let source = Source::read(dir)?;
        let binder = dns_binder(&infra_id, &context.environment);
        let no_dns = || Error::NoDns { path: dir.path(INSTALL_CONFIG) };
        let dns = PublicDns::of(&source.config, dir.root(), &binder).ok_or_else(no_dns)?;
        Ok(Self { config: source.config, infra_id, dns, binder })
    }
}

fn check(args: &Check, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let infra_id = plan::infra_id(&dir, &Source::read(&dir)?)?;
    let Records { config, dns, .. } = Records::new(&dir, infra_id, context)?;
    let probe = if args.read_only { Probe::ReadOnly } else { Probe::Write };
    let findings = tokio::runtime::Runtime::new()?.block_on(dns.look(&config, probe));
    Progress::on_stderr(context).preflight(&findings);
    let problems = ClusterError::preflight(&findings);
    let records = manual::records(&config, &dns.service)?;
    context.printer.report(&Checked { records, findings })?;
    problems.map_or(Ok(()), |problems| Err(problems.into()))
}

fn known_id(dir: &WorkDir) -> anyhow::Result<InfraId> {
    let identity = dir.identity()?.ok_or_else(|| Error::NoIdentity { path: dir.root().to_owned() })?;
    Ok(identity.infra_id)
}

/// Makes all records of the kit: those of the cluster, of the machines in its inventory, and what the distribution wants besides.
pub(crate) fn apply_kit(context: &Context) -> anyhow::Result<()> {
    apply_records(context, |records| {
        let dir = WorkDir::open(&context.globals.dir)?;
        let cluster = Cluster { config: &records.config, infra_id: &records.infra_id };
        let kit = KitSource::read(&dir, &cluster)?;
        let wanted = landfall_upi::records(&cluster, &kit.inventory);
        let wanted = wanted.iter().map(|record| Ok((record.name.parse()?, data(&record.value)?)));
        let wanted = wanted.collect::<Result<Vec<_>, NameError>>()?;
        Ok(landfall_dns::record_steps(&records.config, &records.dns.service, wanted)?)
    })
}

fn data(value: &landfall_upi::Value) -> Result<Data, NameError> {
    use landfall_upi::Value;
    Ok(match value {
        Value::Address(IpAddr::V4(address)) => Data::A(*address),
        Value::Address(IpAddr::V6(address)) => Data::Aaaa(*address),
        Value::Pointer(name) => Data::Ptr(name.parse()?),
        Value::Service { port, host } => {
            Data::Srv(Service { priority: Value::PRIORITY, weight: Value::WEIGHT, port: *port, host: host.parse()? })
        }
    })
}

/// Makes the records of the cluster, and others with them.
fn apply_records(context: &Context, others: impl Fn(&Records) -> anyhow::Result<Vec<StepSpec>>) -> anyhow::Result<()> {
    let progress = Arc::new(Progress::new(context));
    make(context, &progress, others).inspect_err(|error| progress.failed(error))
}

fn make(
    context: &Context,
    progress: &Arc<Progress>,
    others: impl Fn(&Records) -> anyhow::Result<Vec<StepSpec>>,
) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let records = Records::new(&dir, known_id(&dir)?, context)?;
    let options = options(&records.config, context, progress)?;
    let locked = dir.lock(&context.holder())?;
    let journal = Journal::open(&locked.dir().path(JOURNAL), &records.infra_id)?;
    let mut builder = PlanBuilder::default();
    for step in records.dns.steps(&records.config, None)?.into_iter().chain(others(&records)?) {
        builder.step(step);
    }
    let plan = builder.build().context("the plan of the records is not sound")?;
    if let Some(text) = records.dns.by_hand(&records.config)? {
        progress.say(&text);
    }
    let applied = tokio::runtime::Runtime::new()?.block_on(async {
        // What was made before may have changed since, and this command is how to put it right.
        for step in plan.steps() {
            journal.record(step.id.clone(), Record::EnsureBegins(Box::new(step.clone()))).await?;
        }
        apply(&plan, &records.binder, &journal, &options).await
    });
    applied.map_err(ClusterError::from)?;
    progress.result(&Ended { outcome: "applied", infra_id: &records.infra_id, removed: Vec::new() });
    Ok(())
}

fn remove(args: &Remove, context: &Context, progress: &Arc<Progress>) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let infra_id = args.infra_id.clone().map_or_else(|| known_id(&dir), Ok)?;
    let records = Records::new(&dir, infra_id, context)?;
    let options = options(&records.config, context, progress)?;
    let discovery = records.dns.discovery(&records.config)?;
    let lost = tempfile::tempdir().context("cannot make a directory for the journal")?;
    let searched = Journal::open(&lost.path().join("journal.sqlite"), &records.infra_id)?;
    let locked = args.infra_id.is_none().then(|| dir.lock(&context.holder())).transpose()?;
    let open = |dir: &WorkDir| Journal::open(&dir.path(JOURNAL), &records.infra_id);
    let journal = locked.as_ref().map(|locked| open(locked.dir())).transpose()?;
    tokio::runtime::Runtime::new()?
        .block_on(async {
            if let Some(journal) = &journal {
                let known = journal.snapshot().await?;
                let steps = known.remaining().filter(|entry| is_dns(&entry.spec.kind));
                let steps: Vec<StepId> = steps.map(|entry| entry.spec.id.clone()).collect();
                retire(&steps, &records.binder, journal, &options).await?;
            }
            // What the journal does not know: records of an earlier install-config, or of a lost directory.
            destroy(&records.binder, discovery.as_ref(), &searched, &options).await
        })
        .map_err(ClusterError::from)?;
    let removed = progress.removed();
    progress.result(&Ended { outcome: "removed", infra_id: &records.infra_id, removed });
    Ok(())
}

fn options(config: &InstallConfig, context: &Context, progress: &Arc<Progress>) -> anyhow::Result<Options> {
    Ok(Options {
        retry: RetryPolicy::default(),
        removal_timeout: Some(config.timeouts.destroy.duration()),
        events: progress.clone(),
        cancel: context.interruptible()?.token(),
    })
}

#[cfg(test)]
mod tests {
    use landfall_upi::Value;

    use super::*;

    #[test]
    fn what_is_applied_says_what_the_files_of_the_kit_say() {
        for value in [
            Value::Address([192, 0, 2, 5].into()),
            Value::Address("2001:db8::5".parse().unwrap()),
            Value::Pointer("api.demo.example.com".to_owned()),
            Value::Service { port: 2380, host: "etcd-0.demo.example.com".to_owned() },
        ] {
            let data = data(&value).unwrap();
            assert_eq!((data.kind().as_str(), data.to_string()), (value.kind(), value.to_string()));
        }
    }
}
