//! The account as a simulation: requests in, responses out.

use aws_lc_rs::digest;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::agenda::{Due, Event};
use super::call::{Call, SERVICES, Service};
use super::knobs::{Kind, Outcome};
use super::options::Options;
use super::reply::{Answer, Refusal, typical};
use super::state::State;
use super::{admin, balancing, cis, cos, dns_services, guests, iam, lifecycle, power, resources, tags, transit, vpc};
use crate::core::clock::timestamp;
use crate::core::guest::{GuestCommand, GuestEvent};
use crate::core::{Injection, Instant, Request, Response, Simulation};

/// A simulated account.
#[derive(Debug)]
pub struct Cloud {
    pub(super) state: State,
    pub(super) options: Options,
    /// Where names are answered for.
    pub(super) name_server: String,
}

impl Cloud {
    pub(super) fn new(options: &Options, url: &str, name_server: &str, epoch: jiff::Timestamp, state: State) -> Self {
        let mut cloud = Self { state, options: options.clone(), name_server: name_server.to_owned() };
        cloud.state.epoch = epoch;
        url.clone_into(&mut cloud.state.url);
        cloud.state.light = options.guests.kind == crate::guests::Kind::Light;
        cloud
    }

    fn at(&mut self, now: Instant) {
        self.state.now = now.max(self.state.now);
    }

    fn answer(&mut self, call: &Call) -> Answer {
        self.state.slow = match call.injection {
            Some(Injection::SlowState(factor)) => Some(factor),
            _ => None,
        };
        self.state.stuck = call.injection == Some(Injection::StuckLock);
        if call.service == Service::Iam {
            return iam::answer(self, call);
        }
        // Object storage also knows signatures, and object that everybody may read; datacenters are no secret.
        if call.service == Service::Cos {
            return cos::answer(self, call);
        }
        if !power::is_public(call) {
            iam::authenticate(self, call)?;
        }
        match call.service {
            Service::ResourceController | Service::ResourceManager => resources::answer(self, call),
            Service::Catalog => resources::catalog(self, call),
            Service::Tagging => tags::answer(self, call),
            Service::Search => tags::search(self, call),
            Service::Power => power::answer(self, call),
            Service::Vpc => vpc::answer(self, call),
            Service::Transit => transit::answer(self, call),
            Service::Cis => cis::answer(self, call),
            Service::Dns => dns_services::answer(self, call),
            Service::Iam | Service::Cos => Err(Refusal::no_route()),
        }
    }

    fn random(&mut self) -> ChaCha8Rng {
        self.state.ids += 1;
        ChaCha8Rng::seed_from_u64(self.state.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.state.ids)
    }

    /// A new id: a true random UUID in its form.
    pub(super) fn id(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.random().random()).into_uuid().to_string()
    }

    /// New hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut random = self.random();
        (0..digits).filter_map(|_| char::from_digit(random.random_range(0..16), 16)).collect()
    }

    /// A time of the simulated clock as the API writes it.
    pub(super) fn time(&self, at: Instant) -> String {
        let time = timestamp(self.state.epoch, at);
        jiff::Timestamp::from_second(time.as_second()).unwrap_or(time).strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
    }

    /// The present time as the API writes it.
    pub(super) fn time_now(&self) -> String {
        self.time(self.state.now)
    }

    /// The seconds since 1970 of a time of the simulated clock.
    pub(super) fn unix(&self, at: Instant) -> i64 {
        timestamp(self.state.epoch, at).as_second()
    }

    /// Lets something happen when its usual time has passed.
    pub(super) fn later(&mut self, kind: Kind, id: &str, event: Event) {
        let delay = self.options.delay(kind) * self.state.slow.unwrap_or(1);
        if self.state.stuck {
            self.state.held.entry(id.to_owned()).or_default();
        }
        let due = Due { kind, id: id.to_owned(), event };
        self.state.agenda.add(Instant(self.state.now.0 + delay), due);
    }

    /// What becomes of something with a name, if not what was asked for. What fails once fails when this is asked first.
    pub(super) fn outcome(&mut self, kind: Kind, name: &str) -> Option<Outcome> {
        match self.options.outcome(kind, name)? {
            Outcome::FailedOnce => {
                let first = self.state.failed_once.insert(format!("{} {name}", kind.name()));
                first.then_some(Outcome::Failed)
            }
            other => Some(other),
        }
    }

    /// The name of a resource in the whole cloud.
    pub(super) fn crn(&self, service: &str, place: &str, instance: &str, kind: &str, id: &str) -> String {
        format!("crn:v1:bluemix:public:{service}:{place}:a/{}:{instance}:{kind}:{id}", self.state.account)
    }

    /// The same digits for the same text, everywhere and always.
    pub(super) fn fixed_hex(text: &str, digits: usize) -> String {
        let digest = digest::digest(&digest::SHA256, text.as_bytes());
        let mut hex = crate::core::hex::encode(digest.as_ref());
        hex.truncate(digits);
        hex
    }
}

impl Simulation for Cloud {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        self.at(now);
        let answer = Call::read(request).and_then(|call| self.answer(&call));
        let trace = Self::fixed_hex(&format!("{}{}", self.state.ids, self.state.now.0.as_nanos()), 32);
        let (service, _) = Service::of(&request.path);
        let mut response = answer.unwrap_or_else(|refusal| refusal.response(service, &trace));
        for name in ["x-correlation-id", "transaction-id"] {
            response.headers.push((name.to_owned(), trace.clone()));
        }
        response
    }

    fn advance(&mut self, now: Instant) {
        while let Some((at, due)) = self.state.agenda.pop(now) {
            self.at(at);
            self.state.slow = None;
            self.state.stuck = false;
            match self.state.held.get_mut(&due.id) {
                Some(held) => held.push(due),
                None => lifecycle::happen(self, &due),
            }
        }
        self.at(now);
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.state.agenda.next()
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn administer(&mut self, now: Instant, request: &Request) -> Option<Response> {
        self.at(now);
        admin::administer(self, request)
    }

    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        std::mem::take(&mut self.state.guest_commands)
    }

    fn guest_event(&mut self, now: Instant, event: GuestEvent) {
        self.at(now);
        guests::event(self, &event);
    }

    fn error_response(&self, request: &Request, status: u16) -> Option<Response> {
        let (service, _) = Service::of(&request.path);
        Some(typical(service, status).response(service, "00000000000000000000000000000000"))
    }

    fn ready(&self, url: &str) -> Map<String, Value> {
        let services: Map<String, Value> =
            SERVICES.iter().map(|(name, _, base)| ((*name).to_owned(), format!("{url}{base}").into())).collect();
        let of_service = |service: &str| self.state.instances.values().find(|instance| instance.service == service);
        let group = self.state.groups.first();
        let fields = json!({
            "url": url,
            "services": services,
            "api_key": self.options.owner_key(),
            "account": self.state.account,
            "resource_group": group.map(|group| &group.name),
            "resource_group_id": group.map(|group| &group.id),
            "zone": "dal10",
            "region": "dal",
            "vpc_region": "us-south",
            "cos_region": "us-south",
            "zones": self.options.domains(),
            "cis_crn": of_service("internet-svcs").map(|instance| &instance.crn),
            "dns_crn": of_service("dns-svcs").map(|instance| &instance.crn),
            "dns_instance": of_service("dns-svcs").map(|instance| &instance.guid),
            "name_server": self.name_server,
        });
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

impl Cloud {
    /// What load balancers listen on, and where what comes there goes.
    pub(super) fn frontends(&self) -> balancing::Frontends {
        balancing::frontends(self)
    }
}
