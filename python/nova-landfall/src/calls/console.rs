//! Consoles of partitions.

use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::path::PathBuf;

use landfall_platform_powervm::compute::{self, Consoles, PartitionId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;

/// What lets viewers in; it ends with the connection.
pub(crate) struct Relay {
    address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl Relay {
    fn begin(relay: compute::Relay) -> std::io::Result<Self> {
        let address = relay.address()?;
        let serving = tokio::spawn(async move {
            // It ends with the listener only.
            let _ended = relay.serve().await;
        });
        Ok(Self { address, serving })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Opens the console of a partition. Where viewers are let in, and what they ask for: nothing at a port that is for it alone.
pub(crate) async fn open(
    session: &Session,
    uuid: Uuid,
    listen: SocketAddr,
    alone: bool,
    commands: Option<PathBuf>,
) -> Result<Value, Failure> {
    let host = session.host().await?;
    let id = PartitionId::from(uuid);
    let mut consoles = Consoles::new(host, commands).for_proxies(session.proxies.clone());
    if let Some(encryption) = &session.encryption {
        consoles = consoles.encrypted(encryption.clone());
    }
    // To say now what a viewer would not be told: that there is no such partition, or no such command.
    consoles.open(&id).await?;
    let unusable = |error: std::io::Error| Failure::invalid(format!("cannot let viewers in at {listen}: {error}"));
    if alone {
        let mut relays = session.relays.lock().await;
        let relay = match relays.entry(uuid) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let relay = consoles.relay_to(&id, SocketAddr::new(listen.ip(), 0)).await;
                place.insert(relay.and_then(Relay::begin).map_err(unusable)?)
            }
        };
        return Ok(json!({"port": relay.address.port(), "path": null}));
    }
    let begin = async || consoles.relay(listen).await.and_then(Relay::begin).map_err(unusable);
    let relay = session.relay.get_or_try_init(begin).await?;
    Ok(json!({"port": relay.address.port(), "path": id.as_str()}))
}
