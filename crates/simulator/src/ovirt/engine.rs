//! The engine as a simulation: requests in, responses out.

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::admin;
use super::api::serve;
use super::genesis;
use super::http;
use super::imageio::{Denied, Format, Images, Progress, Ticket};
use super::inventory::{Inventory, InventoryError};
use super::lifecycle::{self, guests};
use super::model::{Direction, DiskFormat, Phase};
use super::services;
use super::sso;
use super::state::State;
use crate::core::guest::{GuestCommand, GuestEvent};
use crate::core::{Instant, Request, Response, Simulation};

/// A simulated oVirt engine.
#[derive(Debug)]
pub struct Engine {
    state: State,
    certificates: Option<Certificates>,
}

/// The certificates that an engine hands out, in PEM.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// That of the authority.
    pub authority: String,
    /// Its own.
    pub own: String,
}

/// Why a saved engine could not be brought back.
#[derive(Debug, thiserror::Error)]
#[error("restore the engine from its saved state")]
pub struct RestoreError(#[source] serde_json::Error);

impl Engine {
    /// An engine with the world that `inventory` describes.
    pub fn new(inventory: &Inventory, seed: u64) -> Result<Self, InventoryError> {
        Ok(Self { state: genesis::create(inventory, seed)?, certificates: None })
    }

    /// An engine that goes on from a [`Simulation::snapshot`].
    pub fn restore(snapshot: Value) -> Result<Self, RestoreError> {
        let mut state: State = serde_json::from_value(snapshot).map_err(RestoreError)?;
        state.share_configurations();
        Ok(Self { state, certificates: None })
    }

    /// Says what time of day the simulated time zero stands for.
    #[must_use]
    pub fn with_epoch(mut self, epoch: jiff::Timestamp) -> Self {
        self.state.epoch = epoch;
        self
    }

    /// Gives the engine the certificates that it hands out.
    #[must_use]
    pub fn with_certificates(mut self, certificates: Option<Certificates>) -> Self {
        self.certificates = certificates;
        self
    }

    /// Gives the administrator another name or password than the inventory does.
    #[must_use]
    pub fn with_administrator(mut self, login: Option<&str>, password: Option<&str>) -> Self {
        let administrator =
            self.state.users.iter().find(|user| self.state.is_administrator(user.id)).map(|user| user.id);
        if let Some(user) = administrator.and_then(|id| self.state.users.get_mut(id)) {
            user.login = login.map_or_else(|| user.login.clone(), Into::into);
            user.password = password.map_or_else(|| user.password.clone(), Into::into);
        }
        self
    }

    /// Gives the engine the store that its images are kept in, and the URLs (without a path) at which it is served.
    #[must_use]
    pub fn with_images(mut self, images: Arc<dyn Images>, transfer_url: &str, proxy_url: &str) -> Self {
        self.state.images = super::state::ImageStore(images);
        transfer_url.clone_into(&mut self.state.settings.transfer_url);
        proxy_url.clone_into(&mut self.state.settings.proxy_url);
        self
    }

    /// What the ticket with this id allows now.
    pub fn authorize(&self, ticket: &str) -> Result<Ticket, Denied> {
        let id = Uuid::try_parse(ticket).map_err(|_| Denied::Unknown)?;
        let transfer = self.state.transfers.iter().find(|transfer| transfer.ticket == Some(id));
        let transfer = transfer.ok_or(Denied::Unknown)?;
        match transfer.phase {
            Phase::Transferring => {}
            Phase::PausedSystem | Phase::Resuming | Phase::CancelledSystem => return Err(Denied::Expired(transfer.id)),
            Phase::PausedUser | Phase::CancelledUser => return Err(Denied::Cancelled(transfer.id)),
            _ => return Err(Denied::Unknown),
        }
        let disk = self.state.disks.get(transfer.disk).ok_or(Denied::Unknown)?;
        let format = |format| if format == DiskFormat::Cow { Format::Cow } else { Format::Raw };
        Ok(Ticket {
            transfer: transfer.id,
            image: disk.id,
            virtual_size: disk.provisioned_bytes,
            disk_format: format(disk.format),
            transfer_format: format(transfer.format),
            write: transfer.direction == Direction::Upload,
        })
    }

    /// Takes note of what was done with a ticket.
    pub fn report(&mut self, now: Instant, ticket: &str, progress: Progress) {
        let Ok(id) = Uuid::try_parse(ticket) else { return };
        let transfer = self.state.transfers.iter_mut().find(|transfer| transfer.ticket == Some(id));
        if let Some(transfer) = transfer.filter(|transfer| transfer.phase == Phase::Transferring) {
            transfer.transferred_bytes = progress.transferred;
            transfer.active = progress.active;
            transfer.touched = now;
        }
    }

    fn at(&mut self, now: Instant) -> &mut State {
        self.state.now = now.max(self.state.now);
        &mut self.state
    }
}

impl Simulation for Engine {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        self.at(now);
        let Self { state, certificates } = self;
        let Some(path) = request.path.strip_prefix("/ovirt-engine") else {
            return http::html(404, "Not Found", "The requested page does not exist.");
        };
        let within =
            |prefix: &str| path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with(['/', ';']));
        if let Some(rest) = within("/api") {
            serve::serve(state, request, rest)
        } else if let Some(rest) = within("/sso") {
            sso::handle(state, request, rest)
        } else if let Some(rest) = within("/services") {
            services::handle(state, request, rest, certificates.as_ref())
        } else if matches!(path, "" | "/") {
            services::welcome(request)
        } else {
            http::html(404, "Not Found", "The requested page does not exist.")
        }
    }

    fn advance(&mut self, now: Instant) {
        lifecycle::advance(&mut self.state, now);
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.state.agenda.next()
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn administer(&mut self, now: Instant, request: &Request) -> Option<Response> {
        admin::administer(self.at(now), request)
    }

    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        std::mem::take(&mut self.state.guest_commands)
    }

    fn guest_event(&mut self, now: Instant, event: GuestEvent) {
        guests::event(self.at(now), &event);
    }

    fn error_response(&self, request: &Request, status: u16) -> Option<Response> {
        request.path.starts_with(serve::BASE).then(|| serve::injected_fault(request, status))
    }

    fn ready(&self, url: &str) -> Map<String, Value> {
        let mut ready = Map::new();
        ready.insert("url".into(), format!("{url}{}", serve::BASE).into());
        if let Some(user) = self.state.users.iter().find(|user| self.state.is_administrator(user.id)) {
            ready.insert("user".into(), (*user.login).into());
            ready.insert("password".into(), (*user.password).into());
        }
        ready
    }
}

#[cfg(test)]
impl Engine {
    /// What is behind the door, for tests that check what clients cannot see.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }
}
