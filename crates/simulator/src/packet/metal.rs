//! The account as a simulation: requests in, responses out.

use serde_json::{Map, Value, json};

use super::call::{BASE, Call};
use super::options::Options;
use super::reply::Refusal;
use super::state::State;
use super::{admin, guests, lifecycle, route};
use crate::core::guest::{GuestCommand, GuestEvent};
use crate::core::{Injection, Instant, Request, Response, Simulation};

/// A simulated account.
#[derive(Debug)]
pub struct Metal {
    state: State,
    options: Options,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    User { read_only: bool },
    Project(String),
}

impl Metal {
    pub(super) fn new(options: &Options, epoch: jiff::Timestamp, mut state: State) -> Self {
        state.epoch = epoch;
        // Guests that boot again are told again.
        state.routes.clear();
        Self { state, options: options.clone() }
    }

    fn at(&mut self, now: Instant) -> &mut State {
        self.state.now = now.max(self.state.now);
        &mut self.state
    }

    /// Who holds a token.
    fn caller(&self, call: &Call) -> Result<Caller, Refusal> {
        let denied = || Refusal::new(401, "Invalid authentication token");
        let token = call.token.as_deref().ok_or_else(denied)?;
        if call.injection == Some(Injection::TokenExpired) {
            return Err(denied());
        }
        if token == self.options.user_key() {
            Ok(Caller::User { read_only: false })
        } else if self.options.read_only_key.as_deref() == Some(token) {
            Ok(Caller::User { read_only: true })
        } else if self.options.project_key.as_deref() == Some(token) {
            let project = self.state.projects.first().map(|project| project.id.clone());
            project.map(Caller::Project).ok_or_else(denied)
        } else {
            Err(denied())
        }
    }
}

impl Simulation for Metal {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        self.at(now);
        let answer = Call::read(request).and_then(|call| {
            let caller = self.caller(&call)?;
            route::answer(&mut self.state, &self.options, &caller, &call)
        });
        guests::update_routes(&mut self.state);
        answer.unwrap_or_else(|refusal| refusal.response())
    }

    fn advance(&mut self, now: Instant) {
        lifecycle::advance(&mut self.state, &self.options, now);
        guests::update_routes(&mut self.state);
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.state.agenda.next()
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn administer(&mut self, now: Instant, request: &Request) -> Option<Response> {
        self.at(now);
        let answer = admin::administer(&mut self.state, request);
        guests::update_routes(&mut self.state);
        answer
    }

    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        std::mem::take(&mut self.state.guest_commands)
    }

    fn guest_event(&mut self, now: Instant, event: GuestEvent) {
        guests::event(self.at(now), event);
        guests::update_routes(&mut self.state);
    }

    fn error_response(&self, _: &Request, status: u16) -> Option<Response> {
        let text = match status {
            401 => "Invalid authentication token",
            403 => "You are not authorized to view this device",
            404 => "Not found",
            429 => "Too many requests",
            500.. => {
                "Oh snap, something went wrong! We've logged the error and will take a look - please reach out to us if you continue having trouble."
            }
            _ => "The request was refused",
        };
        Some(Refusal::new(status, text).response())
    }

    fn ready(&self, url: &str) -> Map<String, Value> {
        let fields = json!({
            "url": format!("{url}{BASE}"),
            "api_key": self.options.user_key(),
            "organization": self.state.organizations.first().map(|organization| &organization.id),
            "project": self.state.projects.first().map(|project| &project.id),
        });
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}
