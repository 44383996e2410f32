//! Network adapters of partitions that exist.

use landfall_platform_powervm::compute::{self, Mac, Nic};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{Journal, Kind};
use crate::task::Reporter;

/// Adds a network adapter.
pub(crate) async fn attach(
    session: &Session,
    uuid: Uuid,
    nic: &Nic,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, nic.mac.as_str());
    let run = journal.run(reporter, cancel);
    journal.close(compute::attach_nic(&host, &uuid.into(), nic, &run).await).map(Value::from)
}

/// Takes a network adapter away.
pub(crate) async fn detach(
    session: &Session,
    uuid: Uuid,
    mac: &Mac,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, mac.as_str());
    let run = journal.run(reporter, cancel);
    journal.close(compute::detach_nic(&host, &uuid.into(), mac, &run).await).map(Value::from)
}
