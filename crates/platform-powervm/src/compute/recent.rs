//! What was read lately and changes seldom. It is not read again for every partition.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Error;

/// Things by name, each for a while.
#[derive(Debug)]
pub(super) struct Recent<T> {
    lasts: Duration,
    known: Mutex<BTreeMap<String, (Instant, T)>>,
}

impl<T: Clone> Recent<T> {
    /// Nothing yet; things are believed for this long.
    pub(super) fn new(lasts: Duration) -> Self {
        Self { lasts, known: Mutex::default() }
    }

    /// What is known, or else what `read` tells. If many ask at once, one reads and the others wait for it.
    pub(super) async fn or_read(&self, name: &str, read: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut known = self.known.lock().await;
        if let Some((since, thing)) = known.get(name)
            && since.elapsed() < self.lasts
        {
            return Ok(thing.clone());
        }
        let thing = read.await?;
        known.insert(name.to_owned(), (Instant::now(), thing.clone()));
        Ok(thing)
    }

    /// What is known.
    pub(super) async fn known(&self, name: &str) -> Option<T> {
        let known = self.known.lock().await;
        known.get(name).filter(|(since, _)| since.elapsed() < self.lasts).map(|(_, thing)| thing.clone())
    }

    /// Takes note of something.
    pub(super) async fn learn(&self, name: &str, thing: &T) {
        self.known.lock().await.insert(name.to_owned(), (Instant::now(), thing.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn what_is_fresh_is_read_once_even_if_many_ask() {
        let (recent, reads) = (Recent::new(Duration::from_hours(1)), AtomicU32::new(0));
        let read = || async {
            tokio::task::yield_now().await;
            Ok(reads.fetch_add(1, Ordering::SeqCst))
        };
        let both = tokio::join!(recent.or_read("a", read()), recent.or_read("a", read()));
        assert_eq!((both.0.unwrap(), both.1.unwrap()), (0, 0));
        assert_eq!(recent.or_read("b", read()).await.unwrap(), 1);
        assert_eq!(recent.known("a").await, Some(0));
        let stale = Recent::new(Duration::ZERO);
        assert_eq!(stale.or_read("a", read()).await.unwrap(), 2);
        assert_eq!(stale.known("a").await, None);
        assert_eq!(stale.or_read("a", read()).await.unwrap(), 3);
    }
}
