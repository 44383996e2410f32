//! `landfall wait-for`: waits that an earlier run began. They change nothing, so they may run beside anything else.

use clap::Subcommand;
use landfall_cluster::Node;
use landfall_engine::{Event, EventSink as _, Phase};
use landfall_platform::StepError;
use landfall_workdir::WorkDir;
use serde::Serialize;
use tokio::time::Instant;

use crate::{
    cluster::{ClusterError, Progress, Wait, api},
    commands::nodes::Nodes,
    context::Context,
    error::Error,
    stages::Source,
};

/// Wait for a cluster that is being installed.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum WaitFor {
    /// Until the control plane is on the masters
    BootstrapComplete,
    /// Until all nodes are ready
    InstallComplete,
}

/// The last line for programs.
#[derive(Serialize)]
struct Complete<'a> {
    outcome: &'static str,
    nodes: Nodes<'a>,
}

pub(crate) fn run(what: WaitFor, context: &Context) -> anyhow::Result<()> {
    let progress = Progress::new(context);
    wait(what, context, &progress).inspect_err(|error| progress.failed(error))
}

fn wait(what: WaitFor, context: &Context, progress: &Progress) -> anyhow::Result<()> {
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let cancel = context.interruptible()?.token();
    let waits = match what {
        WaitFor::BootstrapComplete => vec![Wait::Api, Wait::Bootstrap],
        WaitFor::InstallComplete => vec![Wait::Api, Wait::Bootstrap, Wait::all_nodes(&source.config)],
    };
    let nodes = tokio::runtime::Runtime::new()?.block_on(async {
        let api = api(&dir, &source.config)?;
        let mut nodes = Vec::new();
        for wait in waits {
            tokio::select! {
                seen = one(wait, &api, &source, progress) => nodes = seen?,
                () = cancel.cancelled() => return Err(anyhow::Error::from(Error::Interrupted)),
            }
        }
        Ok(nodes)
    })?;
    if let WaitFor::InstallComplete = what {
        context.printer.text(&Nodes(&nodes))?;
    }
    progress.result(&Complete { outcome: "complete", nodes: Nodes(&nodes) });
    Ok(())
}

async fn one(
    wait: Wait,
    api: &landfall_cluster::Api,
    source: &Source,
    progress: &Progress,
) -> Result<Vec<Node>, ClusterError> {
    let (step, began) = (wait.step(), Instant::now());
    let (phase, title) = (Phase::Ensure, wait.title().to_owned());
    progress.event(&Event::Started { step: step.clone(), title, phase });
    let tell = |message| progress.event(&Event::Progress { step: step.clone(), message });
    match wait.until(api, wait.limit(&source.config), &tell).await {
        Ok(nodes) => {
            progress.event(&Event::Finished { step, phase, took: began.elapsed() });
            Ok(nodes)
        }
        Err(error) => {
            let error = StepError::new(error.class(), error);
            Err(if let Wait::Nodes(_) = wait {
                ClusterError::Initialisation(error)
            } else {
                ClusterError::Bootstrap(error)
            })
        }
    }
}
