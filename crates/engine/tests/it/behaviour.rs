//! How plans are applied and removed.

use std::{sync::Arc, sync::Mutex, time::Duration};

use landfall_engine::{
    ApplyError, Event, Journal, Options, RemovalError, RetryPolicy, State, Timing, apply, destroy, unwind,
};
use landfall_platform::{Bind, Context, ErrorClass, Outputs, Step, StepError, StepSpec};
use landfall_testkit::World;
use tokio_util::sync::CancellationToken;

use crate::toy::Toy;

struct Lab {
    toy: Toy,
    journal: Journal,
    options: Options,
    events: Arc<Mutex<Vec<Event>>>,
    home: tempfile::TempDir,
}

impl Lab {
    fn new(toy: Toy) -> Self {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open(&home.path().join("journal"), &toy.infra_id()).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let options = Options {
            retry: RetryPolicy::default(),
            removal_timeout: None,
            events: Arc::new(move |event: &Event| heard.lock().unwrap().push(event.clone())),
            cancel: CancellationToken::new(),
        };
        Self { toy, journal, options, events, home }
    }

    async fn apply(&self) -> Result<(), ApplyError> {
        apply(&self.toy.plan(), &self.toy, &self.journal, &self.options).await.map(drop)
    }

    async fn state(&self, id: &str) -> Option<State> {
        self.journal.snapshot().await.unwrap().entry(&id.into()).map(|entry| entry.state)
    }
}

#[tokio::test(start_paused = true)]
async fn trouble_that_passes_is_waited_out() {
    let lab = Lab::new(Toy::new(&[("a", &[])]));
    lab.toy.misbehave("a", &[ErrorClass::Transient, ErrorClass::Locked, ErrorClass::Throttled]);
    lab.apply().await.unwrap();
    assert_eq!(lab.toy.boxes(), ["a"]);
    let retries = lab.events.lock().unwrap().iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
    assert_eq!(retries, 3);
}

#[tokio::test(start_paused = true)]
async fn trouble_that_stays_ends_at_the_steps_time() {
    let lab = Lab::new(Toy::new(&[("a", &[])]));
    lab.toy.misbehave("a", &[ErrorClass::Locked; 1000]);
    let ApplyError::Step { source, .. } = lab.apply().await.unwrap_err() else { panic!("not the step") };
    assert_eq!(source.class(), ErrorClass::Timeout);
    let evidence = std::error::Error::source(&source).expect("the last failure").to_string();
    assert_eq!(evidence, "box a is in a locked mood");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_fits_into_the_steps_time_is_waited_for_and_a_longer_one_is_the_reason() {
    // A step has a minute.
    for (seconds, fits) in [(50, true), (61, false), (100_000, false)] {
        let asked = Duration::from_secs(seconds);
        let mut toy = Toy::new(&[("a", &[])]);
        toy.asks_to_wait = Some(asked);
        let lab = Lab::new(toy);
        lab.toy.misbehave("a", &[ErrorClass::Throttled]);
        let began = tokio::time::Instant::now();
        match lab.apply().await {
            Ok(()) => assert!(fits && began.elapsed() >= asked, "{seconds}"),
            Err(ApplyError::Step { source, .. }) => {
                assert!(!fits, "{seconds}: {source}");
                assert_eq!((source.class(), source.wait()), (ErrorClass::Throttled, Some(asked)));
                let text = landfall_platform::error_chain(&source);
                assert!(
                    text.contains(&format!("asks to wait {seconds}s")) && text.contains("throttled mood"),
                    "{text}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits for what never comes, and says what it sees.
struct Waiting;

#[async_trait::async_trait]
impl Step for Waiting {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        context.report("1 of 3 masters have joined");
        context.report("2 of 3 masters have joined");
        std::future::pending().await
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

impl Bind for Waiting {
    fn bind(&self, _: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        Ok(Arc::new(Self))
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_says_what_was_seen_last() {
    let lab = Lab::new(Toy::new(&[("a", &[])]));
    let ended = apply(&lab.toy.plan(), &Waiting, &lab.journal, &lab.options).await.map(drop);
    let ApplyError::Step { source, .. } = ended.unwrap_err() else { panic!("not the step") };
    assert_eq!(source.class(), ErrorClass::Timeout);
    assert_eq!(source.to_string(), "not done after 60s; last seen: 2 of 3 masters have joined");
}

#[tokio::test]
async fn what_cannot_be_helped_fails_at_once_and_can_be_applied_again() {
    let lab = Lab::new(Toy::new(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]));
    lab.toy.misbehave("b", &[ErrorClass::Capacity]);
    let error = lab.apply().await.unwrap_err();
    assert_eq!(error.to_string(), "cannot make box b");
    assert_eq!(
        (lab.state("a").await, lab.state("b").await, lab.state("c").await),
        (Some(State::Done), Some(State::Failed), None)
    );
    lab.apply().await.unwrap();
    assert_eq!(lab.toy.calls(), ["ensure a", "ensure b", "ensure b", "ensure c"], "what is done is left alone");
}

#[tokio::test]
async fn independent_steps_run_side_by_side_within_their_limit() {
    let names: Vec<_> = (0..12).map(|number| format!("box-{number:02}")).collect();
    let arrows: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    let mut toy = Toy::new(&arrows);
    (toy.delay, toy.limit) = (Duration::from_millis(200), Some(4));
    let lab = Lab::new(toy);
    lab.apply().await.unwrap();
    assert_eq!(lab.toy.most_at_once(), 4);
    assert_eq!(lab.toy.boxes().len(), 12);
}

#[tokio::test]
async fn a_stop_from_outside_is_clean_and_the_next_run_goes_on() {
    let mut toy = Toy::new(&[("a", &[]), ("b", &["a"])]);
    toy.delay = Duration::from_millis(20);
    let lab = Lab::new(toy);
    let cancel = lab.options.cancel.clone();
    let stop_at_b = move |event: &Event| {
        if matches!(event, Event::Started { step, .. } if step.as_str() == "b") {
            cancel.cancel();
        }
    };
    let options = Options { events: Arc::new(stop_at_b), ..lab.options.clone() };
    let error = apply(&lab.toy.plan(), &lab.toy, &lab.journal, &options).await.unwrap_err();
    assert_eq!(error.to_string(), "stopped with 1 of 2 steps left");
    assert_eq!(lab.state("b").await, Some(State::Ensuring));
    let options = Options { cancel: CancellationToken::new(), ..lab.options.clone() };
    apply(&lab.toy.plan(), &lab.toy, &lab.journal, &options).await.unwrap();
    assert_eq!(lab.toy.boxes(), ["a", "b"]);
}

#[tokio::test]
async fn removal_goes_backwards_and_past_what_cannot_be_removed() {
    let lab = Lab::new(Toy::new(&[("a", &[]), ("b", &["a"]), ("c", &[])]));
    lab.apply().await.unwrap();
    lab.toy.misbehave("b", &[ErrorClass::Auth]);
    let RemovalError::Steps { failed } = unwind(&lab.toy, &lab.journal, &lab.options).await.unwrap_err() else {
        panic!("not the steps")
    };
    assert_eq!(failed[0].0, "box b");
    assert_eq!(lab.toy.boxes(), ["a", "b"], "what b stands on stays, what it does not touch goes");
    unwind(&lab.toy, &lab.journal, &lab.options).await.unwrap();
    assert!(lab.toy.boxes().is_empty());
}

#[tokio::test]
async fn destroy_finds_what_the_journal_does_not_know() {
    let lab = Lab::new(Toy::new(&[("a", &[])]));
    lab.apply().await.unwrap();
    lab.toy.put_stranger("stranger");
    destroy(&lab.toy, &lab.toy, &lab.journal, &lab.options).await.unwrap();
    assert!(lab.toy.boxes().is_empty());
}

#[tokio::test]
async fn the_journal_tells_where_the_time_went() {
    let mut toy = Toy::new(&[("a", &[]), ("b", &["a"]), ("c", &[])]);
    toy.delay = Duration::from_millis(20);
    let lab = Lab::new(toy);
    lab.apply().await.unwrap();
    let timing = Timing::of(&Journal::read(&lab.home.path().join("journal")).unwrap());
    assert_eq!(timing.critical_path, ["a".into(), "b".into()]);
    assert!(timing.critical >= Duration::from_millis(40) && timing.elapsed >= timing.critical);
    assert_eq!(timing.steps.len(), 3);
}
