//! What everything that acts for a cluster shares: the engine, the cluster's machines in it, and the cluster's mark.

use std::{future::Future, sync::Arc, time::Duration};

use landfall_platform::InfraId;

use crate::{Client, Error, Fleet, Mark};

/// A cluster's place in an engine.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) client: Arc<Client>,
    pub(crate) fleet: Fleet,
    pub(crate) mark: Mark,
    interval: Duration,
}

impl Site {
    pub(crate) fn new(client: Arc<Client>, infra_id: &InfraId, interval: Duration) -> Self {
        let fleet = Fleet::new(Arc::clone(&client), infra_id, interval);
        Self { client, fleet, mark: Mark::new(infra_id.clone()), interval }
    }

    /// The error for an object that has the name but not the mark.
    pub(crate) fn foreign(&self, object: String) -> Error {
        Error::Foreign { object, engine: self.client.engine().host() }
    }

    /// The error for an object in a state from which it does not recover by itself.
    pub(crate) fn stuck(&self, object: String, state: impl Into<String>) -> Error {
        Error::State { object, engine: self.client.engine().host(), state: state.into() }
    }

    /// Looks again and again until there is something to return. Whoever waits for machines asks the [`Fleet`] instead.
    pub(crate) async fn until<T, F>(&self, mut look: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Option<T>, Error>>,
    {
        // waits: called by steps, which the engine ends at their limit
        loop {
            if let Some(found) = look().await? {
                return Ok(found);
            }
            tokio::time::sleep(self.interval).await;
        }
    }
}
