//! A client that calls the API all the time, and remembers when it was not served.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::Client;

/// How often the API is called.
const INTERVAL: Duration = Duration::from_millis(50);
/// What a call may take before it counts as not served.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Every so many calls one writes.
const WRITES: u64 = 4;

/// A client at work.
pub(crate) struct Probe {
    seen: Arc<Mutex<Seen>>,
    client: Client,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    /// When each call ended, and whether it was served.
    calls: Vec<(Instant, bool)>,
    /// Names of objects whose creation was acknowledged.
    written: BTreeSet<String>,
}

/// What a probe saw.
pub(crate) struct Outage {
    /// The longest time from one good answer to the next, on any of the calls that were under way.
    pub(crate) longest: Duration,
    /// Calls that failed.
    pub(crate) failed: usize,
    /// Writes that were acknowledged.
    pub(crate) written: BTreeSet<String>,
}

impl Probe {
    /// Begins to call. Objects that it makes carry the name of the trial.
    pub(crate) fn start(client: Client, trial: &str) -> Self {
        let client = client.within(TIMEOUT);
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let (calling, noting, trial) = (client.clone(), seen.clone(), trial.to_owned());
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(INTERVAL);
            for number in 0_u64.. {
                ticks.tick().await;
                let (client, seen, trial) = (calling.clone(), noting.clone(), trial.clone());
                // In a task of its own, so that a call that waits does not keep the next from being made.
                tokio::spawn(async move {
                    let name = (number % WRITES == 0).then(|| format!("{trial}-{number}"));
                    let served = call(&client, name.as_deref()).await;
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.calls.push((Instant::now(), served));
                    if let (true, Some(name)) = (served, name) {
                        seen.written.insert(name);
                    }
                });
            }
        });
        Self { seen, client, task }
    }

    /// How long the last calls have been served without a gap.
    pub(crate) fn served_for(&self) -> Duration {
        let mut calls = self.seen.lock().unwrap_or_else(PoisonError::into_inner).calls.clone();
        calls.sort_unstable();
        let good = calls.iter().rev().take_while(|(_, served)| *served);
        let first = good.last().map(|(ended, _)| *ended);
        first.map(|ended| ended.elapsed()).unwrap_or_default()
    }

    /// Ends the calls and says what was seen; asks the API whether what it acknowledged is there.
    pub(crate) async fn finish(self) -> anyhow::Result<Outage> {
        self.task.abort();
        tokio::time::sleep(TIMEOUT).await;
        let (mut calls, written) = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            (seen.calls.clone(), seen.written.clone())
        };
        calls.sort_unstable();
        let stored = stored(&self.client.within(Duration::from_secs(20))).await?;
        let lost: Vec<_> = written.difference(&stored).collect();
        anyhow::ensure!(lost.is_empty(), "the API acknowledged {} writes and lost {lost:?}", written.len());
        Ok(Outage { longest: longest(&calls), failed: calls.iter().filter(|(_, served)| !served).count(), written })
    }
}

impl std::fmt::Display for Outage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (longest, failed, written) = (self.longest.as_secs_f64(), self.failed, self.written.len());
        write!(f, "longest wait {longest:.2} s, {failed} calls failed, {written} writes acknowledged and all there")
    }
}

async fn call(client: &Client, write: Option<&str>) -> bool {
    let answer = match write {
        None => client.send("GET", "/api/v1/namespaces/default", &[], "").await,
        Some(name) => {
            let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "labels": { "probe": "yes" } } });
            let headers = [("content-type", "application/json")];
            client.send("POST", "/api/v1/namespaces/default/configmaps", &headers, object.to_string()).await
        }
    };
    answer.is_ok_and(|answer| (200..300).contains(&answer.status))
}

async fn stored(client: &Client) -> anyhow::Result<BTreeSet<String>> {
    let answer = client.send("GET", "/api/v1/namespaces/default/configmaps?labelSelector=probe", &[], "").await?;
    let list: Value = serde_json::from_slice(&answer.body)?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    Ok(items.iter().filter_map(|item| Some(item["metadata"]["name"].as_str()?.to_owned())).collect())
}

/// The longest time between two good answers; to the last call if none came any more.
fn longest(calls: &[(Instant, bool)]) -> Duration {
    let last = calls.last().map(|(ended, _)| *ended);
    let good: Vec<Instant> = calls.iter().filter(|(_, served)| *served).map(|(ended, _)| *ended).chain(last).collect();
    good.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_from_one_good_answer_to_the_next() {
        let start = Instant::now();
        let calls = |served: &[bool]| -> Vec<(Instant, bool)> {
            (0_u32..).zip(served).map(|(number, served)| (start + INTERVAL * number, *served)).collect()
        };
        assert_eq!(longest(&calls(&[true, true, true])), INTERVAL);
        assert_eq!(longest(&calls(&[true, false, false, true, true, false, true])), INTERVAL * 3);
        assert_eq!(longest(&calls(&[true, false, false])), INTERVAL * 2);
    }
}
