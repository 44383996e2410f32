//! What happens during a run, for whoever draws it: progress bars, log lines, JSON.

use std::time::Duration;

use landfall_platform::{ErrorClass, StepId};
use serde::{Serialize, Serializer};

/// Which way a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is made.
    Ensure,
    /// It is removed.
    Remove,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A run begins.
    Begin {
        /// Which way.
        phase: Phase,
        /// Steps in all.
        total: usize,
        /// Steps that an earlier run has finished.
        done: usize,
    },
    /// A step begins.
    Started {
        /// Which step.
        step: StepId,
        /// What it is, for people.
        title: String,
        /// Which way.
        phase: Phase,
    },
    /// A step says how far it has come.
    Progress {
        /// Which step.
        step: StepId,
        /// In its own words.
        message: String,
    },
    /// A call failed and will be repeated.
    Retrying {
        /// Which step.
        step: StepId,
        /// What kind of trouble.
        class: ErrorClass,
        /// What went wrong, with its causes.
        error: String,
        /// The pause before the next attempt, in seconds.
        #[serde(serialize_with = "seconds")]
        pause: Duration,
        /// Attempts so far.
        attempt: u32,
    },
    /// A step is done.
    Finished {
        /// Which step.
        step: StepId,
        /// Which way.
        phase: Phase,
        /// How long it took, in seconds.
        #[serde(serialize_with = "seconds")]
        took: Duration,
    },
    /// A step failed for good.
    Failed {
        /// Which step.
        step: StepId,
        /// Which way.
        phase: Phase,
        /// What kind of trouble.
        class: ErrorClass,
        /// What went wrong, with its causes.
        error: String,
    },
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Hears events, in order, from many tasks. Must not block.
pub trait EventSink: Send + Sync {
    /// Called once for each event.
    fn event(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> EventSink for F {
    fn event(&self, event: &Event) {
        self(event);
    }
}
