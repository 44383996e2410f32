//! Running the plan, with what must go on beside it.

use std::{path::Path, sync::Arc, time::Duration};

use landfall_assets::node::paths;
use landfall_engine::{ApplyError, Journal, JournalError, Options, PlanError, RetryPolicy, State, apply};
use landfall_platform::error_chain;
use serde_json::Value;
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    PROGRESS_FILE, Progress, access,
    bind::BootstrapSteps,
    join_material, plan,
    progress::{CONFIG_MAP, Recorder},
};
use crate::{Error, approval, machine::Machine, stored};

/// Why a bootstrap did not come to its end. Running it again goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The plan is not sound.
    #[error("the plan of the bootstrap is not sound")]
    Plan(#[from] PlanError),
    /// The journal cannot be used.
    #[error("the bootstrap's journal cannot be used")]
    Journal(#[from] JournalError),
    /// A step failed.
    #[error("the cluster cannot be brought up")]
    Apply(#[from] ApplyError),
    /// Something else failed.
    #[error(transparent)]
    Machine(#[from] Error),
}

/// Short pauses: a cluster that comes up changes from second to second.
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(500), longest: Duration::from_secs(5) };
/// The last word in the `ConfigMap` is not overtaken by an older one that is still under way.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Where sshd keeps the machine's keys.
const SSH: &str = "/etc/ssh";

/// Brings up the cluster.
pub async fn run(machine: Machine, stop: CancellationToken) -> Result<(), BootstrapError> {
    let plan = plan(&machine.facts)?;
    let infra_id = machine.facts.cluster.infra_id.clone();
    let machine = Arc::new(machine);
    std::fs::create_dir_all(&machine.state).map_err(Error::file("create", &machine.state))?;
    let journal = Journal::open(&machine.state.join("bootstrap.sqlite"), &infra_id)?;

    let known = journal.snapshot().await?;
    let mut progress = Progress::new(&plan);
    progress.mark_done(|id| known.entry(&id.into()).is_some_and(|entry| entry.state == State::Done));
    let (recorder, changes) = Recorder::new(progress, machine.state.join(PROGRESS_FILE), SSH.into());
    let options = Options { retry: RETRY, removal_timeout: None, events: Arc::new(recorder), cancel: stop };

    let steps = BootstrapSteps(Arc::clone(&machine));
    tokio::select! {
        applied = apply(&plan, &steps, &journal, &options) => applied.map(drop)?,
        () = beside(&machine, changes) => {}
    }
    stored::mark(Path::new(paths::BOOTSTRAP_DONE), format!("{}\n", jiff::Timestamp::now()))?;
    tracing::info!("the cluster is up, and needs this machine no more");
    Ok(())
}

/// What goes on for as long as the plan does.
async fn beside(machine: &Machine, changes: watch::Receiver<Option<Value>>) {
    let local = access::local(machine);
    futures::join!(approval::keep_approving(machine, &local), join_material::keep(machine), report(machine, changes));
}

/// Writes progress into the cluster, as far as there is one. Nothing depends on it.
async fn report(machine: &Machine, mut changes: watch::Receiver<Option<Value>>) {
    let local = access::local(machine);
    // waits: a service, which goes on for as long as the plan does
    while changes.changed().await.is_ok() {
        let object = changes.borrow_and_update().clone();
        if let Some(object) = object {
            let write = local.apply("reporting the bootstrap's progress", CONFIG_MAP, &object);
            if let Err(error) = write.await {
                tracing::debug!(error = error_chain(&error), "cannot report progress to the cluster");
            }
        }
        sleep(REPORT_INTERVAL).await;
    }
    std::future::pending::<()>().await;
}
