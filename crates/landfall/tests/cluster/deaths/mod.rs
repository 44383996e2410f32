//! `kill -9` of the real program several times in one installation, on every platform: each time another process goes on, in the
//! end the cluster is ready, nothing is there twice, and `destroy` leaves nothing.
//!
//! The program is killed at records of its journal and at random times. The moments are drawn from a seed, which is in the
//! message of a failure; what the machines do meanwhile is not, so a seed is a kind of trouble and no recording.

mod worlds;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::RangeInclusive,
    path::Path,
    time::{Duration, Instant},
};

use landfall_engine::{Journal, Snapshot, State};
use landfall_testkit::{seed, tier};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    context::{Run, TestContext},
    process::Process,
    waiting::until,
};
use worlds::{OnOvirt, OnPacket, OnPowervm, OnPowervs};

/// How often the program is killed while it creates, and while it destroys.
const DEATHS: [usize; 2] = [5, 2];
/// The longest that a process lives before it is killed at a random time.
const LONGEST_LIFE: Duration = Duration::from_secs(2);
/// What machines pin, or hold a copy of.
const HANDED_OUT: [&str; 5] =
    ["bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig", ".landfall/asset-host.json"];

/// A platform with one installation.
trait World {
    fn context(&self) -> &TestContext;
    fn start(&self, arguments: &[&str]) -> Process;
    /// The names of all machines.
    fn machines(&self) -> Vec<String>;
    /// A line for each object that an installation adds; two equal lines are two objects.
    fn holds(&self) -> Vec<String>;
}

/// When a process dies.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// When the journal has come so far.
    Progress(usize),
    /// After this time, whatever it is doing.
    Age(Duration),
}

#[test]
fn on_ovirt() {
    let place = crate::place::Place::new();
    for seed in seeds() {
        survives(seed, 6, &OnOvirt::new(&place));
    }
}

#[test]
fn on_packet() {
    for seed in seeds() {
        survives(seed, 10, &OnPacket::new());
    }
}

#[test]
fn on_powervm() {
    for seed in seeds() {
        survives(seed, 6, &OnPowervm::new());
    }
}

#[test]
fn on_powervs() {
    for seed in seeds() {
        survives(seed, 20, &OnPowervs::new());
    }
}

/// The seeds of this run: the one that is replayed, or those of the tier.
fn seeds() -> RangeInclusive<u64> {
    seed::replayed().map_or(1..=tier::choose(1, 50), |seed| seed..=seed)
}

/// Creates a cluster of one master and one worker, and destroys it. `stride` is how far the journal comes at most from one death to the
/// next.
fn survives(seed: u64, stride: usize, world: &dyn World) {
    let mut trial =
        Trial { seed, stride, world, random: ChaCha8Rng::seed_from_u64(seed), story: vec![seed::replay(seed)] };
    let empty = sorted(world.holds());
    let created = trial.until_it_succeeds("create", DEATHS[0]);
    let story = trial.story.join("; ");
    let machines = world.machines();
    let is_there = |role: &str| machines.iter().filter(|name| name.contains(role)).count();
    assert_eq!(
        [machines.len(), is_there("-master-0"), is_there("-worker-"), is_there("-bootstrap")],
        [2, 1, 1, 0],
        "seed {seed}: {machines:?}; {story}"
    );
    for machine in &machines {
        assert!(created.stdout.contains(machine.as_str()), "seed {seed}: {machine} is no node: {}", created.stdout);
    }
    let holds = world.holds();
    let twice = twice(&holds);
    assert!(twice.is_empty(), "seed {seed}: there twice: {twice:?}; {story}");
    trial.until_it_succeeds("destroy", DEATHS[1]);
    assert_eq!(sorted(world.holds()), empty, "seed {seed}: left after destruction; {}", trial.story.join("; "));
}

struct Trial<'a> {
    seed: u64,
    stride: usize,
    world: &'a dyn World,
    random: ChaCha8Rng,
    /// What happened, for the message of a failure.
    story: Vec<String>,
}

impl Trial<'_> {
    /// Starts a command again and again, and kills it so many times. Returns the run that was left alone, or came to its end first.
    fn until_it_succeeds(&mut self, command: &str, deaths: usize) -> Run {
        let mut handed_out = None;
        for _ in 0..deaths {
            let moment = self.moment();
            let mut process = self.world.start(&[command, "cluster"]);
            self.wait(&mut process, moment);
            self.story.push(format!("{command} until {moment:?}"));
            if process.has_ended() {
                return self.succeeded(command, process.wait(), handed_out);
            }
            process.kill();
            if handed_out.is_none() && progress(self.world.context()) > 0 {
                handed_out = Some(files(&self.world.context().dir()));
            }
        }
        let run = self.world.start(&[command, "cluster"]).wait();
        self.succeeded(command, run, handed_out)
    }

    fn moment(&mut self) -> Moment {
        if self.random.random_range(0..3) == 0 {
            let milliseconds = self.random.random_range(1..=LONGEST_LIFE.as_millis());
            return Moment::Age(Duration::from_millis(u64::try_from(milliseconds).unwrap()));
        }
        Moment::Progress(progress(self.world.context()) + self.random.random_range(1..=self.stride))
    }

    fn wait(&self, process: &mut Process, moment: Moment) {
        let began = Instant::now();
        until(&format!("seed {}: {moment:?}", self.seed), || {
            let has_come = match moment {
                Moment::Progress(wanted) => progress(self.world.context()) >= wanted,
                Moment::Age(age) => began.elapsed() >= age,
            };
            if has_come || process.has_ended() { Ok(()) } else { Err(process.stderr()) }
        });
    }

    fn succeeded(&self, command: &str, run: Run, handed_out: Option<BTreeMap<&'static str, Vec<u8>>>) -> Run {
        let (seed, story) = (self.seed, self.story.join("; "));
        assert_eq!(run.code, 0, "seed {seed}: {command} failed: {}\n{story}", run.stderr);
        if let Some(before) = handed_out {
            let after = files(&self.world.context().dir());
            let changed: Vec<_> = before.iter().filter(|(path, bytes)| after.get(*path) != Some(*bytes)).collect();
            assert!(changed.is_empty(), "seed {seed}: not as they were handed out: {:?}; {story}", names(&changed));
        }
        run
    }
}

fn names<T>(files: &[(&&'static str, T)]) -> Vec<&'static str> {
    files.iter().map(|(path, _)| **path).collect()
}

fn files(dir: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    HANDED_OUT.into_iter().filter_map(|path| Some((path, fs::read(dir.join(path)).ok()?))).collect()
}

/// How far the journal has come: each record of a step takes it one further.
fn progress(context: &TestContext) -> usize {
    let weight = |state| match state {
        State::Ensuring => 1,
        State::Done | State::Failed => 2,
        State::Removing => 3,
        State::RemoveFailed | State::Removed => 4,
    };
    journal(context).map_or(0, |snapshot| snapshot.entries.iter().map(|entry| weight(entry.state)).sum())
}

/// Nothing if it was not begun yet, or is being begun at this instant.
fn journal(context: &TestContext) -> Option<Snapshot> {
    Journal::read(&context.path(".landfall/journal.sqlite")).ok()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn twice(lines: &[String]) -> BTreeSet<&String> {
    let mut seen = BTreeSet::new();
    lines.iter().filter(|line| !seen.insert(*line)).collect()
}
