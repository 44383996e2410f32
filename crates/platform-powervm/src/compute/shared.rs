//! Reads that those who ask at the same time share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::Error;

/// What was read last, and when that began.
type Last<T> = Arc<tokio::sync::Mutex<Option<(Instant, T)>>>;

/// Things by name. One list serves a fleet.
#[derive(Debug)]
pub(super) struct Shared<T> {
    last: Mutex<BTreeMap<String, Last<T>>>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { last: Mutex::default() }
    }
}

impl<T: Clone> Shared<T> {
    /// What `read` tells. Of those who ask while somebody reads, one reads after that for all of them: nobody gets what was read
    /// before they asked.
    pub(super) async fn read(&self, name: &str, read: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let asked = Instant::now();
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default().clone();
        let mut last = last.lock().await;
        if let Some((began, thing)) = &*last
            && *began >= asked
        {
            return Ok(thing.clone());
        }
        let began = Instant::now();
        let thing = read.await?;
        *last = Some((began, thing.clone()));
        Ok(thing)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn who_asks_meanwhile_gets_the_next_read_and_never_an_older_one() {
        let (shared, reads) = (Shared::default(), AtomicU32::new(0));
        let read = || async {
            tokio::task::yield_now().await;
            Ok(reads.fetch_add(1, Ordering::SeqCst))
        };
        let told = join_all((0..5).map(|_| shared.read("a", read()))).await;
        // All of them have asked before the first read ends; it began before the others asked.
        assert_eq!(told.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
        assert_eq!(shared.read("a", read()).await.unwrap(), 2);
        assert_eq!(shared.read("b", read()).await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_failure_is_for_the_one_who_read() {
        let shared = Shared::default();
        let missing = async { Err(Error::Missing { what: "it".to_owned(), host: "power-a".to_owned() }) };
        let (first, second) = tokio::join!(shared.read("a", missing), shared.read("a", async { Ok(1) }));
        assert!(first.is_err());
        assert_eq!(second.unwrap(), 1);
    }
}
