//! What is to be looked at, and when.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use landfall_platform::error_chain;
use rand::Rng as _;
use tokio::{sync::Notify, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{Error, metrics::Metrics, panic};

/// Names of objects that are to be looked at, each with the time from which on. A name is in it once, and looked at by one at
/// a time; who is added while being looked at is looked at again.
pub(crate) struct Queue {
    controller: &'static str,
    inner: Mutex<Inner>,
    changed: Notify,
    first_pause: Duration,
    longest_pause: Duration,
}

#[derive(Default)]
struct Inner {
    order: BTreeSet<(Instant, String)>,
    due: HashMap<String, Instant>,
    busy: HashSet<String>,
    /// How often in a row each failed, and how it did last.
    failures: HashMap<String, (u32, String)>,
}

impl Queue {
    pub(crate) fn new(controller: &'static str, first_pause: Duration, longest_pause: Duration) -> Self {
        Self { controller, inner: Mutex::default(), changed: Notify::new(), first_pause, longest_pause }
    }

    /// To be looked at now.
    pub(crate) fn add(&self, name: &str) {
        self.add_at(name, Instant::now());
    }

    /// To be looked at after a time, or sooner if that was said before.
    pub(crate) fn add_after(&self, name: &str, pause: Duration) {
        self.add_at(name, Instant::now() + pause);
    }

    /// How many wait.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().due.len()
    }

    fn add_at(&self, name: &str, at: Instant) {
        let mut inner = self.lock();
        if let Some(&known) = inner.due.get(name) {
            if known <= at {
                return;
            }
            inner.order.remove(&(known, name.to_owned()));
        }
        inner.due.insert(name.to_owned(), at);
        inner.order.insert((at, name.to_owned()));
        drop(inner);
        self.changed.notify_one();
    }

    /// The next that is due and that nobody looks at.
    async fn next(&self) -> String {
        // waits: until something is due; the controllers drop it when they are stopped
        loop {
            let wait = {
                let mut inner = self.lock();
                let now = Instant::now();
                let found = inner
                    .order
                    .iter()
                    .take_while(|(at, _)| *at <= now)
                    .find(|(_, name)| !inner.busy.contains(name))
                    .cloned();
                if let Some((at, name)) = found {
                    inner.order.remove(&(at, name.clone()));
                    inner.due.remove(&name);
                    inner.busy.insert(name.clone());
                    return name;
                }
                inner.order.iter().map(|(at, _)| *at).find(|at| *at > now)
            };
            match wait {
                Some(at) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(at) => {}
                        () = self.changed.notified() => {}
                    }
                }
                None => self.changed.notified().await,
            }
        }
    }

    fn done(&self, name: &str, outcome: Result<Option<Duration>, Error>) {
        let again = {
            let mut inner = self.lock();
            inner.busy.remove(name);
            match outcome {
                Ok(again) => {
                    inner.failures.remove(name);
                    again
                }
                // What was known was old; the newer object may be here already.
                Err(error) if error.is_conflict() => Some(self.first_pause.min(Duration::from_millis(100))),
                Err(error) => {
                    let (failures, last) = inner.failures.entry(name.to_owned()).or_default();
                    *failures += 1;
                    let pause = pause(self.first_pause, self.longest_pause, *failures);
                    let (controller, failures, error) = (self.controller, *failures, error_chain(&error));
                    let pause_ms = pause.as_millis();
                    if *last == error {
                        tracing::debug!(controller, name, failures, pause_ms, error, "failed again; will try again");
                    } else {
                        tracing::warn!(controller, name, failures, pause_ms, error, "failed; will try again");
                        *last = error;
                    }
                    Some(pause)
                }
            }
        };
        match again {
            Some(pause) => self.add_after(name, pause),
            // Somebody may have added it while it was busy.
            None => self.changed.notify_one(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while holding it")
    }
}

/// Pauses double, up to a longest, and are jittered so that those who failed together do not return together.
fn pause(first: Duration, longest: Duration, failures: u32) -> Duration {
    let full = first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(longest);
    full.mul_f64(rand::rng().random_range(0.5..1.0))
}

/// Looks at what is due, several at a time, until `stop`; what is under way then is cut off.
pub(crate) async fn work<F>(
    queue: &Arc<Queue>,
    workers: usize,
    metrics: &Metrics,
    stop: &CancellationToken,
    look: impl Fn(String) -> F,
) where
    F: Future<Output = Result<Option<Duration>, Error>> + Send + 'static,
{
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            name = queue.next(), if running.len() < workers => {
                let (queue, look) = (Arc::clone(queue), look(name.clone()));
                let metrics = metrics.clone();
                running.spawn(async move {
                    // Else the name would stay busy, and the object would never be looked at again.
                    let outcome = panic::caught(look).await.unwrap_or_else(|said| Err(Error::Panicked(said)));
                    metrics.looked(queue.controller, outcome.is_ok());
                    queue.done(&name, outcome);
                });
            }
            Some(_) = running.join_next() => {}
            () = stop.cancelled() => return running.shutdown().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        Queue::new("test", Duration::from_secs(1), Duration::from_mins(1))
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_time_counts_and_a_name_is_in_once() {
        let queue = queue();
        let begun = Instant::now();
        queue.add_after("a", Duration::from_secs(9));
        queue.add_after("b", Duration::from_secs(5));
        queue.add_after("a", Duration::from_secs(2));
        queue.add_after("a", Duration::from_secs(30));
        assert_eq!(queue.next().await, "a");
        assert_eq!(begun.elapsed().as_secs(), 2);
        assert_eq!(queue.next().await, "b");
        assert_eq!(queue.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_busy_is_looked_at_again_afterwards_and_never_twice_at_once() {
        let queue = queue();
        queue.add("a");
        assert_eq!(queue.next().await, "a");
        queue.add("a");
        assert!(tokio::time::timeout(Duration::from_secs(1), queue.next()).await.is_err());
        queue.done("a", Ok(None));
        assert_eq!(queue.next().await, "a");
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_panics_has_failed_and_is_repeated() {
        let (queue, stop) = (Arc::new(queue()), CancellationToken::new());
        let looks = Arc::new(Mutex::new(Vec::new()));
        queue.add("a");
        let look = |name: String| {
            let (looks, stop) = (Arc::clone(&looks), stop.clone());
            async move {
                let before = std::mem::replace(&mut *looks.lock().unwrap(), vec![name]).len();
                assert!(before > 0, "no such machine");
                stop.cancel();
                Ok(None)
            }
        };
        let metrics = Metrics::default();
        let working = work(&queue, 1, &metrics, &stop, look);
        tokio::time::timeout(Duration::from_mins(5), working).await.expect("it is looked at again");
        assert_eq!(*looks.lock().unwrap(), ["a"]);
    }

    #[test]
    fn pauses_grow_up_to_the_longest() {
        for (failures, longest) in [(1, 1.0), (2, 2.0), (4, 8.0), (9, 60.0), (90, 60.0)] {
            let pause = pause(Duration::from_secs(1), Duration::from_mins(1), failures).as_secs_f64();
            assert!(pause <= longest && pause >= longest / 2.0, "{failures}: {pause}");
        }
    }
}
