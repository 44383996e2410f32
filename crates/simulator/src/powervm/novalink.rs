//! The hosts as a simulation: requests in, responses out.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::inventory::Inventory;
use super::options::Media;
use super::state::{Due, State};
use super::{api, genesis, guests, operations, storage};
use crate::core::guest::{GuestCommand, GuestEvent};
use crate::core::{Instant, Request, Response, Simulation};

/// Simulated servers, each with a NovaLink.
#[derive(Clone, Debug)]
pub struct NovaLink {
    state: State,
    urls: Vec<String>,
    /// What goes with the last copy of this.
    temporary: Option<Arc<TempDir>>,
}

/// Why a saved world could not be brought back.
#[derive(Debug, thiserror::Error)]
#[error("restore the hosts from their saved state")]
pub struct RestoreError(#[source] serde_json::Error);

impl NovaLink {
    /// The world that `inventory` describes.
    pub fn new(inventory: &Inventory, seed: u64) -> Self {
        Self { state: genesis::create(inventory, seed), urls: Vec::new(), temporary: None }
    }

    /// Goes on from a [`Simulation::snapshot`].
    pub fn restore(snapshot: Value) -> Result<Self, RestoreError> {
        Ok(Self { state: serde_json::from_value(snapshot).map_err(RestoreError)?, urls: Vec::new(), temporary: None })
    }

    /// Says what time of day the simulated time zero stands for.
    #[must_use]
    pub fn with_epoch(mut self, epoch: jiff::Timestamp) -> Self {
        self.state.epoch = epoch;
        self
    }

    /// Says what becomes of optical media some time after a start.
    #[must_use]
    pub fn with_media(mut self, media: Media) -> Self {
        self.state.keeps_media = media == Media::Keep;
        self
    }

    /// Keeps a copy of every optical medium that is uploaded.
    #[must_use]
    pub fn with_copies_of_media(mut self, directory: Option<PathBuf>) -> Self {
        self.state.media_directory = directory;
        self
    }

    /// Says who may log on, where tokens for local users are put, and where the hosts are served.
    #[must_use]
    pub fn with_access(
        mut self,
        user: Option<&str>,
        password: Option<&str>,
        tokens: PathBuf,
        urls: Vec<String>,
    ) -> Self {
        let settings = &mut self.state.settings;
        settings.user = user.map_or_else(|| settings.user.clone(), str::to_owned);
        settings.password = password.map_or_else(|| settings.password.clone(), str::to_owned);
        self.state.token_directory = Some(tokens);
        self.state.secure = urls.first().is_some_and(|url| url.starts_with("https"));
        self.urls = urls;
        self
    }

    /// Keeps a directory for as long as the hosts are there.
    #[must_use]
    pub fn with_temporary(mut self, directory: Option<TempDir>) -> Self {
        self.temporary = directory.map(Arc::new);
        self
    }

    /// Everything as it was when `earlier` was copied, except for who is logged on, what time it is, and where it is served: for tests
    /// that try many things on one world.
    pub fn set_back(&mut self, earlier: &Self) {
        self.state.set_back(&earlier.state);
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.state.hosts.len()
    }
}

impl Simulation for NovaLink {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        self.state.now = now.max(self.state.now);
        api::serve(&mut self.state, request)
    }

    fn hold(&self, arrived: Instant, request: &Request) -> Option<Instant> {
        api::events::hold(&self.state, arrived, request)
    }

    fn advance(&mut self, now: Instant) {
        while self.state.agenda.first().is_some_and(|(at, _, _)| *at <= now) {
            let (at, _, due) = self.state.agenda.remove(0);
            self.state.now = at.max(self.state.now);
            match due {
                Due::Job { host, id } => operations::finish(&mut self.state, host, id),
                Due::Eject { host, partition, medium } => {
                    storage::eject(&mut self.state, host, &partition, &medium);
                }
            }
        }
        self.state.now = now.max(self.state.now);
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.state.agenda.first().map(|(at, _, _)| *at)
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn administer(&mut self, now: Instant, request: &Request) -> Option<Response> {
        self.state.now = now.max(self.state.now);
        super::admin::administer(&mut self.state, request)
    }

    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        std::mem::take(&mut self.state.guest_commands)
    }

    fn guest_event(&mut self, now: Instant, event: GuestEvent) {
        self.state.now = now.max(self.state.now);
        guests::event(&mut self.state, &event);
    }

    fn error_response(&self, request: &Request, status: u16) -> Option<Response> {
        Some(api::injected_fault(&self.state, request, status))
    }

    fn ready(&self, url: &str) -> Map<String, Value> {
        let hosts = self.state.hosts.iter().enumerate().map(|(index, host)| {
            let url = self.urls.get(index).map_or(url, String::as_str);
            json!({"name": host.name, "url": url, "management_partition_id": genesis::MANAGEMENT_PARTITION})
        });
        let mut ready = Map::new();
        ready.insert("user".into(), self.state.settings.user.clone().into());
        ready.insert("password".into(), self.state.settings.password.clone().into());
        ready.insert("hosts".into(), hosts.collect());
        ready
    }
}
