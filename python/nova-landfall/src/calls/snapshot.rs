//! Copies of disks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use landfall_platform_powervm::compute::{self, Devices};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{Journal, Kind};
use crate::task::Reporter;

/// Where the management partition shows its block devices.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Places {
    directory: PathBuf,
    scans: Vec<PathBuf>,
    interval_seconds: f64,
}

/// Copies the first disk of a partition into a file.
pub(crate) async fn snapshot(
    session: &Session,
    uuid: Uuid,
    places: Places,
    file: &Path,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, "snapshot");
    let run = journal.run(reporter, cancel);
    let devices = Devices {
        directory: places.directory,
        scans: places.scans,
        interval: Duration::try_from_secs_f64(places.interval_seconds).unwrap_or(Duration::from_secs(1)),
    };
    journal.close(compute::snapshot(&host, &uuid.into(), &devices, file, &run).await).map(Value::from)
}
