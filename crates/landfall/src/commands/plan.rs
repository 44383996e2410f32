//! `landfall plan`: what `create cluster` would do, without touching anything.

use std::fmt;

use clap::Args;
use landfall_config::InstallConfig;
use landfall_dns::Probe;
use landfall_platform::{InfraId, StepId, StepSpec, bootstrap_step};
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{
    cluster::{Boot, ClusterError, Facts, Look, Plans, Progress, PublicDns, site},
    context::Context,
    printer::Report,
    stages::Source,
};

/// Stands for the random part of an infra id that is not minted yet.
const NOT_MINTED: &str = "xxxxx";

/// Print the steps of the installation without touching anything.
#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Print the steps even if the platform lacks something, or cannot be reached
    #[arg(long)]
    skip_preflight: bool,
}

#[derive(Serialize)]
#[serde(transparent)]
struct Steps(Vec<Step>);

/// A step as it is shown.
#[derive(Serialize)]
pub(crate) struct Step {
    pub(crate) id: StepId,
    pub(crate) title: String,
    pub(crate) needs: Vec<StepId>,
    desired: serde_json::Value,
}

impl Report for Steps {}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|step| step.title.len()).max().unwrap_or_default();
        for (number, step) in self.0.iter().enumerate() {
            let needs: Vec<_> = step.needs.iter().map(StepId::as_str).collect();
            let after = match needs.as_slice() {
                [] => String::new(),
                needs if needs.len() > 4 => format!("after {} and {} others", needs[0], needs.len() - 1),
                needs => format!("after {}", needs.join(", ")),
            };
            writeln!(f, "{}", format!("{:>4}  {:<width$}  {after}", number + 1, step.title).trim_end())?;
        }
        Ok(())
    }
}

pub(crate) fn run(args: &Plan, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let infra_id = infra_id(&dir, &source)?;
    let site = site(
        source.config.platform.name(),
        dir.root(),
        &context.environment,
        &infra_id,
        &Boot::default(),
        Some(&source.config),
    )?;
    let Look { findings, facts } = tokio::runtime::Runtime::new()?.block_on(site.look(&source.config, Probe::ReadOnly));
    Progress::on_stderr(context).preflight(&findings);
    let problems = ClusterError::preflight(&findings).filter(|_| !args.skip_preflight);
    if let Some(facts) = facts.or_else(|| args.skip_preflight.then(|| Facts::assumed(&source.config))) {
        context.printer.report(&Steps(steps(
            &source.config,
            &infra_id,
            &facts,
            site.public_dns(&source.config).as_ref(),
        )?))?;
    }
    problems.map_or(Ok(()), |problems| Err(problems.into()))
}

/// The cluster's infra id, or one like it if it has none yet.
pub(crate) fn infra_id(dir: &WorkDir, source: &Source) -> anyhow::Result<InfraId> {
    match dir.identity()? {
        Some(identity) => Ok(identity.infra_id),
        None => provisional(&source.config.metadata.name),
    }
}

/// An infra id for a cluster that has none yet: long as the real one will be.
fn provisional(name: &str) -> anyhow::Result<InfraId> {
    let minted = InfraId::mint(name, &mut rand::rng());
    let kept = minted.as_str().len() - NOT_MINTED.len();
    Ok(format!("{}{NOT_MINTED}", &minted.as_str()[..kept]).parse()?)
}

/// All steps: those that need the bootstrap machine, its removal, and those that come after.
pub(crate) fn steps(
    config: &InstallConfig,
    infra_id: &InfraId,
    facts: &Facts,
    dns: Option<&PublicDns>,
) -> anyhow::Result<Vec<Step>> {
    let Plans { bootstrap: first, last } = Plans::new(config, infra_id, facts, dns)?;
    let step = |spec: &StepSpec| Step {
        id: spec.id.clone(),
        title: spec.title.clone(),
        needs: spec.needs.clone(),
        desired: spec.desired.clone(),
    };
    let is_last = |spec: &StepSpec| first.dependents(&spec.id).next().is_none();
    let removal = Step {
        id: format!("remove/{}", bootstrap_step()).into(),
        title: "the bootstrap machine is removed".to_owned(),
        needs: first.steps().filter(|spec| is_last(spec)).map(|spec| spec.id.clone()).collect(),
        desired: serde_json::Value::Null,
    };
    let after = last.steps().filter(|spec| first.step(&spec.id).is_none());
    Ok(first.steps().map(step).chain([removal]).chain(after.map(step)).collect())
}
