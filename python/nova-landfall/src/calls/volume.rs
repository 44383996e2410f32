//! Volumes of Cinder.

use landfall_platform_powervm::compute::{self, Fabric, Volume};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::journal::{Journal, Kind};
use crate::task::Reporter;

/// Attaches a volume; its device id.
pub(crate) async fn attach(
    session: &Session,
    uuid: Uuid,
    volume: &Volume,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, &volume.id);
    let run = journal.run(reporter, cancel);
    journal.close(compute::attach_volume(&host, &uuid.into(), volume, &run).await).map(|device| json!(device))
}

/// Detaches a volume.
pub(crate) async fn detach(
    session: &Session,
    uuid: Uuid,
    volume: &Volume,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let journal = Journal::new(session, uuid, Kind::Change, &volume.id);
    let run = journal.run(reporter, cancel);
    journal.close(compute::detach_volume(&host, &uuid.into(), volume, &run).await).map(Value::from)
}

/// Chooses physical ports for virtual ones, and names for those.
pub(crate) async fn assign_fibre_ports(session: &Session, fabrics: &[Fabric]) -> Result<Value, Failure> {
    let ports = compute::assign_fibre_ports(&*session.host().await?, fabrics).await?;
    Ok(json!(ports))
}
