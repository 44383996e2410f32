//! One call of a step: repeated while that can help, within the step's time.

use std::{future::Future, time::Duration};

use landfall_platform::{ErrorClass, StepError, StepSpec, error_chain};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{Event, Options};

/// Calls until it succeeds, fails for good, or the step's time is over.
pub(crate) async fn call<T, F>(
    spec: &StepSpec,
    options: &Options,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StepError>
where
    F: Future<Output = Result<T, StepError>>,
{
    let deadline = Instant::now() + spec.timeout;
    let mut failures = 0;
    let mut last = None;
    loop {
        let error = match timeout_at(deadline, attempt()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => return Err(expired(spec.timeout, last)),
        };
        failures += 1;
        let Some(pause) = options.retry.pause(error.class(), error.wait(), failures, &mut rand::rng()) else {
            return Err(error);
        };
        options.events.event(&Event::Retrying {
            step: spec.id.clone(),
            class: error.class(),
            error: error_chain(&error),
            pause,
            attempt: failures,
        });
        last = Some(error);
        if Instant::now() + pause >= deadline {
            return Err(expired(spec.timeout, last));
        }
        sleep(pause).await;
    }
}

/// The step's time is over; the last failure, if there was one, says why it took so long.
#[derive(Debug, thiserror::Error)]
#[error("not done after {limit:?}")]
struct Expired {
    limit: Duration,
    source: Option<StepError>,
}

fn expired(limit: Duration, source: Option<StepError>) -> StepError {
    StepError::new(ErrorClass::Timeout, Expired { limit, source })
}
