//! Other commands beside an installation that is at work.

use crate::{
    engine::{CHANGES, Engine},
    install::{Install, Wish},
    place::Place,
};

#[test]
fn one_installation_at_a_time_and_everybody_may_look() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let install = Install::new(&engine, Wish::default());
    let hang = engine.fault(&format!("{CHANGES} nth=5 latency=10000h"));
    let mut process = install.start(&["create", "cluster"]);
    process.until("a call that hangs", || if engine.fired(hang) > 0 { Ok(()) } else { Err(String::new()) });

    for second in [["create", "cluster"], ["destroy", "cluster"], ["create", "manifests"]] {
        let told = install.fails(&second, 3);
        assert!(told.contains(&install.context.named("create cluster")), "{second:?}: {told}");
        assert!(told.contains(&format!("process {}", process.id())), "{second:?}: {told}");
    }
    let status = install.ok(&["status"]);
    assert!(status.stdout.contains(&install.infra_id()), "{}", status.stdout);
    let plan = install.ok(&["plan"]);
    for machine in ["bootstrap", "master-0"] {
        let name = format!("{}-{machine}", install.infra_id());
        assert!(plan.stdout.contains(&name), "{}", plan.stdout);
    }
    assert_eq!(engine.fired(hang), 1);

    process.kill();
    engine.clear_faults();
    install.create();
}
