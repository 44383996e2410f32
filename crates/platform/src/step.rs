//! Steps: the unit in which anything on a platform is made and removed.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::ErrorClass;

/// Makes one thing exist on the platform, and makes it not exist.
///
/// **Flow.** The engine records that it is about to call, calls, and records the outcome. `ensure` finds its object by the
/// [recorded](Context::recorded) id and the cluster's mark, never by its name alone, creates it (marked from the first instant)
/// only if it is missing, and waits until it is usable. `remove` returns when the object is really gone.
///
/// **What a step guarantees.** Both verbs may be called any number of times, by different processes, after a call that was cut
/// off at any await point. `ensure` on an object that is as desired changes nothing. `remove` succeeds if the object never
/// existed, half exists, or is already gone, and touches nothing that does not carry the cluster's exact mark.
///
/// **What a step may assume.** The steps that it needs are done, and their outputs are in its context. For `remove`: all
/// steps that needed it have been removed, and the outputs of those that it needs are in its context as far as they were
/// recorded. Nothing else of its own cluster works on its object at the same time.
///
/// **What a step should do.** [Note](Context::note) the id of its object as soon as the platform has told it, where the object
/// takes its time until it is usable: then it is removed also if it lost its mark meanwhile. An object of the user's that it only uses
/// it tells with `given`, so that a removal is not expected to take it.
///
/// **What a step must not do.** Retry (the engine does, by class), print, or keep state of its own between calls.
#[async_trait]
pub trait Step: Send + Sync {
    /// Makes the object exist and be usable. Returns what later steps need to know of it.
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError>;

    /// Makes the object not exist. `outputs` are those that `ensure` returned or noted last, if it ever did.
    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError>;
}

/// Turns the description of a step into a step that can act. Each platform has one, which holds its client.
///
/// Descriptions are read back from the journal after a crash, also by a later version of the program, so an unknown kind is an
/// ordinary error.
pub trait Bind: Send + Sync {
    /// The step that the description stands for.
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError>;
}

/// Finds what belongs to a cluster, whoever made it.
#[async_trait]
pub trait Discover: Send + Sync {
    /// Everything that carries the cluster's exact mark, as steps that can remove it. An object that a plan of the same
    /// cluster made gets the id that the plan gave it.
    ///
    /// Called before a removal and once more after it, when it must find nothing.
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError>;
}

/// The description of a step: pure data, decided when the plan is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepSpec {
    /// Unique in its plan.
    pub id: StepId,
    /// What it makes, for people: `virtual machine demo-x7k2p-master-0`.
    pub title: String,
    /// What kind of object it makes; decides how many such steps run at once.
    pub kind: Kind,
    /// Steps that must be done before.
    pub needs: Vec<StepId>,
    /// How long one call may take, with all its retries.
    pub timeout: Duration,
    /// Names, sizes and references, as the platform's steps understand them.
    pub desired: serde_json::Value,
}

/// The name of a step, for example `vm/master-0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(String);

/// A kind of object, for example `vm`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kind(String);

macro_rules! name {
    ($type:ident) => {
        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<String>> From<T> for $type {
            fn from(name: T) -> Self {
                Self(name.into())
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
name!(StepId);
name!(Kind);

/// What a step tells those that need it: ids and addresses that the platform chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outputs(serde_json::Map<String, serde_json::Value>);

impl Outputs {
    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The value with a name, if it is there and of the expected type.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.0.get(name).and_then(|value| serde_json::from_value(value.clone()).ok())
    }
}

/// Where a step writes down what it knows of its object before it is done.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Keeps these outputs in place of those that were noted before. They survive any crash once this returns.
    async fn note(&self, outputs: Outputs) -> Result<(), StepError>;
}

/// For calls that nobody remembers.
struct Forgotten;

#[async_trait]
impl Notes for Forgotten {
    async fn note(&self, _: Outputs) -> Result<(), StepError> {
        Ok(())
    }
}

/// What a step is given when it is called.
pub struct Context {
    outputs: BTreeMap<StepId, Outputs>,
    progress: Arc<dyn Fn(String) + Send + Sync>,
    notes: Arc<dyn Notes>,
    recorded: Mutex<Option<Outputs>>,
}

impl Context {
    /// A context with the outputs of the steps that are done, and a way to say how far a step has come.
    pub fn new(outputs: BTreeMap<StepId, Outputs>, progress: Arc<dyn Fn(String) + Send + Sync>) -> Self {
        Self { outputs, progress, notes: Arc::new(Forgotten), recorded: Mutex::default() }
    }

    /// With what the step noted or returned in an earlier call.
    #[must_use]
    pub fn recalling(mut self, recorded: Option<Outputs>) -> Self {
        self.recorded = Mutex::new(recorded);
        self
    }

    /// Returns a value that the step itself noted or returned last: the id of its object, which finds it also if it was renamed.
    pub fn recorded<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(name)
    }

    /// Returns all that the step itself noted or returned last, as a removal gets it.
    pub fn all_recorded(&self) -> Option<Outputs> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// With somebody who writes down what the step notes.
    #[must_use]
    pub fn noting(mut self, notes: Arc<dyn Notes>) -> Self {
        self.notes = notes;
        self
    }

    /// Has it written down what is known of the object already, in place of what was noted before: its id above all, once the
    /// platform has told it. A removal gets it, also if the step never ends.
    pub async fn note(&self, outputs: Outputs) -> Result<(), StepError> {
        self.notes.note(outputs.clone()).await?;
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(outputs);
        Ok(())
    }

    /// What another step said. That it is missing means that the plan lacks an arrow.
    pub fn output<T: DeserializeOwned>(&self, step: &StepId, name: &str) -> Result<T, StepError> {
        self.outputs
            .get(step)
            .and_then(|outputs| outputs.get(name))
            .ok_or_else(|| StepError::new(ErrorClass::Bug, MissingOutput { step: step.clone(), name: name.to_owned() }))
    }

    /// For what the step calls: hears how far it has come.
    pub fn progress(&self) -> crate::Progress<'_> {
        &*self.progress
    }

    /// Says how far the step has come, for people: `uploaded 310 of 1,024 MiB`.
    pub fn report(&self, progress: impl Into<String>) {
        (self.progress)(progress.into());
    }
}

#[derive(Debug, thiserror::Error)]
#[error("step {step} left no output '{name}'")]
struct MissingOutput {
    step: StepId,
    name: String,
}

/// Why a step could not do its work.
#[derive(Debug)]
pub struct StepError {
    class: ErrorClass,
    retry_after: Option<Duration>,
    source: Box<dyn Error + Send + Sync>,
}

impl StepError {
    /// An error of a class.
    pub fn new(class: ErrorClass, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { class, retry_after: None, source: source.into() }
    }

    /// With the time that the platform asked to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// How long the platform asked to wait.
    pub fn wait(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for StepError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}
