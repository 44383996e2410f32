//! Moving a partition while it runs: each half where it belongs.

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{self, ComingPort, Destination, Nic, Volume};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{Journal, Kind, undo};
use crate::task::Reporter;

/// What a partition that comes needs here.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Needs {
    volumes: Vec<Volume>,
    nics: Vec<Nic>,
    /// Its virtual Fibre Channel ports.
    fibre: Vec<ComingPort>,
    /// The SSH key of the console that it comes from.
    key: Option<String>,
}

/// Prepares this server for a partition that comes. The journal is kept until it has come, or will not come.
pub(crate) async fn expect(
    session: &Session,
    uuid: Uuid,
    needs: &Needs,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Arrival, "");
    let run = journal.run(reporter, cancel);
    let Needs { volumes, nics, fibre, key } = needs;
    match compute::await_arrival(&host, &uuid.into(), volumes, nics, fibre, key.as_deref(), &run).await {
        Ok(prepared) => Ok(json!(prepared)),
        Err(error) => journal.close(Err(error)),
    }
}

/// The partition has come. That cannot be undone, so what still goes wrong is only told.
pub(crate) async fn arrived(session: &Session, uuid: Uuid, reporter: &Reporter) -> Result<Value, Failure> {
    let host = session.host().await?;
    if let Err(error) = compute::settle_arrival(&host, &uuid.into()).await {
        reporter.say("warning", format!("networks after the arrival of {uuid}: {}", error_chain(&error)));
    }
    Journal::new(session, uuid, Kind::Arrival, "").forget();
    Ok(Value::Null)
}

/// The partition does not come: what was prepared for it goes.
pub(crate) async fn give_up(
    session: &Session,
    uuid: Uuid,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Arrival, "");
    if !journal.exists() {
        // Nothing was prepared, or that has failed and is undone.
        return Ok(Value::Null);
    }
    let undone = undo(&host, &uuid.into(), Kind::Arrival, &journal.run(reporter, cancel)).await;
    journal.close(undone).map(|_| Value::Null)
}

/// Whether a partition could leave.
pub(crate) async fn check(session: &Session, uuid: Uuid) -> Result<Value, Failure> {
    let host = session.host().await?;
    compute::check_departure(&host, &uuid.into()).await?;
    Ok(Value::Null)
}

/// Moves a partition to another server. The journal is kept until somebody knows that it has moved.
pub(crate) async fn depart(
    session: &Session,
    uuid: Uuid,
    destination: &Destination,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Departure, "");
    let run = journal.run(reporter, cancel);
    match compute::depart(&host, &uuid.into(), destination, &run).await {
        Ok(()) => Ok(Value::Null),
        Err(error) => journal.close(Err(error)),
    }
}

/// Stops a migration that is under way.
pub(crate) async fn abort(session: &Session, uuid: Uuid) -> Result<Value, Failure> {
    let host = session.host().await?;
    compute::abort_migration(&host, &uuid.into()).await?;
    Ok(Value::Null)
}
