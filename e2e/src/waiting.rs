//! Waiting for something to become true, with a limit of time without progress, and the last state in the message.

use std::time::{Duration, Instant};

/// A wait ends after this many times its limit, also if there is still some change.
const LONGEST: u32 = 10;

/// Asks until the answer is there; fails with the last reason when nothing has changed for as long as `limit`: a busy machine is slow.
pub(crate) async fn until<T, F>(what: &str, limit: Duration, mut ask: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let deadline = Instant::now() + limit * LONGEST;
    let (mut seen, mut changed) = (String::new(), Instant::now());
    loop {
        let reason = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(reason) => reason,
        };
        let now = Instant::now();
        let shown = format!("{reason:#}");
        if shown != seen {
            (seen, changed) = (shown, now);
        }
        if now > deadline || now > changed + limit {
            return Err(reason.context(format!("{what}: no progress within {limit:?}")));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
