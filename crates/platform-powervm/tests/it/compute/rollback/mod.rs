//! Every kind of trouble at every call of every operation: what was begun is undone, or the same operation finishes it.
//!
//! | file | what is in it |
//! |---|---|
//! | `arena` | two hosts that can be set back to how they were |
//! | `operations` | the table of operations |
//! | `trouble` | what can go wrong with a call |

mod arena;
mod operations;
mod trouble;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use landfall_engine::RemovalError;
use landfall_platform_powervm::compute::OperationError;
use landfall_simulator::powervm::NovaLink;

use self::arena::{Arena, Program};
use self::operations::{OPERATIONS, Operation, Refusal};
use self::trouble::{Calls, Trouble};

/// Arenas at once.
const AT_ONCE: usize = 4;

/// An operation, what there is before it and after it.
struct Act {
    operation: &'static Operation,
    /// Whether the program has done it before.
    learnt: bool,
    saved: NovaLink,
    before: Vec<String>,
    after: Vec<String>,
    reads: u64,
    writes: u64,
}

impl Act {
    /// Lets the operation run undisturbed.
    async fn rehearse(arena: &mut Arena, operation: &'static Operation, learnt: bool) -> Self {
        arena.begin().await;
        (operation.prepare)(arena.first.clone()).await;
        let (saved, before) = (arena.save(), arena.inventory());
        arena.succeed().await;
        if learnt {
            arena.learn(operation, &saved).await;
        }
        let (reads, writes) = arena.calls();
        let done = (operation.perform)(arena.first.clone(), arena.run()).await;
        done.unwrap_or_else(|refusal| panic!("{}: {refusal}", operation.name));
        let after = arena.inventory();
        let (all_reads, all_writes) = arena.calls();
        let (reads, writes) = (all_reads - reads, all_writes - writes);
        assert!(reads + writes > 0, "{} asks nobody", operation.name);
        Self { operation, learnt, saved, before, after, reads, writes }
    }

    /// What there was before it, and a program that is about to do it.
    async fn set(&self, arena: &mut Arena) {
        arena.restore(&self.saved).await;
        if self.learnt {
            arena.learn(self.operation, &self.saved).await;
        }
    }

    fn name(&self) -> String {
        format!("{}{}", self.operation.name, if self.learnt { ", not for the first time" } else { "" })
    }

    fn compared(&self, lines: &[String]) -> Vec<String> {
        let kept = |line: &&String| !self.operation.keeps.iter().any(|word| line.contains(word));
        lines.iter().filter(kept).cloned().collect()
    }

    /// The operation with one kind of trouble at one call.
    async fn trial(&self, arena: &mut Arena, trouble: Trouble, calls: Calls, number: u64) {
        let label = format!("{}: {trouble:?} at call {number} of its {calls:?}", self.name());
        self.set(arena).await;
        let rule = arena.trouble(trouble, calls, number);
        let run = arena.run();
        let run = trouble.patience(run);
        let performed = (self.operation.perform)(arena.first.clone(), run.clone());
        let outcome = if trouble.kills() { arena.until_fired(rule, performed).await } else { Some(performed.await) };
        arena.calm(trouble, outcome.is_none()).await;
        match outcome {
            Some(Ok(())) if self.is_degraded(&arena.inventory()) => arena.connect().await,
            Some(Ok(())) => return assert_eq!(self.after, arena.inventory(), "{label}"),
            Some(Err(refusal)) => self.check(&label, &refusal, arena),
            None => arena.succeed().await,
        }
        // Again, by another process if the first has died.
        let mut again = arena.run();
        again.journal = run.journal;
        let done = (self.operation.perform)(arena.first.clone(), again).await;
        done.unwrap_or_else(|refusal| panic!("{label}, and again: {refusal}"));
        assert_eq!(self.after, arena.inventory(), "{label}, and again");
    }

    /// What a failure says must be true.
    fn check(&self, label: &str, refusal: &Refusal, arena: &Arena) {
        let now = arena.inventory();
        match refusal {
            // A move that was done just when its time was over cannot be undone, which is said.
            Refusal::Operation(OperationError::Stuck { remains, .. }) => {
                assert!(!remains.is_empty() && self.after == now, "{label}: {refusal}");
            }
            // What was removed before that is gone.
            Refusal::Operation(OperationError::Remains { remains, source, .. }) => {
                let unknown = matches!(**source, RemovalError::Discovery(_));
                assert!(!remains.is_empty() || unknown, "{label}: {refusal}");
            }
            _ if self.operation.undoes => {
                assert_eq!(self.compared(&self.before), self.compared(&now), "{label}: {refusal}");
            }
            _ => {}
        }
    }

    /// Whether a volume is there by fewer paths than it could be: one that a VIOS does not find is attached by the others.
    fn is_degraded(&self, lines: &[String]) -> bool {
        let is_path = |line: &&String| line.contains("hdisk1");
        let others = |lines: &[String]| lines.iter().filter(|line| !is_path(line)).cloned().collect::<Vec<_>>();
        let paths = |lines: &[String]| lines.iter().filter(is_path).filter(|line| line.contains("shows")).count();
        others(lines) == others(&self.after) && (1..paths(&self.after)).contains(&paths(lines))
    }

    /// From one call on nothing can be changed any more: what remains is said, and once that is over it can be finished.
    async fn stuck(&self, arena: &mut Arena, number: u64) {
        let label = format!("{}: refusals from write {number} on", self.name());
        self.set(arena).await;
        arena.refuse_from(number);
        let run = arena.run();
        let outcome = (self.operation.perform)(arena.first.clone(), run.clone()).await;
        arena.calm(Trouble::Refused, false).await;
        let left = self.compared(&self.before) != self.compared(&arena.inventory());
        match outcome {
            Ok(()) if self.is_degraded(&arena.inventory()) => arena.connect().await,
            Ok(()) => return assert_eq!(self.after, arena.inventory(), "{label}"),
            Err(Refusal::Operation(OperationError::Stuck { remains, .. })) => {
                assert!(!remains.is_empty(), "{label}: something is stuck, and nothing is said to remain");
            }
            Err(Refusal::Operation(OperationError::Remains { remains, source, .. })) => {
                assert!(!remains.is_empty(), "{label}: {source}");
            }
            Err(refusal) => {
                assert!(!left || !self.operation.undoes, "{label}: nothing is said to remain, but it does: {refusal}");
            }
        }
        let done = (self.operation.perform)(arena.first.clone(), run).await;
        done.unwrap_or_else(|refusal| panic!("{label}, and again: {refusal}"));
        assert_eq!(self.after, arena.inventory(), "{label}, and again");
    }
}

/// One cell of the table.
enum Cell {
    Trial(Trouble, Calls, u64),
    Stuck(u64),
}

/// Returns one trouble for every call, in turn, and for every third call of a program that has done the operation before; in the tier
/// `full` all troubles for every call.
fn cells(act: &Act) -> Vec<Cell> {
    let full = landfall_testkit::tier::is_full();
    let offset = act.operation.name.len() as u64;
    let is_tried = |number: &u64| full || !act.learnt || (number + offset).is_multiple_of(3);
    let trials = |calls: Calls, count: u64| {
        (1..=count).filter(is_tried).flat_map(move |number| {
            let troubles = calls.troubles();
            let turn = (number + offset) % troubles.len() as u64;
            let chosen = move |(index, _): &(usize, &Trouble)| full || *index as u64 == turn;
            let chosen = troubles.iter().enumerate().filter(chosen);
            chosen.map(move |(_, trouble)| Cell::Trial(*trouble, calls, number))
        })
    };
    let stuck = (1..=act.writes).filter(|number| full || (number + offset).is_multiple_of(3)).map(Cell::Stuck);
    trials(Calls::Reads, act.reads).chain(trials(Calls::Writes, act.writes)).chain(stuck).collect()
}

/// All cells of some operations, over a few arenas.
async fn matrix(chosen: impl Fn(&Operation) -> bool) {
    let mut work = VecDeque::new();
    {
        let mut arena = Arena::new().await;
        for operation in OPERATIONS.iter().filter(|operation| chosen(operation)) {
            for learnt in [false, true].into_iter().take(1 + usize::from(operation.learns)) {
                let act = Arc::new(Act::rehearse(&mut arena, operation, learnt).await);
                work.extend(cells(&act).into_iter().map(|cell| (Arc::clone(&act), cell)));
            }
        }
    }
    let work = Arc::new(Mutex::new(work));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE {
        let work = Arc::clone(&work);
        tasks.spawn(async move {
            let mut arena = Arena::new().await;
            loop {
                let next = work.lock().unwrap().pop_front();
                let Some((act, cell)) = next else { return };
                match cell {
                    Cell::Trial(trouble, calls, number) => act.trial(&mut arena, trouble, calls, number).await,
                    Cell::Stuck(number) => act.stuck(&mut arena, number).await,
                }
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

/// The table is worked off by parts, so that a failure says which.
macro_rules! parts {
    ($($name:ident: $part:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            matrix(|operation| operation.part == $part).await;
        }
    )*};
}

parts! {
    making_and_removing: "making";
    switching: "power";
    attaching_and_detaching: "attachments";
    shaping: "shape";
    moving: "migration";
}

#[test]
fn every_operation_is_in_a_part() {
    let parts = ["making", "power", "attachments", "shape", "migration"];
    for operation in OPERATIONS {
        assert!(parts.contains(&operation.part), "{}", operation.name);
    }
}

/// Something that the arena's own laws say: two programs see the same hosts.
#[tokio::test]
async fn an_arena_can_be_set_back() {
    let mut arena = Arena::new().await;
    arena.begin().await;
    let (saved, before) = (arena.save(), arena.inventory());
    let program: Program = arena.first.clone();
    (OPERATIONS[0].perform)(program, arena.run()).await.unwrap();
    assert_ne!(before, arena.inventory());
    arena.restore(&saved).await;
    assert_eq!(before, arena.inventory());
}
