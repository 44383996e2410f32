//! Reading an object, changing it, and sending it back, while others do the same.

use std::time::Duration;

use super::{atom::Entry, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// How often a change is tried again because somebody else was faster.
const ATTEMPTS: u32 = 60;
/// How long the first wait is at most, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Whether an object was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// It was, and is to be sent.
    Changed,
    /// It was as it should be.
    Unchanged,
}

impl Client {
    /// Reads an object, lets `change` have its way with it, and sends it back. If somebody else has changed it meanwhile, all of
    /// that happens again with the new version, so `change` must look before it changes.
    ///
    /// What `change` does not touch stays as it was: the server removes what is missing.
    pub async fn edit(
        &self,
        path: &Path,
        change: impl FnMut(&mut Element) -> Result<Edit, Error>,
    ) -> Result<Entry, Error> {
        self.edit_from(path, None, change).await
    }

    /// The same, beginning with what the object was when it was last seen: if it is so still, it need not be read. That nothing is to
    /// be changed is never believed of a version that may be old.
    pub async fn edit_from(
        &self,
        path: &Path,
        mut last: Option<Entry>,
        mut change: impl FnMut(&mut Element) -> Result<Edit, Error>,
    ) -> Result<Entry, Error> {
        for attempt in 0..ATTEMPTS {
            let known = last.take().filter(|entry| entry.etag.is_some());
            let is_fresh = known.is_none();
            let mut entry = match known {
                Some(entry) => entry,
                None => self.entry(path).await?,
            };
            if change(&mut entry.object)? == Edit::Unchanged {
                if is_fresh {
                    return Ok(entry);
                }
                continue;
            }
            match self.update(path, &entry.object, entry.etag.as_deref()).await {
                Err(Error::Fault { fault, .. }) if fault.status == 412 && !is_fresh => {}
                Err(Error::Fault { fault, .. }) if fault.status == 412 => tokio::time::sleep(wait(attempt)).await,
                outcome => return outcome,
            }
        }
        Err(Error::Contended { object: path.to_string(), console: self.console().to_string(), attempts: ATTEMPTS })
    }
}

/// A wait that grows, and that differs from everybody else's.
fn wait(attempt: u32) -> Duration {
    let most = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt.min(10))).min(LONGEST_WAIT);
    most.mul_f64(rand::random_range(0.5..1.0))
}
