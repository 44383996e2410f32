//! What went wrong, for Python to choose an exception by.

use std::error::Error;

use landfall_engine::ApplyError;
use landfall_platform::{ErrorClass, error_chain};
use landfall_platform_powervm::compute::{self, OperationError};

/// How far an operation that failed has changed things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    /// It changed nothing.
    Untouched,
    /// It changed things, and nothing is left of that.
    Undone,
    /// Something remains, and the journal knows what.
    Remains,
    /// It was stopped, and can be gone on with or undone by its journal.
    Stopped,
}

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Failure {
    class: ErrorClass,
    trace: Trace,
    message: String,
}

impl Failure {
    /// An error that changed nothing.
    pub(crate) fn of(class: ErrorClass, error: &dyn Error) -> Self {
        Self { class, trace: Trace::Untouched, message: error_chain(error) }
    }

    /// The same for something that may have taken effect, or has been tried often enough.
    pub(crate) fn after_change(self) -> Self {
        Self { trace: Trace::Undone, ..self }
    }

    /// A request that cannot be.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { class: ErrorClass::Invalid, trace: Trace::Untouched, message: message.into() }
    }

    /// Something is not there.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { class: ErrorClass::NotFound, trace: Trace::Untouched, message: message.into() }
    }

    /// A call that ended without an outcome.
    pub(crate) fn lost() -> Self {
        let message =
            "the call ended without an outcome, which is a bug; the log of the process may say why".to_owned();
        Self { class: ErrorClass::Bug, trace: Trace::Remains, message }
    }

    /// Whether the same call may be made again, and that can help.
    pub(crate) fn can_be_repeated(&self) -> bool {
        self.trace == Trace::Untouched && self.class.is_retryable()
    }

    /// Whether waiting can help: the console has a bad moment, or something on the server is not up yet.
    pub(crate) fn may_pass(&self) -> bool {
        self.class.is_retryable() || matches!(self.class, ErrorClass::NotFound | ErrorClass::Timeout)
    }

    /// How far things were changed.
    pub(crate) fn trace(&self) -> Trace {
        self.trace
    }

    /// With its causes, for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn to_json(&self) -> String {
        let trace = match self.trace {
            Trace::Untouched | Trace::Undone => "none",
            Trace::Remains => "remains",
            Trace::Stopped => "stopped",
        };
        serde_json::json!({"class": self.class, "trace": trace, "message": self.message}).to_string()
    }
}

impl From<compute::Error> for Failure {
    fn from(error: compute::Error) -> Self {
        Self::of(error.class(), &error)
    }
}

impl From<landfall_platform_powervm::Error> for Failure {
    fn from(error: landfall_platform_powervm::Error) -> Self {
        Self::of(error.class(), &error)
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        let step = |source: &ApplyError| match source {
            ApplyError::Step { source, .. } => source.class(),
            ApplyError::Cancelled { .. } => ErrorClass::Transient,
            ApplyError::Journal(_) => ErrorClass::Bug,
        };
        let (class, trace) = match &error {
            OperationError::Failed { source, .. } => (step(source), Trace::Undone),
            OperationError::Stuck { source, .. } => (step(source), Trace::Remains),
            OperationError::Remains { .. } => (ErrorClass::Transient, Trace::Remains),
            OperationError::Stopped { .. } => (ErrorClass::Transient, Trace::Stopped),
            OperationError::Refused { source, .. } => (source.class(), Trace::Untouched),
            OperationError::Journal { .. } | OperationError::Directory { .. } | OperationError::Plan { .. } => {
                (ErrorClass::Bug, Trace::Untouched)
            }
        };
        Self { class, trace, message: error_chain(&error) }
    }
}
