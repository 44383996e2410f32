//! A simulator that serves.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::faults::{FaultPlan, Rule};
use super::front::Front;
use super::hook::Hook;
use super::identity::Identity;
use super::server::Server;
use super::simulation::{Instant, Simulation};
use super::world::World;

/// A simulator that serves.
///
/// Dropping it ends it at once, without the last write to a state file; [`Running::stop`] ends it properly.
pub struct Running<S: Simulation> {
    pub(super) platform: &'static str,
    pub(super) url: String,
    pub(super) admin_url: String,
    pub(super) identity: Option<Identity>,
    pub(super) front: Arc<Front<S>>,
    pub(super) servers: Vec<Server>,
    /// Ends the tasks that drive the clock, carry guest events and write the state file.
    pub(super) stop: CancellationToken,
    pub(super) tasks: TaskTracker,
}

impl<S: Simulation> Running<S> {
    /// Where the API is served, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where the admin endpoint is, with its path.
    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// The authority's certificate to trust; `None` for plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.identity.as_ref().map(Identity::ca_pem)
    }

    /// The file with the authority's certificate; `None` for plain HTTP.
    pub fn ca_file(&self) -> Option<&Path> {
        self.identity.as_ref().map(Identity::ca_file)
    }

    /// The simulation, for a test that wants to look at it or change it behind the API's back.
    pub fn world(&self) -> &World<S> {
        &self.front.world
    }

    /// Moves the simulated clock.
    pub fn step(&self, by: Duration) -> Instant {
        self.front.world.step(by)
    }

    /// Lets something run beside it that ends when it ends.
    pub(crate) fn accompany(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(self.stop.clone().run_until_cancelled_owned(task));
    }

    /// Adds a fault rule; the number returned removes it.
    pub fn add_fault(&self, rule: Rule) -> u64 {
        self.front.faults().add(rule)
    }

    /// Looks at the fault rules or changes them.
    pub fn with_faults<R>(&self, act: impl FnOnce(&mut FaultPlan) -> R) -> R {
        act(&mut self.front.faults())
    }

    /// Has something called, and awaited, before each call that is answered; `None` ends that.
    pub fn before_each_call(&self, hook: Option<Hook>) {
        self.front.hooked.set(hook);
    }

    /// How often each kind of call was made, by `METHOD /path/{id}`.
    pub fn request_counts(&self) -> std::collections::BTreeMap<String, u64> {
        self.front.counts.all()
    }

    /// What a client needs to know, as one object.
    pub fn ready(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("platform".to_owned(), self.platform.into());
        fields.insert("url".to_owned(), self.url.as_str().into());
        if let Some(ca_file) = self.ca_file() {
            fields.insert("ca_file".to_owned(), ca_file.to_string_lossy().into());
        }
        fields.insert("admin_url".to_owned(), self.admin_url.as_str().into());
        fields.extend(self.world().guests_ready());
        fields.extend(self.world().view(|simulation, _| simulation.ready(&self.url)));
        fields.into()
    }

    /// Prints what a client needs to know as one line; after it, requests are answered.
    pub fn announce(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.ready())?;
        out.flush()
    }

    /// Lets requests in flight finish, saves the state, and ends.
    pub async fn stop(mut self) {
        join_all(self.servers.drain(..).map(Server::stop)).await;
        self.stop.cancel();
        self.tasks.wait().await;
    }

    /// Announces itself and serves until the process is asked to end (SIGINT or SIGTERM), then stops.
    pub async fn run_until_signal(self, out: &mut impl Write) -> io::Result<()> {
        // Whoever reads the line may send a signal at once.
        let signalled = listen_for_signals();
        self.announce(out)?;
        signalled.await;
        self.stop().await;
        Ok(())
    }
}

impl<S: Simulation> Drop for Running<S> {
    #[allow(clippy::print_stderr, reason = "explains a test that failed, where the test's own message is")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("last calls of the simulated {}:\n{}", self.platform, self.front.recent.lines());
        }
        // The file is given up first: a task that has not heard yet must not write to what is somebody else's now.
        if let Some(keeper) = &self.front.keeper {
            keeper.close();
        }
        self.stop.cancel();
    }
}

/// From now on signals end the future that is returned, instead of the process.
fn listen_for_signals() -> impl Future<Output = ()> {
    let handlers = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = handlers else {
            // Without handlers the default action ends the process, which is the next best thing.
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
