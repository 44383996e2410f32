//! Switching partitions on and off.

use landfall_platform_powervm::compute::{self, Power};
use serde_json::Value;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;

/// Brings a partition into a state of power. There is nothing to undo: what was cut off is asked for again.
pub(crate) async fn power(session: &Session, uuid: Uuid, wish: Power) -> Result<Value, Failure> {
    let host = session.host().await?;
    let done = compute::power(&host, &uuid.into(), wish).await.map_err(Failure::from);
    match (done, wish) {
        (Ok(()), _) => Ok(Value::Null),
        // Who asks twice gets it twice.
        (Err(failure), Power::Reboot | Power::Reset) => Err(failure.after_change()),
        (Err(failure), Power::On | Power::Off | Power::ShutDown) => Err(failure),
    }
}
