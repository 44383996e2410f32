//! Operations on the platform: long, at most one for each machine, a limited number at a time.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use landfall_platform::{ErrorClass, Machine as Instance, StepError};
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use crate::panic;

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

/// All operations. Dropping it ends them, at any await; the next leader begins them anew.
pub(crate) struct Operations {
    entries: Mutex<Entries>,
    permits: Arc<Semaphore>,
}

#[derive(Default)]
struct Entries {
    by_name: HashMap<String, Entry>,
    /// True once the controllers have ended: a look that another thread has not finished then begins nothing.
    is_closed: bool,
}

/// Ends all operations when it is dropped, and keeps new ones from being begun.
pub(crate) struct Closing<'a>(&'a Operations);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut entries = self.0.lock();
        entries.is_closed = true;
        let _ended = std::mem::take(&mut entries.by_name);
    }
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

    /// Ends all operations when the returned guard is dropped, however that happens.
    pub(crate) fn closing(&self) -> Closing<'_> {
        Closing(self)
    }

    /// How the operation on a machine stands. One that was begun for another object of the same name is forgotten.
    pub(crate) fn standing(&self, name: &str, uid: &str) -> Standing {
        let mut entries = self.lock();
        if entries.by_name.get(name).is_some_and(|entry| entry.uid != uid) {
            entries.by_name.remove(name);
        }
        let Some(entry) = entries.by_name.get(name) else { return Standing::Idle };
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
        let shared = entries.by_name.get(name)?.shared.lock().expect("nobody panics while holding it");
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
            let outcome = panic::caught(operation).await.unwrap_or_else(|said| Err(broken(&said))).map_err(Arc::new);
            result.lock().expect("nobody panics while holding it").ended = Some((Instant::now(), outcome));
            ended();
        });
        let entry = Entry { uid: uid.to_owned(), kind, shared, task: AbortOnDropHandle::new(task) };
        let mut entries = self.lock();
        if !entries.is_closed {
            entries.by_name.insert(name.to_owned(), entry);
        }
    }

    /// Ends an operation before its time, and waits until it has. What it has asked of the platform may still happen.
    pub(crate) async fn cut_off(&self, name: &str) {
        let Some(entry) = self.lock().by_name.remove(name) else { return };
        entry.task.abort();
        let _cut_off = entry.task.await;
    }

    /// Ends all operations before their time, and waits until they have. Whether nothing that they asked for can still happen.
    pub(crate) async fn end(&self) -> bool {
        let all: Vec<_> = self.lock().by_name.drain().map(|(_, entry)| entry).collect();
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
        self.lock().by_name.remove(name);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().expect("nobody panics while holding it")
    }
}

/// The error of an operation that panicked. Without it the operation would count as under way for ever.
fn broken(said: &str) -> StepError {
    StepError::new(ErrorClass::Bug, format!("the operation panicked: {said}"))
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

    #[tokio::test]
    async fn nothing_goes_on_after_the_controllers_have_ended() {
        let operations = Operations::new(2);
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let waiting = |_| async move {
            let _held = held;
            std::future::pending().await
        };
        operations.begin("a", "1", Kind::Create, waiting, || {});
        drop(operations.closing());
        tokio::time::timeout(Duration::from_secs(10), dropped).await.expect("it ends").expect_err("without a word");
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let late = |_| async move {
            let _held = held;
            std::future::pending().await
        };
        operations.begin("b", "2", Kind::Create, late, || {});
        tokio::time::timeout(Duration::from_secs(10), dropped).await.expect("it ends").expect_err("without a word");
        assert!(matches!(operations.standing("b", "2"), Standing::Idle));
    }
}
