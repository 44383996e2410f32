//! The last listing of one kind of thing, shared by all who look at it.
//!
//! Many steps wait for their objects at the same time. Each of them asking the platform would be one call per object and
//! second; so whoever waits shares what the last listing said, and asks for a new one only if nobody has of late.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::Instant};

/// Listings of one kind of thing. Clones share them.
#[derive(Debug)]
pub struct Listings<T> {
    interval: Duration,
    last: Arc<Mutex<Option<Listing<T>>>>,
}

#[derive(Debug)]
struct Listing<T> {
    at: Instant,
    found: Arc<Vec<T>>,
}

impl<T> Clone for Listings<T> {
    fn clone(&self) -> Self {
        Self { interval: self.interval, last: Arc::clone(&self.last) }
    }
}

impl<T> Listings<T> {
    /// Those who wait look once per interval.
    pub fn new(interval: Duration) -> Self {
        Self { interval, last: Arc::default() }
    }

    /// Looks again and again until `judge` has a verdict, or says that there never will be one.
    pub async fn wait<V, E, F>(
        &self,
        list: impl Fn() -> F,
        mut judge: impl FnMut(&[T]) -> Result<Option<V>, E>,
    ) -> Result<V, E>
    where
        F: Future<Output = Result<Vec<T>, E>>,
    {
        let mut not_before = Instant::now();
        // waits: called by steps and verbs, which their callers end at their limit
        loop {
            let found = self.since(not_before, &list).await?;
            if let Some(verdict) = judge(&found)? {
                return Ok(verdict);
            }
            not_before = Instant::now() + self.interval;
            tokio::time::sleep_until(not_before).await;
            // Any listing that another has made during the pause will do.
            not_before -= self.interval / 2;
        }
    }

    /// A listing that is begun now.
    pub async fn now<E, F>(&self, list: impl Fn() -> F) -> Result<Arc<Vec<T>>, E>
    where
        F: Future<Output = Result<Vec<T>, E>>,
    {
        self.since(Instant::now(), list).await
    }

    /// A listing that was begun at the given time or later. Those who ask while one is under way get the same.
    async fn since<E, F>(&self, not_before: Instant, fetch: impl Fn() -> F) -> Result<Arc<Vec<T>>, E>
    where
        F: Future<Output = Result<Vec<T>, E>>,
    {
        let mut last = self.last.lock().await;
        if let Some(listing) = last.as_ref().filter(|listing| listing.at >= not_before) {
            return Ok(Arc::clone(&listing.found));
        }
        let at = Instant::now();
        let found = Arc::new(fetch().await?);
        *last = Some(Listing { at, found: Arc::clone(&found) });
        Ok(found)
    }
}
