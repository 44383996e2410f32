//! What a step notes before it is done.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::{Event, Journal, Options, PlanBuilder, RetryPolicy, State, apply, unwind};
use landfall_platform::{Bind, Context, ErrorClass, Outputs, Step, StepError, StepSpec};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// What was removed, and the ids that its removal was given: of the object, and of what it needs.
type Removed = (String, Option<u32>, Option<u32>);

/// A platform whose objects are never ready, and which remembers how they were removed.
#[derive(Clone, Default)]
struct Slow {
    removed: Arc<Mutex<Vec<Removed>>>,
}

impl Bind for Slow {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        Ok(Arc::new(Act { slow: self.clone(), name: spec.id.to_string() }))
    }
}

struct Act {
    slow: Slow,
    name: String,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        if self.name == "ground" {
            return Ok(Outputs::default().with("id", 1));
        }
        context.note(Outputs::default().with("id", 6)).await?;
        context.note(Outputs::default().with("id", 7)).await?;
        match self.name.as_str() {
            "failing" => Err(StepError::new(ErrorClass::Invalid, "it broke")),
            _ => std::future::pending().await,
        }
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let own = outputs.and_then(|outputs| outputs.get("id"));
        let below = context.output(&"ground".into(), "id").ok();
        self.slow.removed.lock().unwrap().push((self.name.clone(), own, below));
        Ok(())
    }
}

fn step(name: &str, needs: &[&str]) -> StepSpec {
    StepSpec {
        id: name.into(),
        title: name.to_owned(),
        kind: "thing".into(),
        needs: needs.iter().map(|need| (*need).into()).collect(),
        timeout: Duration::from_mins(1),
        desired: json!({}),
    }
}

fn options() -> Options {
    let retry = RetryPolicy { first: Duration::from_millis(1), longest: Duration::from_millis(1) };
    Options { retry, removal_timeout: None, events: Arc::new(|_: &Event| ()), cancel: CancellationToken::new() }
}

/// Runs a step that notes what it knows and never ends well, and returns what its removal was given.
async fn noted(name: &str) -> Vec<Removed> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal.sqlite");
    let infra_id = "toy-bcdfg".parse().unwrap();
    let slow = Slow::default();
    let mut builder = PlanBuilder::default();
    builder.step(step("ground", &[])).step(step(name, &["ground"]));
    let plan = builder.build().unwrap();
    {
        let journal = Journal::open(&path, &infra_id).unwrap();
        let run = options();
        let is_noted = async {
            loop {
                let entry = journal.snapshot().await.unwrap().entry(&name.into()).cloned();
                if entry.is_some_and(|entry| entry.outputs.and_then(|outputs| outputs.get("id")) == Some(7)) {
                    break;
                }
                tokio::task::yield_now().await;
            }
        };
        // The process dies as soon as the note is on disk, or the step fails.
        tokio::select! {
            result = apply(&plan, &slow, &journal, &run) => assert!(result.is_err()),
            () = is_noted => {}
        }
    }
    let journal = Journal::open(&path, &infra_id).unwrap();
    let state = journal.snapshot().await.unwrap().entry(&name.into()).unwrap().state;
    assert!([State::Ensuring, State::Failed].contains(&state), "{state:?}");
    unwind(&slow, &journal, &options()).await.unwrap();
    let entry = journal.snapshot().await.unwrap().entry(&name.into()).unwrap().clone();
    assert_eq!((entry.state, entry.outputs), (State::Removed, None));
    slow.removed.lock().unwrap().clone()
}

#[tokio::test]
async fn a_removal_gets_what_a_step_noted_before_it_died() {
    let removed = noted("dying").await;
    assert_eq!(removed, [("dying".to_owned(), Some(7), Some(1)), ("ground".to_owned(), Some(1), None)]);
}

#[tokio::test]
async fn a_removal_gets_what_a_step_noted_before_it_failed() {
    assert_eq!(noted("failing").await[0], ("failing".to_owned(), Some(7), Some(1)));
}
