//! Consoles of partitions.

use std::net::SocketAddr;
use std::path::PathBuf;

use landfall_platform_powervm::compute::{Consoles, PartitionId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;

/// What lets viewers in; it ends with the connection.
pub(crate) struct Relay {
    address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Opens the console of a partition. Where viewers are let in, and what they ask for.
pub(crate) async fn open(
    session: &Session,
    uuid: Uuid,
    listen: SocketAddr,
    commands: Option<PathBuf>,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let id = PartitionId::from(uuid);
    let consoles = Consoles::new(host, commands);
    // To say now what a viewer would not be told: that there is no such partition, or no such command.
    consoles.open(&id).await?;
    let begin = async || {
        let unusable = |error: std::io::Error| Failure::invalid(format!("cannot let viewers in at {listen}: {error}"));
        let relay = consoles.relay(listen).await.map_err(unusable)?;
        let address = relay.address().map_err(unusable)?;
        let serving = tokio::spawn(async move {
            // It ends with the listener only.
            let _ended = relay.serve().await;
        });
        Ok::<_, Failure>(Relay { address, serving })
    };
    let relay = session.relay.get_or_try_init(begin).await?;
    Ok(json!({"port": relay.address.port(), "path": id.as_str()}))
}
