//! The thread that writes a journal.
//!
//! Steps finish in bursts, and a durable write costs milliseconds whatever its size. So one thread owns the file and puts all
//! records that wait into one transaction; each caller waits for the transaction that holds its record.

use std::{path::PathBuf, sync::mpsc, thread};

use landfall_platform::StepId;
use tokio::sync::oneshot;

use super::{JournalError, Record, Snapshot, store::Store};

type Reply<T> = oneshot::Sender<Result<T, JournalError>>;

enum Request {
    Append((StepId, Record), Reply<()>),
    Snapshot(Reply<Snapshot>),
}

/// Dropping it waits until everything that was sent is written: whoever opens the file next sees all of it.
pub(super) struct Writer {
    /// None only while it is dropped.
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<thread::JoinHandle<()>>,
    path: PathBuf,
}

impl Writer {
    pub(super) fn start(store: Store) -> Self {
        let path = store.path().to_owned();
        let (requests, inbox) = mpsc::channel();
        let thread = thread::spawn(move || serve(store, &inbox));
        Self { requests: Some(requests), thread: Some(thread), path }
    }

    pub(super) async fn record(&self, step: StepId, record: Record) -> Result<(), JournalError> {
        self.ask(|reply| Request::Append((step, record), reply)).await
    }

    pub(super) async fn snapshot(&self) -> Result<Snapshot, JournalError> {
        self.ask(Request::Snapshot).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, JournalError> {
        let closed = || JournalError::Closed { path: self.path.clone() };
        let (reply, answer) = oneshot::channel();
        self.requests.as_ref().ok_or_else(closed)?.send(request(reply)).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // It ends with its inbox. That it panicked, callers have seen already.
            let _ = thread.join();
        }
    }
}

/// Works until all senders are gone or a write fails: a journal with a gap is worse than none, so nothing is taken after.
fn serve(mut store: Store, inbox: &mpsc::Receiver<Request>) {
    while let Ok(first) = inbox.recv() {
        let mut records = Vec::new();
        let mut replies = Vec::new();
        let mut snapshots = Vec::new();
        for request in std::iter::once(first).chain(inbox.try_iter()) {
            match request {
                Request::Append(record, reply) => {
                    records.push(record);
                    replies.push(reply);
                }
                Request::Snapshot(reply) => snapshots.push(reply),
            }
        }
        if let Err(error) = store.append(records.iter()) {
            // The batch was rolled back as a whole: one caller learns why, the others that the journal is closed.
            if let Some(reply) = replies.into_iter().next() {
                let _ = reply.send(Err(error));
            }
            return;
        }
        for reply in replies {
            let _ = reply.send(Ok(()));
        }
        for reply in snapshots {
            let _ = reply.send(store.snapshot());
        }
    }
}
