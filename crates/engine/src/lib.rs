//! Plans as graphs of steps: applied, resumed, unwound and destroyed, with a journal that survives any crash.
//!
//! The engine knows no platform and prints nothing. It calls [`Step`](landfall_platform::Step)s in the order of their plan,
//! records every intention before a call and every outcome after it, and tells what happens as [`Event`]s.
//!
//! *Apply*, *resume*, *retry* and *adopt* are one code path, because a step finds its object by mark before it creates it.
//! *Unwind* and *destroy* are the other: every step that started is removed, not only those that finished, because a reply may
//! have been lost.

mod apply;
mod call;
mod event;
mod journal;
mod plan;
mod removal;
mod retry;
mod schedule;
mod timing;

pub use apply::{ApplyError, apply};
pub use event::{Event, EventSink, Phase};
pub use journal::{Entry, Failure, IllegalRecord, Journal, JournalError, Made, Record, Snapshot, State};
pub use plan::{Plan, PlanBuilder, PlanError};
pub use removal::{RemovalError, destroy, retire, unfound, unwind};
pub use retry::RetryPolicy;
pub use timing::Timing;

/// How a run is carried out: with which limits, how patiently, and who listens.
#[derive(Clone)]
pub struct Options {
    /// How often and with which pauses a failed call is repeated.
    pub retry: RetryPolicy,
    /// How long a removal may take, if not as long as the step's own time.
    pub removal_timeout: Option<std::time::Duration>,
    /// Who hears what happens.
    pub events: std::sync::Arc<dyn EventSink>,
    /// Stops the run: calls under way are cut off at their next await, nothing new starts.
    pub cancel: tokio_util::sync::CancellationToken,
}
