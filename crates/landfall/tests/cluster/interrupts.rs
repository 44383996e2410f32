//! Ctrl-C: a clean end that says how to go on, and going on.

use landfall_engine::State;

use crate::{
    engine::{CHANGES, Engine},
    install::{Install, Wish},
    inventory::assert_same,
    place::Place,
};

#[test]
fn ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let place = Place::new();
    // Slow enough to be interrupted while its API is waited for.
    let engine = Engine::with(&place, &["--guest-fault", "bootstrap slow=20"]);
    let empty = engine.inventory();
    let install = Install::new(&engine, Wish { workers: 0, ..Wish::default() });

    // While a machine is being made.
    let hang = engine.fault(&format!("{CHANGES} nth=5 latency=10000h"));
    let mut process = install.start(&["create", "cluster"]);
    process.until("a call that hangs", || if engine.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });
    process.interrupt();
    let run = process.wait();
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert!(run.stderr.contains("interrupted") || run.stderr.contains("stopped"), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("run {} again", install.context.named("create cluster"))), "{}", run.stderr);
    engine.clear_faults();

    // While the API is waited for.
    let mut process = install.start(&["create", "cluster"]);
    process.until("nothing but the wait for the API", || {
        let journal = install.journal();
        let state = |id: &str| journal.entry(&id.into()).map(|entry| entry.state);
        let made = ["vm/bootstrap", "vm/master-0"].iter().all(|id| state(id) == Some(State::Done));
        let wait = state("wait/api");
        if made && wait == Some(State::Ensuring) { Ok(()) } else { Err(format!("made: {made}, wait: {wait:?}")) }
    });
    process.interrupt();
    let run = process.wait();
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert!(run.stderr.contains(&format!("run {} again", install.context.named("create cluster"))), "{}", run.stderr);

    let before = engine.changes();
    install.create();
    let calls = engine.changes() - before;
    assert_eq!(
        calls, 4,
        "only the bootstrap machine was left to lose its user data, to be stopped, and to be deleted after its disk"
    );

    // While the cluster is being destroyed.
    let hang = engine.fault(&format!("{CHANGES} nth=2 latency=10000h"));
    let mut process = install.start(&["destroy", "cluster"]);
    process.until("a call that hangs", || if engine.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });
    process.interrupt();
    let run = process.wait();
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert!(run.stderr.contains(&format!("run {} again", install.context.named("destroy cluster"))), "{}", run.stderr);
    engine.clear_faults();
    install.destroy();
    assert_same(&engine.inventory(), &empty, "interrupted three times, and destroyed");
}
