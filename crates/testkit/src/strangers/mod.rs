//! A stranger on the platform, at work between any two calls of an installation, of its removal and of fencing: what is the cluster's
//! stays the cluster's whatever it is called, and what only looks like it is left alone. At some moments another Landfall is at work too.
//!
//! A trial is told by its seed. The decisions of the stranger depend on the seed and on the number of the call alone; the order of calls
//! that run side by side is the machine's.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it did")]

mod fencing;
mod ghost;
mod judge;
mod second;
mod trial;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use landfall_platform::{MachineSpec, Machines};
use tokio::task::JoinSet;

use crate::{
    World,
    seed::{self, Dice},
    tier,
};
use ghost::Ghost;

/// Acts of the stranger in the tiers.
const ACTS: (u64, u64) = (1_000, 100_000);
/// No more trials than so many: a stranger that finds nothing to do would go on for ever.
const TRIALS: (u64, u64) = (500, 50_000);
/// Trials at once. Each waits most of the time.
const AT_ONCE: usize = 4;
/// A trial that has not ended by then never does.
const DEADLINE: Duration = Duration::from_mins(4);
/// One trial of so many is about fencing.
const FENCING: u64 = 4;

/// Called, and awaited, before each call of the API, with its method and path.
pub type BeforeCall = Arc<dyn Fn(String, String) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A platform that a stranger works on.
#[async_trait]
pub trait Haunted: World {
    /// Has something called before each call of the API; `None` ends that. Neither the stranger nor the judge may bring it about.
    fn before_each_call(&self, hook: Option<BeforeCall>);

    /// Lets some time pass on a stepped clock. Called before each call, so that how far things have come depends on the calls and not on
    /// how busy the machine is. Does nothing where calls themselves wait for time to pass: there the clock is a fast one.
    fn pass_time(&self);

    /// Everything that exists in the world, by its id, as the platform itself sees it.
    fn things(&self) -> BTreeMap<String, Thing>;

    /// Lets the stranger do one thing, which the dice choose: rename something of the cluster's, change or take away its mark, clone,
    /// move, stop or delete it, or make something that looks like it. What cannot be done at the moment is not done.
    ///
    /// It takes the mark only from what has an id that is `recorded`: what has neither mark nor record belongs to no cluster.
    fn haunt(&self, dice: &mut Dice, recorded: &BTreeSet<String>) -> Option<Deed>;

    /// Lets the stranger do one thing to the machine with an id that is being fenced and replaced. It may take away its name or its mark,
    /// never both, and does not start it.
    fn haunt_machine(&self, dice: &mut Dice, id: &str) -> Option<Deed>;

    /// Returns false if two runs that make the same machine at once are known to leave something behind.
    fn bears_a_second_run(&self) -> bool {
        true
    }

    /// Returns false if kinds of objects are marked only after they were made: what another installation leaves that died in between is known
    /// to its own journal alone, which is thrown away here.
    fn bears_a_second_installation(&self) -> bool {
        true
    }

    /// The machine verbs.
    fn machines(&self) -> Arc<dyn Machines>;

    /// A worker with a name, as the machine controller asks for it.
    fn worker(&self, name: &str) -> MachineSpec;
}

/// Something that exists on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is, in one line: its kind, name, mark and whatever else must not be changed. What changes by itself is not in it.
    pub line: String,
    /// Its name.
    pub name: String,
    /// What a removal calls it; none for what goes with something else.
    pub title: Option<String>,
    /// Whether it carries the cluster's exact mark.
    pub is_marked: bool,
    /// Whether it is a machine that runs or is about to.
    pub runs: bool,
}

/// What the stranger did.
#[derive(Clone, Debug)]
pub struct Deed {
    /// In a few words, with names and ids.
    pub text: String,
    /// Ids of what it made.
    pub made: Vec<String>,
}

/// Makes, fences and removes clusters under a stranger's hands until it has acted as often as the tier asks for, each time with another
/// seed.
///
/// An installation may fail, since the stranger deletes what it needs or takes a name. But every run ends; a removal that says that
/// nothing is left is right; it removes what a dry run lists and nothing else; no machine that was fenced runs; and nothing of the
/// stranger's is touched. `world` makes the world of a seed.
pub async fn survive_strangers<F>(world: impl Fn(u64) -> F)
where
    F: Future<Output = Arc<dyn Haunted>> + Send + 'static,
{
    let began = Instant::now();
    let replayed = seed::replayed();
    let mut seeds = replayed.map_or(0..tier::choose(TRIALS.0, TRIALS.1), |seed| seed..seed + 1);
    let wanted = tier::choose(ACTS.0, ACTS.1);
    let (mut trials, mut acts, mut fenced) = (0_u64, BTreeMap::<String, u64>::new(), 0);
    let mut running = JoinSet::new();
    loop {
        while running.len() < AT_ONCE && acts.values().sum::<u64>() < wanted {
            let Some(seed) = seeds.next() else { break };
            running.spawn(attempt(world(seed), seed));
        }
        let Some(ended) = running.join_next().await else { break };
        let told = match ended {
            Ok(told) => told,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        trials += 1;
        for (kind, count) in told.acts {
            *acts.entry(kind).or_default() += count;
        }
        fenced += told.fenced;
    }
    let took = began.elapsed().as_secs();
    let sum: u64 = acts.values().sum();
    println!("{trials} trials, {sum} acts of the stranger, {fenced} machines fenced, {took} s; {acts:?}");
    assert!(replayed.is_some() || sum >= wanted, "the stranger acted {sum} times of {wanted} in {trials} trials");
    assert!(replayed.is_some() || fenced > 0, "no machine was fenced, so nothing was proved of that");
}

/// What a trial came to.
struct Told {
    acts: BTreeMap<String, u64>,
    fenced: u64,
}

async fn attempt(world: impl Future<Output = Arc<dyn Haunted>> + Send + 'static, seed: u64) -> Told {
    let ghost = Ghost::of(world.await, seed);
    let _haunting = ghost.haunting();
    let trial = Arc::clone(&ghost);
    let running = tokio::spawn(async move {
        let ended =
            async { if seed % FENCING == FENCING - 1 { fencing::run(&trial).await } else { trial::run(&trial).await } };
        tokio::time::timeout(DEADLINE, ended).await.unwrap_or_else(|_| panic!("not ended after {DEADLINE:?}"))
    });
    match running.await {
        Ok(fenced) => Told { acts: ghost.acts(), fenced },
        Err(error) => {
            eprintln!("{}\n{}", seed::replay(seed), ghost.story());
            std::panic::resume_unwind(error.into_panic())
        }
    }
}
