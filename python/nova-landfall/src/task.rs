//! A call under way.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use landfall_engine::{Event, Phase};
use pyo3::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::call::Call;
use crate::connection::Session;
use crate::failure::Failure;

/// Something that a task has to say: the first word says what it is.
type Message = (&'static str, String);

/// Passes on what happens during a call, for Nova's log.
#[derive(Clone)]
pub(crate) struct Reporter(Sender<Message>);

impl Reporter {
    /// A line for the log. Nobody may listen any more, which is nobody's problem.
    pub(crate) fn say(&self, level: &'static str, text: String) {
        let _gone = self.0.send((level, text));
    }

    /// Something for the caller.
    pub(crate) fn tell(&self, news: &Value) {
        let _gone = self.0.send(("news", news.to_string()));
    }

    /// A step of an operation.
    pub(crate) fn event(&self, event: &Event) {
        let verb = |phase: &Phase| if *phase == Phase::Ensure { "making" } else { "removing" };
        match event {
            Event::Begin { .. } => {}
            Event::Started { title, phase, .. } => self.say("debug", format!("{} {title}", verb(phase))),
            Event::Progress { step, message } => self.say("info", format!("{step}: {message}")),
            Event::Retrying { step, error, pause, attempt, .. } => {
                let text = format!(
                    "{step}: attempt {attempt} failed, the next follows in {:.1} s: {error}",
                    pause.as_secs_f64()
                );
                self.say("warning", text);
            }
            Event::Finished { step, phase, took } => {
                self.say("debug", format!("{} {step} took {:.1} s", verb(phase), took.as_secs_f64()));
            }
            Event::Failed { step, phase, error, .. } => {
                self.say("warning", format!("{} {step} failed: {error}", verb(phase)));
            }
        }
    }
}

/// A call under way.
#[pyclass(frozen)]
pub(crate) struct Task {
    messages: Mutex<Receiver<Message>>,
    cancel: CancellationToken,
}

impl Task {
    pub(crate) fn begin(runtime: &Runtime, session: Arc<Session>, call: Call) -> Self {
        let (sender, receiver) = channel();
        let cancel = CancellationToken::new();
        let (reporter, token) = (Reporter(sender), cancel.clone());
        runtime.spawn(async move {
            let outcome = match call.carry_out(&session, &reporter, &token).await {
                Ok(value) => ("done", value.to_string()),
                Err(failure) => ("failed", failure.to_json()),
            };
            let _gone = reporter.0.send(outcome);
        });
        Self { messages: Mutex::new(receiver), cancel }
    }
}

#[pymethods]
impl Task {
    /// Waits for the next thing that the call has to say: a line for the log (`debug`, `info`, `warning`), something for the caller
    /// (`news`), or its end (`done` with a value, `failed` with what went wrong). Other Python threads go on meanwhile.
    fn next(&self, py: Python<'_>) -> (&'static str, String) {
        let wait = || self.messages.lock().unwrap_or_else(PoisonError::into_inner).recv();
        py.detach(wait).unwrap_or_else(|_| lost())
    }

    /// The same, for so many seconds at most: then there is nothing.
    fn next_within(&self, py: Python<'_>, seconds: f64) -> Option<(&'static str, String)> {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let wait = || self.messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(limit);
        match py.detach(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(lost()),
        }
    }

    /// Asks the call to stop where it is. It ends soon, as `failed`; what it has begun is in its journal.
    fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// Only a panic, or the end of the connection, ends a task without a word.
fn lost() -> Message {
    ("failed", Failure::lost().to_json())
}
