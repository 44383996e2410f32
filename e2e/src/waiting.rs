//! Waiting for something to become true, with a limit and the last state in the message.

use std::time::{Duration, Instant};

/// Asks until the answer is there; fails with the last reason when the time is up.
pub(crate) async fn until<T, F>(what: &str, limit: Duration, mut ask: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let deadline = Instant::now() + limit;
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(reason) if Instant::now() > deadline => {
                return Err(reason.context(format!("{what}: not within {limit:?}")));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(250)).await,
        }
    }
}
