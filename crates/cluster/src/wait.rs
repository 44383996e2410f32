//! Waiting for a cluster to come up. Every wait can be cut off and begun again.

use std::{future::Future, time::Duration};

use landfall_platform::error_chain;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{Api, Error, Node};

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long the API may be away before it is worth a word.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hears what is seen while waiting, whenever it changes.
pub type Progress<'a> = &'a (dyn Fn(String) + Send + Sync);

/// Waits until the API is ready.
pub async fn wait_for_api(api: &Api, limit: Duration, progress: Progress<'_>) -> Result<(), Error> {
    wait("the API of the cluster", limit, progress, async || match api.is_ready().await {
        Ok(true) => Look::Done(()),
        Ok(false) => Look::NotYet("the API answers, and is not ready".to_owned()),
        Err(error) => Look::NotYet(error_chain(&error)),
    })
    .await
}

/// Waits until the control plane has moved to the masters.
pub async fn wait_for_bootstrap(api: &Api, limit: Duration, progress: Progress<'_>) -> Result<(), Error> {
    wait("the move of the control plane to the masters", limit, progress, async || {
        match api.bootstrap().await {
            Ok(Some(said)) if said.status == "complete" => Look::Done(()),
            Ok(said) => match api.nodes().await {
                Ok(nodes) => Look::NotYet(match said {
                    Some(said) => format!("{}; {said}", summary(&nodes)),
                    None => summary(&nodes),
                }),
                Err(error) => Look::Unsure(error_chain(&error)),
            },
            // The address moves to the masters in the end, and nobody answers for a second.
            Err(error) => Look::Unsure(error_chain(&error)),
        }
    })
    .await
}

/// Waits until so many nodes are ready, and returns all nodes.
pub async fn wait_for_nodes(
    api: &Api,
    count: usize,
    limit: Duration,
    progress: Progress<'_>,
) -> Result<Vec<Node>, Error> {
    wait("the readiness of all nodes", limit, progress, async || match api.nodes().await {
        Ok(nodes) if nodes.iter().filter(|node| node.ready).count() >= count => Look::Done(nodes),
        Ok(nodes) => {
            let mut seen = format!("{} of {count} expected", summary(&nodes));
            // Sets of machines make the workers, and know why one does not come.
            for trouble in api.machine_troubles().await {
                seen.push_str("; ");
                seen.push_str(&trouble);
            }
            Look::NotYet(seen)
        }
        Err(error) => Look::Unsure(error_chain(&error)),
    })
    .await
}

enum Look<T> {
    Done(T),
    NotYet(String),
    /// Nothing was to be seen, which is worth a word only if it stays so.
    Unsure(String),
}

async fn wait<T, F: Future<Output = Look<T>>>(
    awaited: &'static str,
    limit: Duration,
    progress: Progress<'_>,
    look: impl Fn() -> F,
) -> Result<T, Error> {
    let deadline = Instant::now() + limit;
    let mut evidence = "nothing was seen".to_owned();
    let mut unsure_since = None;
    loop {
        let seen = match timeout_at(deadline, look()).await {
            Ok(Look::Done(found)) => return Ok(found),
            Ok(Look::NotYet(seen)) => {
                unsure_since = None;
                Some(seen)
            }
            Ok(Look::Unsure(seen)) => {
                let since = unsure_since.get_or_insert_with(Instant::now);
                Some(seen).filter(|_| since.elapsed() > PATIENCE)
            }
            Err(_) => return Err(Error::Timeout { awaited, limit, evidence }),
        };
        if let Some(seen) = seen.filter(|seen| *seen != evidence) {
            evidence.clone_from(&seen);
            progress(seen);
        }
        if Instant::now() + INTERVAL > deadline {
            return Err(Error::Timeout { awaited, limit, evidence });
        }
        sleep(INTERVAL).await;
    }
}

fn summary(nodes: &[Node]) -> String {
    let ready = nodes.iter().filter(|node| node.ready).count();
    format!("{} nodes, {ready} ready", nodes.len())
}
