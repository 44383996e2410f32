//! From the making of a partition to its end.

use landfall_platform_powervm::compute;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{self, Journal, Kind};
use crate::machine::Machine;
use crate::task::Reporter;

/// Makes a partition. Unless that is complete, its journal is kept: the next call goes on with it, and if none comes, it is undone.
pub(crate) async fn spawn(
    session: &Session,
    machine: Machine,
    complete: bool,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let journal = Journal::new(session, machine.uuid, Kind::Lifetime, "");
    let blueprint = machine.blueprint()?;
    let host = session.host().await?;
    let outcome = compute::spawn(&host, &blueprint, &journal.run(reporter, cancel)).await;
    if outcome.is_ok() && !complete {
        return Ok(Value::Null);
    }
    journal.close(outcome).map(Value::from)
}

/// Makes a partition over disks that exist.
pub(crate) async fn adopt(
    session: &Session,
    machine: Machine,
    complete: bool,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let journal = Journal::new(session, machine.uuid, Kind::Change, "adopt");
    let blueprint = machine.blueprint()?;
    let host = session.host().await?;
    let outcome = compute::adopt(&host, &blueprint, &journal.run(reporter, cancel)).await;
    if outcome.is_ok() && !complete {
        return Ok(Value::Null);
    }
    journal.close(outcome).map(Value::from)
}

/// Removes a partition; without its disks if they are somebody else's now.
pub(crate) async fn destroy(
    session: &Session,
    uuid: Uuid,
    with_disks: bool,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let id = uuid.into();
    // Nobody is let in to its console any more.
    session.relays.lock().await.remove(&uuid);
    if with_disks {
        // What failed and could not be undone goes with the instance: nobody looks for it later. Now, because a disk that is shown to
        // somebody cannot be deleted, and after it for what could only be undone without it.
        if let Err(failure) = journal::settle(session, uuid, reporter, cancel).await {
            reporter.say("warning", format!("is tried again without the partition: {}", failure.message()));
        }
        let journal = Journal::new(session, uuid, Kind::Lifetime, "");
        journal.close(compute::destroy(&host, &id, &journal.run(reporter, cancel)).await)?;
        return journal::settle(session, uuid, reporter, cancel).await.map(Value::from);
    }
    let journal = Journal::new(session, uuid, Kind::Change, "adopt");
    journal.close(compute::confirm_migration(&host, &id, &journal.run(reporter, cancel)).await)?;
    // Somebody may have tried before to remove it with its disks.
    Journal::new(session, uuid, Kind::Lifetime, "").forget();
    Ok(Value::Null)
}
