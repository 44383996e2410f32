//! Operations on the platform: long, at most one for each machine, a limited number at a time.

use std::{
    any::Any,
    collections::HashMap,
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::FutureExt as _;
use landfall_platform::{ErrorClass, Machine as Instance, StepError};
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::task::AbortOnDropHandle;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Create,
    Fence,
    /// Delete the instance while a request to make it may still be on its way.
    Clear,
    /// Delete the instance for good: none comes any more.
    Delete,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Fence => "Fence",
            Self::Clear | Self::Delete => "Delete",
        }
    }
}

/// What an operation came to: the instance that it made, if any.
pub(crate) type Outcome = Result<Option<Instance>, Arc<StepError>>;

/// How an operation stands.
#[derive(Clone)]
pub(crate) enum Standing {
    /// There is none.
    Idle,
    /// It waits for its turn: nothing was asked of the platform.
    Waiting(Kind),
    /// It is under way, and has come so far.
    Busy(Kind, String),
    /// It has ended.
    Ended(Kind, Outcome),
}

/// All operations. Dropping it ends them, at any await: they are begun anew by whoever comes next.
pub(crate) struct Operations {
    entries: Mutex<HashMap<String, Entry>>,
    permits: Arc<Semaphore>,
}

struct Entry {
    uid: String,
    kind: Kind,
    shared: Arc<Mutex<Shared>>,
    task: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Shared {
    begun: bool,
    progress: String,
    ended: Option<(Instant, Outcome)>,
}

/// For operations to say how far they have come.
#[derive(Clone)]
pub(crate) struct Reporter(Arc<Mutex<Shared>>);

impl Reporter {
    pub(crate) fn report(&self, progress: String) {
        self.0.lock().expect("nobody panics while holding it").progress = progress;
    }
}

impl Operations {
    pub(crate) fn new(at_once: usize) -> Self {
        Self { entries: Mutex::default(), permits: Arc::new(Semaphore::new(at_once.max(1))) }
    }

    /// How the operation on a machine stands. One that was begun for another object of the same name is forgotten.
    pub(crate) fn standing(&self, name: &str, uid: &str) -> Standing {
        let mut entries = self.lock();
        if entries.get(name).is_some_and(|entry| entry.uid != uid) {
            entries.remove(name);
        }
        let Some(entry) = entries.get(name) else { return Standing::Idle };
        let shared = entry.shared.lock().expect("nobody panics while holding it");
        match &shared.ended {
            Some((_, outcome)) => Standing::Ended(entry.kind, outcome.clone()),
            None if shared.begun => Standing::Busy(entry.kind, shared.progress.clone()),
            None => Standing::Waiting(entry.kind),
        }
    }

    /// For how long the operation on a machine has been at its end.
    pub(crate) fn ended_for(&self, name: &str) -> Option<Duration> {
        let entries = self.lock();
        let shared = entries.get(name)?.shared.lock().expect("nobody panics while holding it");
        shared.ended.as_ref().map(|(at, _)| at.elapsed())
    }

    /// Begins an operation. `ended` is told when it has.
    pub(crate) fn begin<F>(
        &self,
        name: &str,
        uid: &str,
        kind: Kind,
        operation: impl FnOnce(Reporter) -> F,
        ended: impl FnOnce() + Send + 'static,
    ) where
        F: Future<Output = Result<Option<Instance>, StepError>> + Send + 'static,
    {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let operation = operation(Reporter(Arc::clone(&shared)));
        let (permits, result) = (Arc::clone(&self.permits), Arc::clone(&shared));
        let task = tokio::spawn(async move {
            let Ok(_permit) = permits.acquire().await else { return };
            result.lock().expect("nobody panics while holding it").begun = true;
            let outcome = AssertUnwindSafe(operation).catch_unwind().await;
            let outcome = outcome.unwrap_or_else(|panic| Err(broken(&*panic))).map_err(Arc::new);
            result.lock().expect("nobody panics while holding it").ended = Some((Instant::now(), outcome));
            ended();
        });
        let entry = Entry { uid: uid.to_owned(), kind, shared, task: AbortOnDropHandle::new(task) };
        self.lock().insert(name.to_owned(), entry);
    }

    /// Ends an operation before its time, and waits until it has. What it has asked of the platform may still happen.
    pub(crate) async fn cut_off(&self, name: &str) {
        let Some(entry) = self.lock().remove(name) else { return };
        entry.task.abort();
        let _cut_off = entry.task.await;
    }

    /// Ends all operations before their time, and waits until they have. Whether nothing that they asked for can still happen.
    pub(crate) async fn end(&self) -> bool {
        let all: Vec<_> = self.lock().drain().map(|(_, entry)| entry).collect();
        let mut all_is_done = true;
        for entry in all {
            entry.task.abort();
            let _cut_off = entry.task.await;
            let shared = entry.shared.lock().expect("nobody panics while holding it");
            all_is_done &= !shared.begun || shared.ended.is_some();
        }
        all_is_done
    }

    /// Forgets an operation.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.entries.lock().expect("nobody panics while holding it")
    }
}

/// The error of an operation that panicked. Without it the operation would count as under way for ever.
fn broken(panic: &(dyn Any + Send)) -> StepError {
    let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    StepError::new(ErrorClass::Bug, format!("the operation panicked: {}", said.unwrap_or("without a message")))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn panicking() -> Result<Option<Instance>, StepError> {
        std::future::ready(()).await;
        panic!("no such VM")
    }

    #[tokio::test]
    async fn an_operation_that_panics_has_ended() {
        let operations = Operations::new(1);
        let (ended, end) = tokio::sync::oneshot::channel();
        operations.begin("a", "1", Kind::Create, |_| panicking(), move || ended.send(()).expect("the test waits"));
        tokio::time::timeout(Duration::from_secs(10), end).await.expect("the end is told").expect("by the operation");
        let Standing::Ended(Kind::Create, Err(error)) = operations.standing("a", "1") else { panic!("still busy") };
        assert_eq!(
            (error.class(), error.to_string()),
            (ErrorClass::Bug, "the operation panicked: no such VM".to_owned())
        );
        // And the place that it had is free.
        let (ended, end) = tokio::sync::oneshot::channel();
        operations.begin(
            "b",
            "2",
            Kind::Delete,
            |_| async { Ok(None) },
            move || ended.send(()).expect("the test waits"),
        );
        tokio::time::timeout(Duration::from_secs(10), end).await.expect("the end is told").expect("by the operation");
    }
}
