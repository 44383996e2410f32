//! What a fault does to a call.

use std::time::Duration;

use super::super::simulation::Injection;

/// What a fault does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// `latency=DURATION`: the call is handled only after this much simulated time.
    Latency(Duration),
    /// `late=DURATION`: the call is taken in at once and handled after this much simulated time, whether or not the caller
    /// is still there.
    Late(Duration),
    /// `status=CODE`: the call is not handled; the answer has this status.
    Status {
        /// The status, 400 to 599.
        code: u16,
        /// What the answer looks like.
        body: ErrorBody,
    },
    /// `throttle[=DURATION]`: the call is not handled; 429 with `Retry-After`.
    Throttle {
        /// When to try again, in seconds.
        retry_after: u64,
        /// What the answer looks like.
        body: ErrorBody,
    },
    /// `reset`: the call is not handled; the connection is reset.
    Reset,
    /// `lost-reply`: the call is handled and committed, then the connection closes without an answer.
    LostReply,
    /// `truncate[=BYTES]`: the call is handled; the connection closes after so many bytes of the answer's body (half of
    /// it if not given), although more were announced.
    Truncate(Option<u64>),
    /// `html-page`: the call is not handled; the answer is a web page with status 200, as from a login portal.
    HtmlPage,
    /// `token-expired`, `stuck-lock`, `no-capacity`, `slow-state=FACTOR`: the platform itself misbehaves.
    Inject(Injection),
}

/// What an injected error looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorBody {
    /// A web page, as from a proxy or an application server.
    #[default]
    Html,
    /// An error in the platform's own format.
    Platform,
}

impl Effect {
    /// The word that names it in a rule.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Latency(_) => "latency",
            Self::Late(_) => "late",
            Self::Status { .. } => "status",
            Self::Throttle { .. } => "throttle",
            Self::Reset => "reset",
            Self::LostReply => "lost-reply",
            Self::Truncate(_) => "truncate",
            Self::HtmlPage => "html-page",
            Self::Inject(Injection::TokenExpired) => "token-expired",
            Self::Inject(Injection::StuckLock) => "stuck-lock",
            Self::Inject(Injection::NoCapacity) => "no-capacity",
            Self::Inject(Injection::SlowState(_)) => "slow-state",
        }
    }
}
