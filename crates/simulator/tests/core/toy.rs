//! A platform small enough to know all of it: items that become ready after five seconds, and machines with guests.

use std::time::Duration;

use landfall_simulator::core::guest::{GuestCommand, GuestEvent, GuestMachine, GuestNic};
use landfall_simulator::core::{Instant, Options, Request, Response, Running, Simulation, Stage, StartError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const READY_AFTER: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Toy {
    seed: u64,
    items: Vec<Item>,
    machines: Vec<Machine>,
    #[serde(skip)]
    commands: Vec<GuestCommand>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    id: String,
    name: String,
    /// When it becomes ready; `None` if it is.
    ready_at: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Machine {
    name: String,
    up: bool,
    addresses: Vec<String>,
}

impl Toy {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, items: Vec::new(), machines: Vec::new(), commands: Vec::new() }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.items.iter().map(|item| item.name.as_str()).collect()
    }

    fn add_item(&mut self, now: Instant, name: &str) -> Value {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(self.items.len() as u64);
        let id = format!("{:016x}", random.random::<u64>());
        let item = Item { id, name: name.to_owned(), ready_at: Some(Instant(now.0 + READY_AFTER)) };
        let answer = json!(item);
        self.items.push(item);
        answer
    }

    fn add_machine(&mut self, name: &str) -> Value {
        let nics = vec![GuestNic {
            name: "nic0".into(),
            mac: format!("02:00:00:00:00:{:02x}", self.machines.len()),
            network: "lan".into(),
            address: None,
        }];
        self.machines.push(Machine { name: name.to_owned(), up: false, addresses: Vec::new() });
        self.commands.push(GuestCommand::Start(Box::new(GuestMachine {
            id: name.to_owned(),
            name: name.to_owned(),
            hostname: None,
            cpus: 1,
            memory_mib: 512,
            serial: None,
            disks: Vec::new(),
            nics,
            user_data: None,
            boot_script: None,
        })));
        json!({ "name": name })
    }
}

impl Simulation for Toy {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        if let Some(injection) = request.injection {
            return answer(409, &json!({ "injected": injection }));
        }
        let text = String::from_utf8_lossy(&request.body);
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/items") => answer(200, &json!(self.items)),
            ("POST", "/items") => answer(201, &self.add_item(now, &text)),
            ("POST", "/machines") => answer(201, &self.add_machine(&text)),
            ("DELETE", "/items") => {
                self.items.clear();
                answer(200, &json!([]))
            }
            ("GET", "/machines") => answer(200, &json!(self.machines)),
            _ => answer(404, &json!({ "error": "not found" })),
        }
    }

    fn advance(&mut self, now: Instant) {
        for item in self.items.iter_mut().filter(|item| item.ready_at.is_some_and(|at| at <= now)) {
            item.ready_at = None;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.items.iter().filter_map(|item| item.ready_at).min()
    }

    fn snapshot(&self) -> Value {
        json!(self)
    }

    fn administer(&mut self, _: Instant, request: &Request) -> Option<Response> {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/rename") => {
                let name = String::from_utf8_lossy(&request.body).into_owned();
                self.items.iter_mut().for_each(|item| item.name.clone_from(&name));
                Some(answer(200, &json!(self.names())))
            }
            _ => None,
        }
    }

    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        std::mem::take(&mut self.commands)
    }

    fn guest_event(&mut self, _: Instant, event: GuestEvent) {
        let Some(machine) = self.machines.iter_mut().find(|machine| machine.name == event.id()) else { return };
        match event {
            GuestEvent::Booted { .. } => machine.up = true,
            GuestEvent::Addresses { interfaces, .. } => {
                let addresses = interfaces.iter().flat_map(|interface| &interface.addresses);
                machine.addresses = addresses.map(ToString::to_string).collect();
            }
            GuestEvent::Rebooting { .. } | GuestEvent::PoweredOff { .. } => machine.up = false,
            GuestEvent::Announces { .. } => {}
        }
    }

    fn error_response(&self, _: &Request, status: u16) -> Option<Response> {
        Some(answer(status, &json!({ "error": "a toy's error" })))
    }

    fn ready(&self, url: &str) -> serde_json::Map<String, Value> {
        let fields = [("user", json!("admin")), ("url", json!(format!("{url}/items")))];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn answer(status: u16, body: &Value) -> Response {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    Response { status, headers, body: body.to_string().into() }
}

/// Options with a stepped clock.
pub(crate) fn stepped() -> Options {
    Options { time_scale: 0.0, ..Options::default() }
}

pub(crate) async fn try_start(options: &Options) -> Result<Running<Toy>, StartError> {
    let mut stage = Stage::prepare("toy", options).await?;
    let toy = match stage.take_saved_state() {
        Some(saved) => serde_json::from_value(saved).unwrap(),
        None => Toy::new(stage.seed()),
    };
    stage.start(toy, |_| Vec::new())
}

pub(crate) async fn start(options: &Options) -> Running<Toy> {
    try_start(options).await.unwrap()
}

/// A stepped toy with these fault rules.
pub(crate) async fn start_with_faults(rules: &[&str]) -> Running<Toy> {
    start(&Options { faults: rules.iter().map(|rule| rule.parse().unwrap()).collect(), ..stepped() }).await
}
