//! Clients that write and read one register in the cluster all the time, through its virtual address, and a judgement of what they saw.
//!
//! The register is a field of a `ConfigMap`. A read without a resource version is answered by a majority of etcd, a write replaces whatever
//! is there. So the register must be linearizable, whatever happens to the machines.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::{Answer, Client};
use crate::linearizable::{Action, INITIAL, Operation, check};
use crate::waiting::until;

/// Clients that call at the same time.
const CLIENTS: u64 = 3;
/// Between two calls of a client.
const INTERVAL: Duration = Duration::from_millis(100);
/// After this a client gives up a call; its outcome is unknown then.
const TIMEOUT: Duration = Duration::from_secs(3);
/// How long the API may be away before the trial ends.
const PATIENCE: Duration = Duration::from_mins(5);
const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// A register with clients at work.
pub(crate) struct Register {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
    log: PathBuf,
}

struct Shared {
    client: Client,
    name: String,
    began: Instant,
    next: AtomicU64,
    is_over: AtomicBool,
    history: Mutex<Vec<Operation>>,
}

/// What the clients did.
pub(crate) struct Judgement {
    reads: usize,
    writes: usize,
    unknown: usize,
}

impl Register {
    /// Creates the register of a trial, and begins. The history is kept in the directory of logs if it is not linearizable.
    pub(crate) async fn start(client: Client, trial: &str, logs: &std::path::Path) -> anyhow::Result<Self> {
        let name = format!("register-{trial}");
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "value": INITIAL.to_string() } });
        until("the register", PATIENCE, || async {
            let answer = client.send("POST", PATH, &HEADERS, object.to_string()).await?;
            // An attempt before this one may have created it.
            ensure!(matches!(answer.status, 201 | 409), "the API answers {}", answer.status);
            Ok(())
        })
        .await?;
        let shared = Arc::new(Shared {
            client: client.within(TIMEOUT),
            name,
            began: Instant::now(),
            next: AtomicU64::new(INITIAL + 1),
            is_over: AtomicBool::new(false),
            history: Mutex::default(),
        });
        let tasks = (0..CLIENTS).map(|number| tokio::spawn(work(shared.clone(), number))).collect();
        Ok(Self { shared, tasks, log: logs.join(format!("{trial}-history.json")) })
    }

    /// Ends the clients, reads once more, and judges what they saw.
    pub(crate) async fn finish(mut self) -> anyhow::Result<Judgement> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for task in std::mem::take(&mut self.tasks) {
            task.await?;
        }
        until("a last read of the register", PATIENCE, || async {
            ensure!(self.shared.read().await, "the API does not answer");
            Ok(())
        })
        .await?;
        let history = self.shared.history().clone();
        if let Err(violation) = check(&history) {
            std::fs::write(&self.log, serde_json::to_vec(&history)?)?;
            return Err(violation)
                .context(format!("the API is not linearizable; its history is in {}", self.log.display()));
        }
        let count = |matches: &dyn Fn(&&Operation) -> bool| history.iter().filter(matches).count();
        let judgement = Judgement {
            reads: count(&|operation| matches!(operation.action, Action::Read(_))),
            writes: count(&|operation| matches!(operation.action, Action::Write(_)) && operation.returned.is_some()),
            unknown: count(&|operation| operation.returned.is_none()),
        };
        ensure!(judgement.reads > 10 && judgement.writes > 10, "the clients did next to nothing: {judgement}");
        Ok(judgement)
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl std::fmt::Display for Judgement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reads, writes, unknown } = self;
        write!(
            f,
            "{reads} reads and {writes} writes of a register were linearizable ({unknown} writes of unknown outcome)"
        )
    }
}

const HEADERS: [(&str, &str); 1] = [("content-type", "application/json")];

/// One client, until the trial is over.
async fn work(shared: Arc<Shared>, number: u64) {
    let mut calls = number;
    while !shared.is_over.load(Ordering::Relaxed) {
        calls += 1;
        if calls.is_multiple_of(2) {
            shared.write().await;
        } else {
            shared.read().await;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

impl Shared {
    async fn write(&self) {
        let value = self.next.fetch_add(1, Ordering::Relaxed);
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": self.name }, "data": { "value": value.to_string() } });
        let called = self.began.elapsed();
        let answer = self.client.send("PUT", &self.path(), &HEADERS, object.to_string()).await;
        // Whatever is not acknowledged counts as unknown, refusals too: that allows more, and never a lost write.
        let returned = answer.is_ok_and(|answer| answer.status == 200).then(|| self.began.elapsed());
        self.history().push(Operation { action: Action::Write(value), called, returned });
    }

    /// Returns true if it was answered.
    async fn read(&self) -> bool {
        let called = self.began.elapsed();
        let answer = self.client.send("GET", &self.path(), &[], "").await;
        let Some(value) = answer.ok().as_ref().and_then(value) else { return false };
        let returned = Some(self.began.elapsed());
        self.history().push(Operation { action: Action::Read(value), called, returned });
        true
    }

    fn path(&self) -> String {
        format!("{PATH}/{}", self.name)
    }

    fn history(&self) -> std::sync::MutexGuard<'_, Vec<Operation>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value in an answer. A register that is not there any more holds what nobody wrote.
fn value(answer: &Answer) -> Option<u64> {
    match answer.status {
        200 => {
            let object: Value = serde_json::from_slice(&answer.body).ok()?;
            object["data"]["value"].as_str()?.parse().ok()
        }
        404 => Some(u64::MAX),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_value_only_if_the_register_is_in_it() {
        let answer = |status, body: &str| Answer { status, body: body.to_owned().into() };
        assert_eq!(value(&answer(200, r#"{"data":{"value":"7"}}"#)), Some(7));
        assert_eq!(value(&answer(404, "{}")), Some(u64::MAX), "a register that is lost is a violation");
        assert_eq!(value(&answer(503, "{}")), None);
        assert_eq!(value(&answer(200, "{}")), None);
    }
}
