//! The guest runtime: power on, power button, reset and the plug, on the simulated clock; everything else in tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::admin::{self, Listed};
use super::control::GuestControl;
use super::faults::GuestEffect;
use super::machine::Machine;
use super::options::LightOptions;
use super::saved::SavedWorld;
use super::shared::Shared;
use super::times::Times;
use crate::core::guest::{GuestCommand, GuestEvent, GuestEvents, GuestMachine, GuestRuntime};
use crate::core::{Instant, Request, Response};

/// Guests that do on the network what booting machines do, inside this process: see the [module](super).
pub struct LightGuests {
    times: Times,
    shared: Arc<Shared>,
    runtime: Option<Handle>,
    machines: BTreeMap<String, Power>,
    /// What is about to happen; the number keeps things of the same time in the order in which they were scheduled.
    due: BTreeSet<(Instant, u64, String)>,
    scheduled: u64,
}

/// A machine that is on.
struct Power {
    hardware: Arc<GuestMachine>,
    /// Addresses besides its own that lead to it.
    routes: watch::Sender<BTreeSet<IpAddr>>,
    /// What happens next, and when; a change that is due at another time or under another number has been superseded.
    next: Option<(Instant, u64, Next)>,
    running: Option<Running>,
}

struct Running {
    _task: AbortOnDropHandle<()>,
    booted: Arc<OnceLock<()>>,
}

/// What a machine is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Next {
    Boot,
    PowerOff,
    Reboot,
}

impl Power {
    fn new(hardware: GuestMachine) -> Self {
        Self { hardware: Arc::new(hardware), routes: watch::Sender::default(), next: None, running: None }
    }
}

impl LightGuests {
    /// A runtime with no machines.
    pub fn new(options: &LightOptions) -> Self {
        Self {
            times: options.times,
            shared: Arc::new(Shared::new(options)),
            runtime: None,
            machines: BTreeMap::new(),
            due: BTreeSet::new(),
            scheduled: 0,
        }
    }

    /// A handle to look at the guests and to let them misbehave, which stays valid when the runtime is given away.
    pub fn control(&self) -> GuestControl {
        GuestControl::new(self.shared.clone())
    }

    fn start(&mut self, now: Instant, hardware: GuestMachine) {
        let id = hardware.id.clone();
        self.stop(&id);
        let delay = self.slowed(&hardware.name, self.times.boot);
        self.machines.insert(id.clone(), Power::new(hardware));
        self.schedule(now, delay, &id, Next::Boot);
    }

    fn stop(&mut self, id: &str) {
        if let Some(Power { next: Some((at, number, _)), .. }) = self.machines.remove(id) {
            self.due.remove(&(at, number, id.to_owned()));
        }
    }

    /// The power button and the request to reboot reach only a system that is up.
    fn ask(&mut self, now: Instant, id: &str, next: Next) {
        let Some(power) = self.machines.get(id) else { return };
        if power.running.as_ref().is_some_and(|running| running.booted.get().is_some()) {
            let delay = self.slowed(&power.hardware.name, self.times.shutdown);
            self.schedule(now, delay, id, next);
        } else if let Some(console) = self.shared.console(id) {
            console.print("nobody hears the power button");
        }
    }

    fn slowed(&self, name: &str, duration: Duration) -> Duration {
        slowness(&self.shared.effects(name)).map_or(duration, |factor| duration.mul_f64(factor))
    }

    fn schedule(&mut self, now: Instant, delay: Duration, id: &str, next: Next) {
        let Some(power) = self.machines.get_mut(id) else { return };
        self.scheduled += 1;
        let at = Instant(now.0 + delay);
        if let Some((at, number, _)) = power.next.replace((at, self.scheduled, next)) {
            self.due.remove(&(at, number, id.to_owned()));
        }
        self.due.insert((at, self.scheduled, id.to_owned()));
    }

    fn happen(&mut self, at: Instant, id: &str) -> Option<GuestEvent> {
        let (_, _, next) = self.machines.get_mut(id)?.next.take()?;
        let own_id = || id.to_owned();
        match next {
            Next::Boot => {
                self.boot(id);
                None
            }
            Next::PowerOff => {
                self.machines.remove(id);
                Some(GuestEvent::PoweredOff { id: own_id() })
            }
            Next::Reboot => {
                let power = self.machines.get_mut(id)?;
                power.running = None;
                let delay = self.times.boot;
                self.schedule(at, delay, id, Next::Boot);
                Some(GuestEvent::Rebooting { id: own_id() })
            }
        }
    }

    fn boot(&mut self, id: &str) {
        let Some(power) = self.machines.get_mut(id) else { return };
        // Attached first, so only a runtime that nobody listens to has none.
        let Some(runtime) = &self.runtime else { return };
        let effects = self.shared.effects(&power.hardware.name);
        let mut times = self.times;
        times.speed /= slowness(&effects).unwrap_or(1.0);
        let booted = Arc::new(OnceLock::new());
        let machine = Machine {
            hardware: power.hardware.clone(),
            console: self.shared.open_console(id),
            times,
            effects,
            shared: self.shared.clone(),
            booted: booted.clone(),
            routes: power.routes.subscribe(),
        };
        let task = AbortOnDropHandle::new(runtime.spawn(machine.run()));
        power.running = Some(Running { _task: task, booted });
    }
}

fn slowness(effects: &[GuestEffect]) -> Option<f64> {
    effects.iter().find_map(|effect| match effect {
        GuestEffect::Slow(factor) if *factor > 0.0 => Some(*factor),
        _ => None,
    })
}

impl GuestRuntime for LightGuests {
    fn attach(&mut self, events: GuestEvents) {
        self.runtime = Some(Handle::current());
        // A second attachment would be a second simulator, which does not happen.
        let _ = self.shared.events.set(events);
    }

    fn command(&mut self, now: Instant, command: GuestCommand) {
        match command {
            GuestCommand::Start(machine) => self.start(now, *machine),
            GuestCommand::Shutdown { id } => self.ask(now, &id, Next::PowerOff),
            GuestCommand::Reboot { id } => self.ask(now, &id, Next::Reboot),
            GuestCommand::Stop { id } => self.stop(&id),
            GuestCommand::Route { id, addresses } => {
                if let Some(power) = self.machines.get(&id) {
                    power.routes.send_replace(addresses);
                }
            }
        }
    }

    fn advance(&mut self, now: Instant) -> Vec<GuestEvent> {
        let mut events = Vec::new();
        while self.next_deadline().is_some_and(|at| at <= now) {
            let Some((at, _, id)) = self.due.pop_first() else { break };
            events.extend(self.happen(at, &id));
        }
        events
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(at, ..)| *at)
    }

    fn administer(&mut self, request: &Request) -> Option<Response> {
        let machines = self.machines.iter().map(|(id, power)| Listed {
            id,
            name: &power.hardware.name,
            booted: power.running.as_ref().is_some_and(|running| running.booted.get().is_some()),
        });
        admin::answer(&self.shared, machines, request)
    }

    fn ready(&self) -> serde_json::Map<String, serde_json::Value> {
        let network = self.shared.leases().network().to_string();
        serde_json::Map::from_iter([("guest_network".to_owned(), network.into())])
    }

    fn snapshot(&self) -> serde_json::Value {
        let machines = self.machines.values().map(|power| {
            // A machine that runs boots again when the simulator does.
            let next = power.next.map_or((Instant(Duration::ZERO), Next::Boot), |(at, _, next)| (at, next));
            (GuestMachine::clone(&power.hardware), next)
        });
        serde_json::to_value(SavedWorld::save(machines.collect(), &self.shared)).unwrap_or_default()
    }

    fn restore(&mut self, snapshot: serde_json::Value) -> Result<(), serde_json::Error> {
        let saved: SavedWorld = serde_json::from_value(snapshot)?;
        for (hardware, (at, next)) in saved.restore(&self.shared)? {
            let id = hardware.id.clone();
            self.machines.insert(id.clone(), Power::new(hardware));
            self.schedule(at, Duration::ZERO, &id, if next == Next::Reboot { Next::Boot } else { next });
        }
        Ok(())
    }
}
