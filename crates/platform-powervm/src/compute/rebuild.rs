//! Making a partition anew, with the same id and name: its disks are made from their images again, its volumes are kept.

use std::sync::Arc;

use super::{Blueprint, Host, OperationError, Run, destroy, spawn};

/// Removes a partition and makes it again. If it cannot be made, nothing of it is left; calling this again makes it.
pub async fn rebuild(host: &Arc<Host>, blueprint: &Blueprint, run: &Run) -> Result<(), OperationError> {
    destroy(host, &blueprint.partition.id, run).await?;
    spawn(host, blueprint, run).await
}
