//! One call of a step: repeated while that can help, within its time.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use landfall_platform::{ErrorClass, StepError, StepSpec, error_chain};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{Event, Options};

/// What a step said last: if its time is over, that is what it waited for.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Option<String>>>);

impl Heard {
    /// Turns what a step says about its progress into events, and remembers it.
    pub(crate) fn reporter(&self, spec: &StepSpec, options: &Options) -> Arc<dyn Fn(String) + Send + Sync> {
        let (heard, events, step) = (self.clone(), Arc::clone(&options.events), spec.id.clone());
        Arc::new(move |message| {
            *heard.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.clone());
            events.event(&Event::Progress { step: step.clone(), message });
        })
    }

    fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Calls until it succeeds, fails for good, or the time is over.
pub(crate) async fn call<T, F>(
    spec: &StepSpec,
    limit: Duration,
    options: &Options,
    heard: &Heard,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StepError>
where
    F: Future<Output = Result<T, StepError>>,
{
    let deadline = Instant::now() + limit;
    let mut failures = 0;
    let mut last = None;
    loop {
        let error = match timeout_at(deadline, attempt()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => return Err(expired(limit, heard, last)),
        };
        failures += 1;
        let Some(pause) = options.retry.pause(error.class(), error.wait(), failures, &mut rand::rng()) else {
            return Err(error);
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some(asked) = error.wait().filter(|asked| *asked >= left) {
            return Err(put_off(asked, left, error));
        }
        if left <= options.retry.first {
            return Err(expired(limit, heard, Some(error)));
        }
        // A pause that grew beyond the time that is left would only waste it: the last attempts come before the end.
        let pause = pause.min((left / 2).max(error.wait().unwrap_or_default()));
        options.events.event(&Event::Retrying {
            step: spec.id.clone(),
            class: error.class(),
            error: error_chain(&error),
            pause,
            attempt: failures,
        });
        last = Some(error);
        sleep(pause).await;
    }
}

/// The platform asks for more time than there is.
#[derive(Debug, thiserror::Error)]
#[error("the platform asks to wait {asked:?} before the next attempt, longer than the {left:?} that are left")]
struct PutOff {
    asked: Duration,
    left: Duration,
    source: StepError,
}

fn put_off(asked: Duration, left: Duration, source: StepError) -> StepError {
    let left = Duration::from_secs(left.as_secs());
    StepError::new(source.class(), PutOff { asked, left, source }).retry_after(Some(asked))
}

/// The time is over; the last failure, if there was one, says why it took so long.
#[derive(Debug, thiserror::Error)]
#[error("not done after {limit:?}{}", .seen.as_ref().map(|seen| format!("; last seen: {seen}")).unwrap_or_default())]
struct Expired {
    limit: Duration,
    seen: Option<String>,
    source: Option<StepError>,
}

fn expired(limit: Duration, heard: &Heard, source: Option<StepError>) -> StepError {
    StepError::new(ErrorClass::Timeout, Expired { limit, seen: heard.last(), source })
}
