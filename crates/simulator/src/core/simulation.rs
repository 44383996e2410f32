//! The seam between the shell (sockets, TLS, clock, faults) and a simulated platform.

use std::time::Duration;

use bytes::Bytes;

use super::guest::{GuestCommand, GuestEvent};

/// A point on the simulated clock, as the time since the simulator's epoch.
///
/// A scaled or stepped clock produces these; a simulation never reads the machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Instant(pub Duration);

/// A request as the shell read it: complete, within the size limit, not yet interpreted.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, upper case.
    pub method: String,
    /// The path as sent, percent-encoded, without the query.
    pub path: String,
    /// The query as sent, without the question mark; empty if there was none.
    pub query: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// Which of the API's listeners it came through: 0 is the one of `--listen`, the others count on in their order.
    pub listener: usize,
    /// What a fault rule asks the simulation itself to do with this call; the shell deals with all other faults.
    pub injection: Option<Injection>,
}

/// Faults that only the simulated platform can express, because they are part of its state or its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Injection {
    /// Treat the caller's token as expired.
    TokenExpired,
    /// Leave what this call touches locked until an administrator releases it.
    StuckLock,
    /// Answer as if the platform had no capacity for what is asked.
    NoCapacity,
    /// Let the state changes that this call starts take the given factor longer.
    SlowState(u32),
}

impl Request {
    /// A request that a test hands to a simulation itself, past all listeners. The target is a path, with a query if it has one.
    pub fn direct(method: &str, target: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: body.into(),
            listener: 0,
            injection: None,
        }
    }

    /// Whether the method only reads: GET, HEAD or OPTIONS.
    pub fn is_safe(&self) -> bool {
        is_safe(&self.method)
    }
}

/// Whether a method only reads.
pub(super) fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

/// What the simulation answers; the shell adds `Content-Length`, `Date` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// A platform as a deterministic state machine.
///
/// The shell holds it behind one lock and calls it from its own tasks. Calls are short and never block: what takes time
/// on a real platform is a deadline here, which the shell delivers through [`Simulation::advance`].
///
/// Determinism: the same inventory, seed and sequence of `(now, request)` give the same responses. So a test can step
/// the clock, a crash can be replayed, and a state file can be compared.
pub trait Simulation: Send + 'static {
    /// Answers one request at the time `now`. Everything due by `now` has been delivered through `advance` before.
    fn handle(&mut self, now: Instant, request: &Request) -> Response;

    /// Until when a request that arrived then should wait, if it should. It is asked again after every change, so that the wait
    /// can end early. For calls that a platform answers late on purpose, such as reading a queue of events.
    fn hold(&self, arrived: Instant, request: &Request) -> Option<Instant> {
        let _ = (arrived, request);
        None
    }

    /// Carries out every state change that is due by `now`, in the order of their deadlines.
    fn advance(&mut self, now: Instant);

    /// When the next state change is due, if any is pending: the shell sleeps (or a test steps) until then.
    fn next_deadline(&self) -> Option<Instant>;

    /// The whole state as JSON, for the state file and the admin endpoint.
    fn snapshot(&self) -> serde_json::Value;

    /// Answers a request under the simulator-specific part of the admin endpoint (`/admin/<platform>/…`), for example to
    /// force an entity into a state or to release a stuck lock. `None` means that there is no such admin call.
    /// The path that it gets is the one after `/admin/<platform>`.
    fn administer(&mut self, now: Instant, request: &Request) -> Option<Response>;

    /// Takes what the machines of this platform do to their guests since the last call. The shell asks after every other
    /// call, and gives the commands to the [`GuestRuntime`](super::guest::GuestRuntime) at the same `now`.
    fn take_guest_commands(&mut self) -> Vec<GuestCommand> {
        Vec::new()
    }

    /// Takes note of what a guest did. The guest may belong to a machine that was stopped or deleted meanwhile, which is
    /// no error: the event came too late.
    fn guest_event(&mut self, now: Instant, event: GuestEvent) {
        let _ = (now, event);
    }

    /// An error in this platform's own format, for faults that ask for it (`body=platform`). `None` means that the
    /// platform has no such format; then the answer is an HTML page.
    fn error_response(&self, request: &Request, status: u16) -> Option<Response> {
        let _ = (request, status);
        None
    }

    /// What clients of this platform need besides the URL (user, password, …), for the line that is printed when the
    /// simulator is ready. `url` is where the shell listens; an entry of the same name replaces the one of the shell.
    fn ready(&self, url: &str) -> serde_json::Map<String, serde_json::Value> {
        let _ = url;
        serde_json::Map::new()
    }
}
