//! `landfall plan`: what `create cluster` would do, without touching anything.

use std::fmt;

use clap::Args;
use landfall_platform::{FileSet, StepId};
use landfall_workdir::WorkDir;
use serde::Serialize;

use crate::{cluster::site, context::Context, error::Error, printer::Report, stages::Source};

/// Print the steps of the installation without touching anything.
#[derive(Args, Debug)]
pub(crate) struct Plan {}

#[derive(Serialize)]
#[serde(transparent)]
struct Steps(Vec<Step>);

#[derive(Serialize)]
struct Step {
    id: StepId,
    title: String,
    needs: Vec<StepId>,
    desired: serde_json::Value,
}

impl Report for Steps {}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            write!(f, "{:>4}  {}", number + 1, step.title)?;
            if !step.needs.is_empty() {
                let needs: Vec<_> = step.needs.iter().map(StepId::as_str).collect();
                write!(f, "  after {}", needs.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

pub(crate) fn run(_args: &Plan, context: &Context) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let Some(identity) = dir.identity()? else {
        return Err(Error::NoCluster { path: dir.root().to_owned() }.into());
    };
    let site = site(source.config.platform.name(), &context.environment, &identity.infra_id, FileSet::default())?;
    let plan = tokio::runtime::Runtime::new()?.block_on(site.plan(&source.config, &identity.infra_id, false))?;
    let step = |spec: &landfall_platform::StepSpec| Step {
        id: spec.id.clone(),
        title: spec.title.clone(),
        needs: spec.needs.clone(),
        desired: spec.desired.clone(),
    };
    Ok(context.printer.report(&Steps(plan.steps().map(step).collect()))?)
}
