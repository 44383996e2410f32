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

use landfall_engine::{Snapshot, State};

use crate::{
    engine::{CHANGES, Engine, SavedEngine},
    install::{Install, Wish},
    inventory::{Inventory, assert_same},
    place::Place,
    process::Process,
};

/// Trials side by side. They wait most of the time.
const WORKERS: usize = 6;

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
    calls: usize,
    /// The steps of the plan.
    steps: Vec<String>,
    /// The engine then, and the install directory.
    saved: SavedEngine,
    done: Install,
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place) -> Self {
        let saved = SavedEngine::new();
        let engine = Engine::with(place, &["--state", saved.file().to_str().unwrap()]);
        let empty = engine.inventory();
        let prepared = Install::new(&engine, Wish::default());
        prepared.ok(&["create", "ignition-configs"]);
        let done = prepared.copy();
        done.create();
        let (made, calls) = (engine.inventory(), engine.changes());
        let steps = done.journal().entries.iter().map(|entry| entry.spec.id.to_string()).collect();
        engine.stop();
        Self { place, prepared, empty, made, calls, steps, saved, done }
    }

    /// Kills the creation at a call. Returns the engine, the install directory, and what was seen.
    fn kill_creation(&self, call: usize, moment: Moment) -> (Engine<'a>, Install, Vec<Sight>) {
        let engine = Engine::start(self.place);
        let install = self.prepared.copy();
        kill_at(&engine, call, moment, || install.start(&["create", "cluster"]));
        let sights = sights(&install.journal(), &engine.inventory());
        (engine, install, sights)
    }
}

/// Starts the program, and kills it at the n-th call that changes something.
fn kill_at(engine: &Engine<'_>, call: usize, moment: Moment, start: impl FnOnce() -> Process) {
    let awaited = format!("call {call}");
    match moment {
        Moment::Before => {
            let hang = engine.fault(&format!("{CHANGES} nth={call} latency=10000h"));
            let mut process = start();
            process.until(&awaited, || if engine.fired(hang) > 0 { Ok(()) } else { Err(process_seen(engine)) });
            process.kill();
        }
        Moment::After => {
            engine.fault(&format!("{CHANGES} nth={call} lost-reply"));
            let lost = || engine.log().iter().any(|call| call["fault"] == "lost-reply");
            let mut process = start();
            process.until(&awaited, || if lost() { Ok(()) } else { Err(process_seen(engine)) });
            process.kill();
        }
    }
    engine.clear_faults();
}

fn process_seen(engine: &Engine<'_>) -> String {
    format!("{} calls that changed something", engine.changes())
}

fn sights(journal: &Snapshot, engine: &Inventory) -> Vec<Sight> {
    let sight = |entry: &landfall_engine::Entry| {
        let name = entry.spec.title.split_whitespace().last().unwrap_or_default();
        let object = match entry.spec.kind.as_str() {
            "tag" => engine.get(&format!("tags/{name}")),
            "affinity-group" => engine.get(&format!("affinity_groups/{name}")),
            "vm" => engine.get(&format!("vms/{name}")),
            other => panic!("there is a new kind of step: {other}"),
        };
        let is_complete = object.is_some_and(|object| object.get("status").is_none_or(|status| status != "down"));
        let sight = match (entry.state, object.is_some()) {
            (State::Ensuring, false) => "being made, and not there",
            (State::Ensuring, true) if is_complete => "being made, and complete",
            (State::Removing, true) => "being removed, and there",
            (State::Removing, false) => "being removed, and gone",
            _ => return None,
        };
        Some((entry.spec.id.to_string(), sight))
    };
    journal.entries.iter().filter_map(sight).collect()
}

/// Tries every call at both moments, on several benches side by side, and returns all that was seen.
fn try_all<'a>(
    benches: &[Bench<'a>],
    calls: usize,
    attempt: impl Fn(&Bench<'a>, usize, Moment) -> Vec<Sight> + Sync,
) -> BTreeSet<Sight> {
    let trials: Vec<(usize, Moment)> =
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

fn set_up<'a>(places: &'a [Place]) -> Vec<Bench<'a>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = places.iter().map(|place| scope.spawn(|| Bench::new(place))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn killed_anywhere_the_same_command_goes_on() {
    let places: Vec<Place> = (0..WORKERS).map(|_| Place::new()).collect();
    let benches = set_up(&places);
    let calls = benches[0].calls;
    assert!(benches.iter().all(|bench| bench.calls == calls), "an installation always takes as many calls");

    let mut seen = try_all(&benches, calls, |bench, call, moment| {
        let (engine, install, sights) = bench.kill_creation(call, moment);
        install.create();
        assert_same(&engine.inventory(), &bench.made, &format!("killed {moment:?} call {call}, and resumed"));
        sights
    });
    // Whatever there is by then can also be removed.
    seen.extend(try_all(&benches, calls, |bench, call, moment| {
        let (engine, install, sights) = bench.kill_creation(call, moment);
        install.destroy();
        assert_same(&engine.inventory(), &bench.empty, &format!("killed {moment:?} call {call}, and destroyed"));
        sights
    }));

    let mut expected: BTreeSet<Sight> = benches[0]
        .steps
        .iter()
        .flat_map(|step| ["being made, and not there", "being made, and complete"].map(|sight| (step.clone(), sight)))
        .collect();
    expected.extend(["being removed, and there", "being removed, and gone"].map(|sight| ("vm/bootstrap".to_owned(), sight)));
    assert_eq!(expected.difference(&seen).collect::<Vec<_>>(), Vec::<&Sight>::new(), "moments that were not hit");

    let removal = {
        let saved = benches[0].saved.copy();
        let engine = Engine::with(benches[0].place, &["--state", saved.file().to_str().unwrap()]);
        benches[0].done.copy().destroy();
        engine.changes()
    };
    let seen = try_all(&benches, removal, |bench, call, moment| {
        let saved = bench.saved.copy();
        let engine = Engine::with(bench.place, &["--state", saved.file().to_str().unwrap()]);
        let install = bench.done.copy();
        kill_at(&engine, call, moment, || install.start(&["destroy", "cluster"]));
        let sights = sights(&install.journal(), &engine.inventory());
        install.destroy();
        assert_same(&engine.inventory(), &bench.empty, &format!("destruction killed {moment:?} call {call}"));
        sights
    });
    let expected: BTreeSet<Sight> = benches[0]
        .steps
        .iter()
        .filter(|step| *step != "vm/bootstrap")
        .flat_map(|step| ["being removed, and there", "being removed, and gone"].map(|sight| (step.clone(), sight)))
        .collect();
    assert_eq!(expected.difference(&seen).collect::<Vec<_>>(), Vec::<&Sight>::new(), "moments that were not hit");
}
