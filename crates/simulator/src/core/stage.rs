//! Starting a simulator, in a process of its own or inside a test.
//!
//! ```no_run
//! # use landfall_simulator::core::{Options, Simulation, Stage};
//! # async fn start<S: Simulation>(make: impl Fn(u64, Option<serde_json::Value>) -> S) -> Result<(), Box<dyn std::error::Error>> {
//! let mut stage = Stage::prepare("toy", &Options::default()).await?;
//! let simulation = make(stage.seed(), stage.take_saved_state());
//! let running = stage.start(simulation, |_world| Vec::new())?;
//! running.run_until_signal(&mut std::io::stdout()).await?;
//! # Ok(()) }
//! ```

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admin;
use super::clock::Clock;
use super::faults::FaultPlan;
use super::front::Front;
use super::guest::{GuestRuntime, PlainGuests};
use super::hook::Hooked;
use super::identity::{Identity, IdentityError};
use super::options::Options;
use super::recent_calls::RecentCalls;
use super::request_counts::RequestCounts;
use super::request_log::RequestLog;
use super::running::Running;
use super::server::{Limits, Server, Service};
use super::simulation::Simulation;
use super::state_file::{Keeper, Origin, Saved, StateError, StateFile};
use super::world::World;

/// Why a simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address cannot be listened on.
    #[error("listen on {address}")]
    Listen {
        /// The address as given.
        address: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There are no certificates.
    #[error("get the certificates to serve HTTPS with")]
    Identity(#[from] IdentityError),
    /// The request log cannot be written.
    #[error("open the request log {path}")]
    Log {
        /// The log.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The state file cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The state file was made with another seed.
    #[error("{path} was made with seed {saved}, not {asked}; leave out --seed, or choose another file")]
    Seed {
        /// The state file.
        path: PathBuf,
        /// Its seed.
        saved: u64,
        /// The seed asked for.
        asked: u64,
    },
    /// The guests in the state file do not fit this guest runtime.
    #[error("restore the guests from {path}")]
    Guests {
        /// The state file.
        path: PathBuf,
        /// What does not fit.
        #[source]
        source: serde_json::Error,
    },
}

/// A simulator that has its addresses, certificates and saved state, and waits for its simulation.
pub struct Stage {
    platform: &'static str,
    options: Options,
    identity: Option<Identity>,
    api: Listener,
    admin: Listener,
    state_file: Option<(PathBuf, StateFile)>,
    saved_state: Option<serde_json::Value>,
    saved_guests: Option<serde_json::Value>,
    origin: Origin,
    clock: Clock,
    log: Option<RequestLog>,
    guests: Box<dyn GuestRuntime>,
}

/// An address that is listened on but not served yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    url: String,
}

impl Listener {
    async fn bind(listen: &str, scheme: &str) -> Result<Self, StartError> {
        let failed = |source| StartError::Listen { address: listen.to_owned(), source };
        let socket = TcpListener::bind(listen).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let url = if address.ip().is_unspecified() {
            format!("{scheme}://localhost:{}", address.port())
        } else {
            format!("{scheme}://{address}")
        };
        Ok(Self { socket, url })
    }

    /// How clients reach it, without a path and without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Gives it a service; `name` is what the request log calls it.
    pub fn serve(self, name: &'static str, service: impl Service) -> Extra {
        Extra { socket: self.socket, service: Served::Service(name, Arc::new(service)) }
    }

    /// Serves the simulation's own API here too; requests say through which listener they came.
    pub fn serve_api(self) -> Extra {
        Extra { socket: self.socket, service: Served::Api }
    }
}

/// A further service of a platform, on an address of its own.
pub struct Extra {
    socket: TcpListener,
    service: Served,
}

/// What is served on a further address.
enum Served {
    /// The simulation's own API.
    Api,
    /// Something else, by the name that the request log has for it.
    Service(&'static str, Arc<dyn Service>),
}

impl Stage {
    /// Takes the addresses, reads or makes certificates, and reads the state file.
    pub async fn prepare(platform: &'static str, options: &Options) -> Result<Self, StartError> {
        let api = Listener::bind(&options.listen, if options.http { "http" } else { "https" }).await?;
        let admin = Listener::bind(&options.admin_listen, "http").await?;
        let identity = if options.http {
            None
        } else {
            let names = [host_of(&options.listen)];
            Some(Identity::establish(options.authority_directory().as_deref(), &names)?)
        };
        let open_log =
            |path: &PathBuf| RequestLog::open(path).map_err(|source| StartError::Log { path: path.clone(), source });
        let log = options.log_requests.as_ref().map(open_log).transpose()?;
        let (state_file, saved) = match &options.state {
            None => (None, None),
            Some(path) => {
                let (file, saved) = StateFile::open(path, platform)?;
                check_seed(path, options, saved.as_ref())?;
                (Some((path.clone(), file)), saved)
            }
        };
        let clock = match &saved {
            None => Clock::start(options.pace()),
            Some(saved) => Clock::resume(options.pace(), saved.epoch, saved.now),
        };
        let seed = saved.as_ref().map_or(options.seed.unwrap_or_default(), |saved| saved.seed);
        let (saved_state, saved_guests) = saved.map(|saved| (saved.simulation, saved.guests)).unzip();
        Ok(Self {
            platform,
            options: options.clone(),
            identity,
            api,
            admin,
            state_file,
            saved_state,
            saved_guests,
            origin: Origin { platform: platform.to_owned(), seed, epoch: clock.epoch() },
            clock,
            log,
            guests: Box::new(PlainGuests::default()),
        })
    }

    /// Runs the guests with something else than [`PlainGuests`].
    #[must_use]
    pub fn with_guests(mut self, guests: impl GuestRuntime) -> Self {
        self.guests = Box::new(guests);
        self
    }

    /// Serves HTTP/1.1 only, as many platforms do. Clients behave differently then, and not only faster or slower.
    #[must_use]
    pub fn without_http2(mut self) -> Self {
        self.identity = self.identity.map(Identity::without_http2);
        self
    }

    /// Where the API will be served, without a path and without a slash at the end.
    pub fn url(&self) -> &str {
        self.api.url()
    }

    /// The certificates, unless plain HTTP was asked for.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.origin.seed
    }

    /// The time of day that the clock's zero stands for; see [`timestamp`](super::clock::timestamp).
    pub fn epoch(&self) -> Timestamp {
        self.origin.epoch
    }

    /// The snapshot to go on from, if there is a state file and this is not its first use.
    pub fn take_saved_state(&mut self) -> Option<serde_json::Value> {
        self.saved_state.take()
    }

    /// Takes another address, to be served with the same certificates.
    ///
    /// The future does not borrow the stage, whose guests need not be shared between threads, so that a simulator can be
    /// started from a task that moves between them.
    pub fn bind<'a>(&self, listen: &'a str) -> impl Future<Output = Result<Listener, StartError>> + use<'a> {
        Listener::bind(listen, if self.options.http { "http" } else { "https" })
    }

    /// Begins to serve. `extras` are further services of the platform, which may hold on to the world they are given.
    pub fn start<S: Simulation>(
        self,
        simulation: S,
        extras: impl FnOnce(&World<S>) -> Vec<Extra>,
    ) -> Result<Running<S>, StartError> {
        let mut guests = self.guests;
        if let (Some(saved), Some((path, _))) = (self.saved_guests, &self.state_file) {
            let failed = |source| StartError::Guests { path: path.clone(), source };
            guests.restore(saved).map_err(failed)?;
        }
        let (world, reported) = World::new(simulation, guests, self.clock);
        let keeper = self.state_file.map(|(_, file)| Arc::new(Keeper::new(file, self.origin.clone())));
        let mut faults = FaultPlan::new(self.origin.seed);
        for rule in &self.options.faults {
            faults.add(rule.clone());
        }
        let limits = self.options.limits();
        let front = Arc::new(Front {
            world: world.clone(),
            faults: Mutex::new(faults),
            counts: RequestCounts::default(),
            recent: RecentCalls::default(),
            log: self.log,
            keeper: keeper.clone(),
            limits,
            hooked: Hooked::default(),
        });

        let identity = self.identity;
        let serve = |socket: TcpListener, identity: Option<&Identity>, limits: Limits, service: Arc<dyn Service>| {
            let failed = |source| StartError::Listen { address: self.options.listen.clone(), source };
            Server::start(socket, identity, limits, service).map_err(failed)
        };
        let mut servers = vec![serve(self.api.socket, identity.as_ref(), limits, front.api(0))?];
        let mut listeners = 0;
        for Extra { socket, service } in extras(&world) {
            let service = match service {
                Served::Service(name, service) => front.extra(name, service),
                Served::Api => {
                    listeners += 1;
                    front.api(listeners)
                }
            };
            servers.push(serve(socket, identity.as_ref(), limits, service)?);
        }
        let admin = admin::service(&front, self.platform);
        servers.push(serve(self.admin.socket, None, limits, admin)?);

        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (driven, told) = (world.clone(), world.clone());
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move { driven.drive().await }));
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move { told.deliver(reported).await }));
        if let Some(keeper) = keeper {
            let stop = stop.clone();
            tasks.spawn(async move { keeper.run(&world, &stop).await });
        }
        tasks.close();
        let (url, admin_url) = (self.api.url, format!("{}/admin", self.admin.url));
        Ok(Running { platform: self.platform, url, admin_url, identity, front, servers, stop, tasks })
    }
}

fn check_seed(path: &std::path::Path, options: &Options, saved: Option<&Saved>) -> Result<(), StartError> {
    match (options.seed, saved) {
        (Some(asked), Some(saved)) if asked != saved.seed => {
            Err(StartError::Seed { path: path.to_owned(), saved: saved.seed, asked })
        }
        _ => Ok(()),
    }
}

/// The host part of `host:port`.
fn host_of(listen: &str) -> String {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    host.trim_matches(['[', ']']).to_owned()
}
