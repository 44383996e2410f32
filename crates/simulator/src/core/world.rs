//! A simulation with its clock and its guests, shared by everything that may touch it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::clock::Clock;
use super::guest::{GuestEvent, GuestEvents, GuestRuntime};
use super::simulation::{Instant, Request, Response, Simulation};

/// How often the same point in time may become due before the simulation counts as broken.
const MAX_TURNS_AT_ONE_INSTANT: usize = 10_000;

/// A simulation, its guests and its clock under one lock.
///
/// Whatever order calls arrive in, the simulation sees time go forward, and sees everything that is due before it sees
/// the next call.
pub struct World<S> {
    shared: Arc<Shared<S>>,
}

impl<S> Clone for World<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

struct Shared<S> {
    state: Mutex<State<S>>,
    /// Counts the changes; who waits for a deadline, a step or something to save watches it.
    revision: watch::Sender<u64>,
}

struct State<S> {
    simulation: S,
    guests: Box<dyn GuestRuntime>,
    clock: Clock,
}

/// What the whole world is at one moment, for the state file.
pub(super) struct WorldSnapshot {
    pub(super) revision: u64,
    pub(super) now: Instant,
    pub(super) simulation: serde_json::Value,
    pub(super) guests: serde_json::Value,
}

/// How far [`World::run_until_idle`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The time it stopped at.
    pub now: Instant,
    /// Whether nothing is pending any more; if not, the limit was reached.
    pub idle: bool,
}

impl<S: Simulation> World<S> {
    /// Puts a simulation and its guests on a clock; the receiver yields what guests report from tasks of their own.
    pub(super) fn new(
        simulation: S,
        mut guests: Box<dyn GuestRuntime>,
        clock: Clock,
    ) -> (Self, mpsc::UnboundedReceiver<GuestEvent>) {
        let (events, reported) = GuestEvents::channel();
        guests.attach(events);
        let state = Mutex::new(State { simulation, guests, clock });
        (Self { shared: Arc::new(Shared { state, revision: watch::Sender::new(0) }) }, reported)
    }

    /// Calls into the simulation at the present time, after everything that was due.
    pub fn with<R>(&self, call: impl FnOnce(&mut S, Instant) -> R) -> R {
        self.call(true, call)
    }

    /// As [`World::with`], for calls that change nothing worth saving; what they schedule still happens.
    pub(super) fn with_unchanged<R>(&self, call: impl FnOnce(&mut S, Instant) -> R) -> R {
        self.call(false, call)
    }

    /// Looks at the simulation at the present time, after everything that was due.
    pub fn view<R>(&self, look: impl FnOnce(&S, Instant) -> R) -> R {
        self.with_unchanged(|simulation, now| look(simulation, now))
    }

    /// Lets the simulation answer a request.
    pub fn handle(&self, request: &Request) -> Response {
        self.call(!request.is_safe(), |simulation, now| simulation.handle(now, request))
    }

    /// Lets the guest runtime answer a request of the admin endpoint.
    pub(super) fn administer_guests(&self, request: &Request) -> Option<Response> {
        self.lock().guests.administer(request)
    }

    /// What the guest runtime adds to the ready line.
    pub(super) fn guests_ready(&self) -> serde_json::Map<String, serde_json::Value> {
        self.lock().guests.ready()
    }

    fn call<R>(&self, changes: bool, call: impl FnOnce(&mut S, Instant) -> R) -> R {
        let mut state = self.lock();
        let before = state.next_deadline();
        let now = state.settle_now();
        let result = call(&mut state.simulation, now);
        state.command_guests(now);
        if changes || state.next_deadline() != before {
            self.changed();
        }
        result
    }

    /// The simulated time.
    pub fn now(&self) -> Instant {
        self.lock().clock.now()
    }

    /// A copy of the clock as it stands.
    pub fn clock(&self) -> Clock {
        self.lock().clock.clone()
    }

    /// When the simulation or a guest has something to do next.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.lock().next_deadline()
    }

    /// Moves the clock forward and lets everything on the way happen at its own time.
    pub fn step(&self, by: Duration) -> Instant {
        let mut state = self.lock();
        let target = Instant(state.clock.now().0.saturating_add(by));
        state.step_to(target);
        self.changed();
        target
    }

    /// Moves the clock to the next deadline, if there is one, and lets happen what is due then.
    pub fn step_to_next_deadline(&self) -> Option<Instant> {
        let mut state = self.lock();
        state.settle_now();
        let target = state.next_deadline();
        if let Some(target) = target {
            state.step_to(target);
        }
        self.changed();
        target
    }

    /// Moves the clock from deadline to deadline until nothing is pending, or for `limit` of simulated time: some
    /// platforms always have something to do.
    pub fn run_until_idle(&self, limit: Duration) -> Ran {
        let mut state = self.lock();
        let end = Instant(state.settle_now().0.saturating_add(limit));
        while let Some(next) = state.next_deadline().filter(|next| *next <= end) {
            state.step_to(next);
        }
        let idle = state.next_deadline().is_none();
        if !idle {
            state.step_to(end);
        }
        self.changed();
        Ran { now: state.clock.now(), idle }
    }

    /// Returns when `duration` has passed on the simulated clock.
    pub async fn sleep(&self, duration: Duration) {
        let deadline = Instant(self.now().0.saturating_add(duration));
        let mut changes = self.revisions();
        while self.now() < deadline {
            self.pass_time(Some(deadline), &mut changes).await;
        }
    }

    /// Returns when the simulation is ready to answer a request.
    pub(super) async fn hold(&self, request: &Request) {
        let mut changes = self.revisions();
        let arrived = self.now();
        let held = |simulation: &S, now: Instant| simulation.hold(arrived, request).filter(|until| *until > now);
        while let Some(until) = self.view(held) {
            self.pass_time(Some(until), &mut changes).await;
        }
    }

    /// Lets things happen when they are due, for as long as it is polled.
    pub(super) async fn drive(&self) {
        let mut changes = self.revisions();
        loop {
            self.pass_time(self.next_deadline(), &mut changes).await;
            if self.next_deadline().is_some_and(|deadline| deadline <= self.now()) {
                self.lock().settle_now();
                self.changed();
                // Settling is a change too, and not one to look at again at once.
                changes.mark_unchanged();
            }
        }
    }

    /// Delivers what guests report from tasks of their own, until the runtime is gone.
    pub(super) async fn deliver(&self, mut reported: mpsc::UnboundedReceiver<GuestEvent>) {
        while let Some(event) = reported.recv().await {
            self.with(|simulation, now| simulation.guest_event(now, event));
        }
    }

    /// The number of the last change.
    pub(super) fn revision(&self) -> u64 {
        *self.shared.revision.borrow()
    }

    /// Counts every change; a stale value seen means that there is something new to save.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.shared.revision.subscribe()
    }

    pub(super) fn snapshot(&self) -> WorldSnapshot {
        let mut state = self.lock();
        let now = state.settle_now();
        WorldSnapshot {
            revision: self.revision(),
            now,
            simulation: state.simulation.snapshot(),
            guests: state.guests.snapshot(),
        }
    }

    /// Returns when `deadline` is reached, or something changed since the last look: a call or a step may bring a
    /// nearer deadline, or make this one pass.
    async fn pass_time(&self, deadline: Option<Instant>, changes: &mut watch::Receiver<u64>) {
        let left = deadline.and_then(|deadline| self.lock().clock.real_time_until(deadline));
        let news = changes.changed();
        // The sender lives as long as this world, so waiting for news cannot fail.
        let _ = match left {
            Some(left) => tokio::time::timeout(left, news).await.unwrap_or(Ok(())),
            None => news.await,
        };
    }

    fn changed(&self) {
        self.shared.revision.send_modify(|revision| *revision += 1);
    }

    /// A panic in a simulation is a bug that its caller has seen; the others go on with the state as it is.
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Simulation> State<S> {
    fn next_deadline(&self) -> Option<Instant> {
        let deadlines = [self.simulation.next_deadline(), self.guests.next_deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn settle_now(&mut self) -> Instant {
        let now = self.clock.now();
        self.settle(now);
        now
    }

    fn step_to(&mut self, target: Instant) {
        self.clock.step_to(target);
        self.settle(target);
    }

    /// Lets everything that is due by `now` happen, each at its own time, guests and simulation in turn.
    fn settle(&mut self, now: Instant) {
        let mut turns = 0;
        let mut last = None;
        while let Some(due) = self.next_deadline().filter(|due| *due <= now) {
            turns = if last == Some(due) { turns + 1 } else { 0 };
            if turns > MAX_TURNS_AT_ONE_INSTANT {
                tracing::error!(?due, "the simulation schedules work for the same instant without end");
                return;
            }
            last = Some(due);
            self.simulation.advance(due);
            self.command_guests(due);
            for event in self.guests.advance(due) {
                self.simulation.guest_event(due, event);
            }
            self.command_guests(due);
        }
    }

    fn command_guests(&mut self, now: Instant) {
        for command in self.simulation.take_guest_commands() {
            self.guests.command(now, command);
        }
    }
}
