//! Undoing what a program that is gone has begun.

use std::sync::Arc;

use super::{
    Host, OperationError, PartitionId, Run,
    operation::{Kind, Operation},
    steps::Binder,
};

/// Undoes what a journal says was begun with a partition, whether it was finished or not. The journal is that of one operation
/// on one server.
pub async fn unwind(host: &Arc<Host>, id: &PartitionId, run: &Run) -> Result<(), OperationError> {
    let binder = Binder::new([Arc::clone(host)]);
    let what = format!("what was begun with partition {id}");
    Operation { kind: Kind::Any, what, partition: id, run }.undo(&binder).await
}
