//! Runs jobs in the order of their dependencies, side by side within the limits of their kinds.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    future::Future,
};

use futures::{StreamExt, stream::FuturesUnordered};
use landfall_platform::{Kind, StepId};
use tokio_util::sync::CancellationToken;

/// Something to run once others have succeeded.
pub(crate) struct Job {
    pub(crate) id: StepId,
    pub(crate) kind: Kind,
    /// Jobs that come before; ids that are not among the jobs count as done.
    pub(crate) after: Vec<StepId>,
}

/// What to do with the others when a job fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// Cut off what is running and start nothing more.
    Stop,
    /// Go on with everything that does not come after the failed one.
    GoOn,
}

/// How a run ended.
pub(crate) struct Outcome<E> {
    pub(crate) failed: Vec<(StepId, E)>,
    /// Jobs that were not run, or not to their end.
    pub(crate) left: usize,
    pub(crate) cancelled: bool,
}

/// Runs all jobs. Dropping the returned future cuts off what is running.
pub(crate) async fn run<E, F>(
    jobs: Vec<Job>,
    limit: impl Fn(&Kind) -> usize,
    on_failure: OnFailure,
    cancel: &CancellationToken,
    start: impl Fn(StepId) -> F,
) -> Outcome<E>
where
    F: Future<Output = Result<(), E>>,
{
    let mut queue = Queue::new(jobs, limit);
    let mut running = FuturesUnordered::new();
    let mut outcome = Outcome { failed: Vec::new(), left: queue.waiting, cancelled: false };
    loop {
        while let Some((index, id)) = queue.next() {
            let call = start(id);
            running.push(async move { (index, call.await) });
        }
        let finished = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                outcome.cancelled = true;
                return outcome;
            }
            finished = running.next() => finished,
        };
        let Some((index, result)) = finished else { return outcome };
        match result {
            Ok(()) => {
                outcome.left -= 1;
                queue.succeeded(index);
            }
            Err(error) => {
                outcome.failed.push((queue.failed(index), error));
                if on_failure == OnFailure::Stop {
                    return outcome;
                }
            }
        }
    }
}

/// Jobs that wait, by index, so that ten thousand of them cost no more each than ten.
struct Queue {
    jobs: Vec<Job>,
    /// Jobs that come after each.
    followers: Vec<Vec<usize>>,
    /// Number of jobs that each still waits for.
    missing: Vec<usize>,
    ready: BTreeMap<Kind, Lane>,
    waiting: usize,
}

/// Ready jobs of one kind. Those that come first in the list start first.
struct Lane {
    free: usize,
    ready: BTreeSet<usize>,
}

impl Queue {
    fn new(jobs: Vec<Job>, limit: impl Fn(&Kind) -> usize) -> Self {
        let index: HashMap<_, _> = jobs.iter().enumerate().map(|(index, job)| (job.id.clone(), index)).collect();
        let mut queue = Self {
            followers: vec![Vec::new(); jobs.len()],
            missing: vec![0; jobs.len()],
            ready: BTreeMap::new(),
            waiting: jobs.len(),
            jobs,
        };
        for (position, job) in queue.jobs.iter().enumerate() {
            for before in job.after.iter().filter_map(|id| index.get(id)) {
                queue.followers[*before].push(position);
                queue.missing[position] += 1;
            }
            queue
                .ready
                .entry(job.kind.clone())
                .or_insert_with(|| Lane { free: limit(&job.kind), ready: BTreeSet::new() });
        }
        for position in 0..queue.jobs.len() {
            if queue.missing[position] == 0 {
                queue.lane(position).ready.insert(position);
            }
        }
        queue
    }

    fn lane(&mut self, index: usize) -> &mut Lane {
        self.ready.get_mut(&self.jobs[index].kind).expect("every kind of job has a lane")
    }

    /// A job that may start now.
    fn next(&mut self) -> Option<(usize, StepId)> {
        let lane = self.ready.values_mut().find(|lane| lane.free > 0 && !lane.ready.is_empty())?;
        lane.free -= 1;
        let index = lane.ready.pop_first()?;
        Some((index, self.jobs[index].id.clone()))
    }

    fn succeeded(&mut self, index: usize) {
        self.lane(index).free += 1;
        for follower in std::mem::take(&mut self.followers[index]) {
            self.missing[follower] -= 1;
            if self.missing[follower] == 0 {
                self.lane(follower).ready.insert(follower);
            }
        }
    }

    fn failed(&mut self, index: usize) -> StepId {
        self.lane(index).free += 1;
        self.jobs[index].id.clone()
    }
}
