//! The suites.

use std::{path::Path, sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use landfall_engine::{ApplyError, Event, Journal, Options, RetryPolicy, apply, destroy, unwind};
use landfall_platform::{Bind, Context, Outputs, Step, StepError, StepId, error_chain};
use tokio_util::sync::CancellationToken;

use crate::{
    Fixture, World,
    fixture::{difference, inventory},
    interrupt::{Interrupted, Moment, Trouble},
    tier,
};

/// Worlds at once.
const AT_ONCE: usize = 4;
/// Simulated platforms are fast.
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };

/// Every step is run twice, one after the other in the order of the plan: the second time changes nothing.
pub async fn repeat_every_step(fixture: &dyn Fixture) {
    let world = fixture.world().await;
    let mut outputs = std::collections::BTreeMap::new();
    for spec in world.plan().steps() {
        let step = world.binder().bind(spec).unwrap_or_else(|error| panic!("{} cannot be bound: {error}", spec.id));
        let context = Context::new(outputs.clone(), Arc::new(|_| ()));
        let first = patiently(step.as_ref(), &context).await;
        let first = first.unwrap_or_else(|error| panic!("{} failed: {}", spec.id, error_chain(&error)));
        let before = inventory(world.as_ref()).await;
        // As the engine would, which has written down what the step said.
        let context = Context::new(outputs.clone(), Arc::new(|_| ())).recalling(Some(first.clone()));
        let second = patiently(step.as_ref(), &context).await;
        let second = second.unwrap_or_else(|error| panic!("{} failed again: {}", spec.id, error_chain(&error)));
        let after = inventory(world.as_ref()).await;
        assert_eq!(before, after, "{} changed the world when it was repeated", spec.id);
        assert_eq!(first, second, "{} told something else when it was repeated", spec.id);
        outputs.insert(spec.id.clone(), first);
    }
}

/// Every step fails once, before it did anything and after it did everything: unwinding leaves the world as it was.
pub async fn fail_at_every_step(fixture: &dyn Fixture) {
    for (victim, moment) in trials(fixture).await {
        let world = fixture.world().await;
        let empty = inventory(world.as_ref()).await;
        let home = tempfile::tempdir().expect("a directory for the journal");
        let journal = open(home.path(), world.as_ref());
        let bind = interrupted(world.as_ref(), &victim, moment, Trouble::Fail);
        let result = apply(&world.plan(), &bind, &journal, &options()).await;
        assert!(matches!(&result, Err(ApplyError::Step { step, .. }) if *step == victim), "{victim}: {result:?}");
        unwind(&bind, &journal, &options())
            .await
            .unwrap_or_else(|error| panic!("{victim} {moment:?}: {}", error_chain(&error)));
        let left = inventory(world.as_ref()).await;
        assert_eq!(empty, left, "{victim} failed {moment:?}; {}", difference(&empty, &left));
    }
}

/// The process dies at every step, before the call and after it: applying again makes exactly what one run makes.
pub async fn kill_at_every_step(fixture: &dyn Fixture) {
    let world = fixture.world().await;
    let home = tempfile::tempdir().expect("a directory for the journal");
    let whole = apply(&world.plan(), world.binder().as_ref(), &open(home.path(), world.as_ref()), &options()).await;
    whole.expect("the plan can be applied");
    let expected = inventory(world.as_ref()).await;

    for (victim, moment) in trials(fixture).await {
        let world = fixture.world().await;
        let home = tempfile::tempdir().expect("a directory for the journal");
        let died = CancellationToken::new();
        {
            let journal = open(home.path(), world.as_ref());
            let bind = interrupted(world.as_ref(), &victim, moment, Trouble::Die(died.clone()));
            let (plan, options) = (world.plan(), options());
            tokio::select! {
                result = apply(&plan, &bind, &journal, &options) => panic!("{victim} was never reached: {result:?}"),
                () = died.cancelled() => {}
            }
        }
        let journal = open(home.path(), world.as_ref());
        apply(&world.plan(), world.binder().as_ref(), &journal, &options())
            .await
            .unwrap_or_else(|error| panic!("cannot resume after {victim} died {moment:?}: {}", error_chain(&error)));
        let found = inventory(world.as_ref()).await;
        assert_eq!(expected, found, "{victim} died {moment:?}; {}", difference(&expected, &found));
    }
}

/// The process dies at every removal: destroying again leaves the world as it was, with the journal or without it; in the tier `full` both
/// at each removal.
pub async fn kill_every_removal(fixture: &dyn Fixture) {
    let trials = trials(fixture).await.into_iter().enumerate().flat_map(|(number, (victim, moment))| {
        // The two moments of a step follow each other: one is tried with the journal and the other without, in turn.
        let chosen =
            [false, true].into_iter().filter(move |lost| tier::is_full() || *lost == (number.div_ceil(2) % 2 == 0));
        chosen.map(move |journal_is_lost| (victim.clone(), moment, journal_is_lost))
    });
    stream::iter(trials)
        .for_each_concurrent(AT_ONCE, async |(victim, moment, journal_is_lost)| {
            kill_removal(fixture, &victim, moment, journal_is_lost).await;
        })
        .await;
}

async fn kill_removal(fixture: &dyn Fixture, victim: &StepId, moment: Moment, journal_is_lost: bool) {
    let world = fixture.world().await;
    let empty = inventory(world.as_ref()).await;
    let home = tempfile::tempdir().expect("a directory for the journal");
    {
        let journal = open(home.path(), world.as_ref());
        let made = apply(&world.plan(), world.binder().as_ref(), &journal, &options()).await;
        made.expect("the plan can be applied");
        let died = CancellationToken::new();
        let bind = interrupted(world.as_ref(), victim, moment, Trouble::Die(died.clone()));
        let (discover, options) = (world.discoverer(), options());
        tokio::select! {
            result = destroy(&bind, discover.as_ref(), &journal, &options) => {
                panic!("{victim} was never reached: {result:?}")
            }
            () = died.cancelled() => {}
        }
    }
    let home = if journal_is_lost { tempfile::tempdir().expect("another directory") } else { home };
    let journal = open(home.path(), world.as_ref());
    destroy(world.binder().as_ref(), world.discoverer().as_ref(), &journal, &options())
        .await
        .unwrap_or_else(|error| panic!("cannot go on after {victim} died {moment:?}: {}", error_chain(&error)));
    let left = inventory(world.as_ref()).await;
    assert_eq!(empty, left, "{victim} died {moment:?}; {}", difference(&empty, &left));
}

/// Calls a step until it does not ask to be called again.
async fn patiently(step: &dyn Step, context: &Context) -> Result<Outputs, StepError> {
    loop {
        match step.ensure(context).await {
            Err(error) if error.class().is_retryable() => tokio::time::sleep(RETRY.longest).await,
            result => return result,
        }
    }
}

async fn trials(fixture: &dyn Fixture) -> Vec<(StepId, Moment)> {
    let plan = fixture.world().await.plan();
    plan.steps().flat_map(|spec| Moment::ALL.map(|moment| (spec.id.clone(), moment))).collect()
}

fn open(home: &Path, world: &dyn World) -> Journal {
    Journal::open(&home.join("journal.sqlite"), &world.infra_id()).expect("a journal")
}

fn interrupted(world: &dyn World, victim: &StepId, moment: Moment, trouble: Trouble) -> impl Bind + use<> {
    Interrupted { inner: world.binder(), victim: victim.clone(), moment, trouble }
}

fn options() -> Options {
    Options { retry: RETRY, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}
