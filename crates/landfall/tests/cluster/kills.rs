//! `kill -9` of the real program at every call that changes something: while the call is on its way, and once it was carried
//! out but not answered. Whatever the program had recorded by then, the same command goes on from there.
//!
//! Every step is seen dying both before its call and between its call and its record; that is not taken for granted, but read
//! from the journal and the engine after each kill.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use landfall_engine::{Entry, Snapshot, State};

use crate::{
    engine::{CHANGES, Engine, SavedEngine},
    install::{Install, Wish},
    inventory::{Inventory, assert_same},
    place::Place,
    process::Process,
    waiting::until,
};

/// Trials side by side. They wait most of the time.
const WORKERS: usize = 6;
/// How often everything is tried again until every moment was hit.
const ROUNDS: usize = 5;
/// The step that is removed again when the control plane is up.
const BOOTSTRAP: &str = "vm/bootstrap";

/// When the program dies, as the call sees it.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// The engine has not begun to carry it out, and never will.
    Before,
    /// The engine has carried it out, and nobody knows.
    After,
}

/// What was found of a step after a kill: where the journal says that it stands, and whether its object exists.
type Sight = (String, &'static str);

const NOT_MADE: &str = "being made, and not there";
const MADE: &str = "being made, and complete";
const NOT_REMOVED: &str = "being removed, and there";
const REMOVED: &str = "being removed, and gone";

/// What one thread needs again and again.
struct Bench<'a> {
    place: &'a Place,
    /// An install directory with everything that is made before the engine is called.
    prepared: Install,
    /// What is in an engine in which nothing was done.
    empty: Inventory,
    /// What is in an engine in which the cluster was made without trouble.
    made: Inventory,
    /// How many calls that took.
    calls: u64,
    /// The steps of the plan that make something.
    steps: Vec<String>,
    /// The engine then, with a worker that the cluster made since, and the install directory, which knows nothing of it.
    saved: SavedEngine,
    done: Install,
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place) -> Self {
        let saved = SavedEngine::new();
        let engine = Engine::with(place, &["--state", saved.file().to_str().unwrap()]);
        let empty = engine.inventory();
        // What the cluster makes by itself is not this program's.
        let prepared = Install::new(&engine, Wish { workers: 0, ..Wish::default() });
        prepared.ok(&["create", "ignition-configs"]);
        let done = prepared.copy();
        done.create();
        let (made, calls) = (engine.inventory(), engine.changes());
        let objects = |entry: &&Entry| ["tag", "affinity-group", "vm"].contains(&entry.spec.kind.as_str());
        let steps = done.journal().entries.iter().filter(objects).map(|entry| entry.spec.id.to_string()).collect();
        add_worker(&engine, &done);
        engine.stop();
        Self { place, prepared, empty, made, calls, steps, saved, done }
    }

    /// Kills the creation at a call. Returns the engine, the install directory, and what was seen.
    fn kill_creation(&self, call: u64, moment: Moment) -> (Engine<'a>, Install, Vec<Sight>) {
        let engine = Engine::start(self.place);
        let install = self.prepared.copy();
        kill_at(&engine, call, moment, || install.start(&["create", "cluster"]));
        let sights = sights(&install.journal(), &engine.inventory());
        (engine, install, sights)
    }

    /// An engine with the cluster in it, and its install directory.
    fn installed(&self) -> (Engine<'a>, Install) {
        let engine = Engine::with(self.place, &["--state", self.saved.copy().to_str().unwrap()]);
        (engine, self.done.copy())
    }

    /// The same for the removal of a cluster that is complete.
    fn kill_removal(&self, call: u64, moment: Moment) -> (Engine<'a>, Install, Vec<Sight>) {
        let (engine, install) = self.installed();
        kill_at(&engine, call, moment, || install.start(&["destroy", "cluster"]));
        let sights = sights(&install.journal(), &engine.inventory());
        (engine, install, sights)
    }
}

/// Lets the cluster make a worker.
fn add_worker(engine: &Engine<'_>, install: &Install) {
    let set = format!("{}-worker", install.infra_id());
    install.ok(&["machines", "scale", &set, "--replicas=1"]);
    until("a worker", || {
        let inventory = engine.inventory();
        let vms = inventory.names("vms");
        let is_up =
            |name: &&str| name.starts_with(&set) && inventory.get(&format!("vms/{name}")).unwrap()["status"] == "up";
        if vms.iter().any(is_up) { Ok(()) } else { Err(format!("{vms:?}")) }
    });
}

/// Starts the program, and kills it at the n-th call that changes something.
fn kill_at(engine: &Engine<'_>, call: u64, moment: Moment, start: impl FnOnce() -> Process) {
    let awaited = format!("call {call}");
    let seen = || format!("{} calls that changed something", engine.changes());
    match moment {
        Moment::Before => {
            let hang = engine.fault(&format!("{CHANGES} nth={call} latency=10000h"));
            let mut process = start();
            process.until(&awaited, || if engine.fired(hang) > 0 { Ok(()) } else { Err(seen()) });
            process.kill();
        }
        Moment::After => {
            engine.fault(&format!("{CHANGES} nth={call} lost-reply"));
            let mut process = start();
            process.until(&awaited, || if engine.has_lost_reply() { Ok(()) } else { Err(seen()) });
            process.kill();
        }
    }
    engine.clear_faults();
}

fn sights(journal: &Snapshot, engine: &Inventory) -> Vec<Sight> {
    let sight = |entry: &Entry| {
        let name = entry.spec.title.split_whitespace().last().unwrap_or_default();
        let object = match entry.spec.kind.as_str() {
            "tag" => engine.get(&format!("tags/{name}")),
            "affinity-group" => engine.get(&format!("affinity_groups/{name}")),
            "vm" => engine.get(&format!("vms/{name}")),
            // A wait, which makes nothing.
            _ => return None,
        };
        let is_complete = object.is_some_and(|object| object.get("status").is_none_or(|status| status != "down"));
        let sight = match (entry.state, object.is_some()) {
            (State::Ensuring, false) => NOT_MADE,
            (State::Ensuring, true) if is_complete => MADE,
            (State::Removing, true) => NOT_REMOVED,
            (State::Removing, false) => REMOVED,
            _ => return None,
        };
        Some((entry.spec.id.to_string(), sight))
    };
    journal.entries.iter().filter_map(sight).collect()
}

/// Tries every call at both moments, on several benches side by side, and returns all that was seen.
fn try_all<'a>(
    benches: &[Bench<'a>],
    calls: u64,
    attempt: impl Fn(&Bench<'a>, u64, Moment) -> Vec<Sight> + Sync,
) -> BTreeSet<Sight> {
    let trials: Vec<(u64, Moment)> =
        (1..=calls).flat_map(|call| [(call, Moment::Before), (call, Moment::After)]).collect();
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for bench in benches {
            let (trials, next, seen, attempt) = (&trials, &next, &seen, &attempt);
            scope.spawn(move || {
                while let Some((call, moment)) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let sights = attempt(bench, *call, *moment);
                    seen.lock().unwrap().extend(sights);
                }
            });
        }
    });
    seen.into_inner().unwrap()
}

/// Makes sure that everything was seen. Which of several calls side by side comes first is chance, so there are more rounds.
fn assert_seen(expected: &BTreeSet<Sight>, mut seen: BTreeSet<Sight>, more: impl Fn() -> BTreeSet<Sight>) {
    for _ in 0..ROUNDS {
        if expected.is_subset(&seen) {
            return;
        }
        seen.extend(more());
    }
    panic!("moments that were never hit: {:?}", expected.difference(&seen).collect::<Vec<_>>());
}

fn set_up(places: &[Place]) -> Vec<Bench<'_>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = places.iter().map(|place| scope.spawn(|| Bench::new(place))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn killed_anywhere_the_same_command_goes_on() {
    let places: Vec<Place> = (0..WORKERS).map(|_| Place::new()).collect();
    let benches = set_up(&places);
    creation_goes_on(&benches);
    what_is_there_can_be_removed(&benches);
    removal_goes_on(&benches);
}

fn creation_goes_on(benches: &[Bench<'_>]) {
    let calls = benches[0].calls;
    assert!(benches.iter().all(|bench| bench.calls == calls), "an installation always takes as many calls");
    let seen = try_all(benches, calls, |bench, call, moment| {
        let (engine, install, sights) = bench.kill_creation(call, moment);
        install.create();
        assert_same(&engine.inventory(), &bench.made, &format!("killed {moment:?} call {call}, and resumed"));
        sights
    });
    let made = benches[0].steps.iter().flat_map(|step| [NOT_MADE, MADE].map(|sight| (step.clone(), sight)));
    let retired = [NOT_REMOVED, REMOVED].map(|sight| (BOOTSTRAP.to_owned(), sight));
    assert_seen(&made.chain(retired).collect(), seen, || {
        try_all(benches, calls, |bench, call, moment| bench.kill_creation(call, moment).2)
    });
}

fn what_is_there_can_be_removed(benches: &[Bench<'_>]) {
    try_all(benches, benches[0].calls, |bench, call, moment| {
        let (engine, install, sights) = bench.kill_creation(call, moment);
        install.destroy();
        assert_same(&engine.inventory(), &bench.empty, &format!("killed {moment:?} call {call}, and destroyed"));
        sights
    });
}

fn removal_goes_on(benches: &[Bench<'_>]) {
    let calls = {
        let (engine, install) = benches[0].installed();
        install.destroy();
        engine.changes()
    };
    let seen = try_all(benches, calls, |bench, call, moment| {
        let (engine, install, sights) = bench.kill_removal(call, moment);
        install.destroy();
        assert_same(&engine.inventory(), &bench.empty, &format!("destruction killed {moment:?} call {call}"));
        sights
    });
    let steps = benches[0].steps.iter().filter(|step| *step != BOOTSTRAP);
    let expected = steps.flat_map(|step| [NOT_REMOVED, REMOVED].map(|sight| (step.clone(), sight))).collect();
    assert_seen(&expected, seen, || try_all(benches, calls, |bench, call, moment| bench.kill_removal(call, moment).2));
}
