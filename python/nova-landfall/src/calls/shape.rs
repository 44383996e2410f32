//! Another shape of a partition.

use landfall_platform_powervm::compute::{self, Growth, Shape};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{Journal, Kind};
use crate::task::Reporter;

/// Gives a partition another shape, and larger disks.
pub(crate) async fn resize(
    session: &Session,
    uuid: Uuid,
    shape: &Shape,
    growths: &[Growth],
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, "shape");
    let run = journal.run(reporter, cancel);
    journal.close(compute::resize(&host, &uuid.into(), shape, growths, &run).await).map(Value::from)
}
