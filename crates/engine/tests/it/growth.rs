//! Removals of a cluster that goes on to get more objects.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::{Event, Journal, Options, RemovalError, RetryPolicy, destroy};
use landfall_platform::{Discover, StepError, StepSpec};
use landfall_testkit::World as _;
use tokio_util::sync::CancellationToken;

use crate::toy::Toy;

/// Finds another box each time that it is asked, as often as it may.
struct Growth {
    asked: AtomicUsize,
    most: usize,
}

#[async_trait]
impl Discover for Growth {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(number < 100, "the removal does not end");
        let step = |number: usize| StepSpec {
            id: format!("box-{number}").as_str().into(),
            title: format!("box {number}"),
            kind: "box".into(),
            needs: Vec::new(),
            timeout: Duration::from_secs(10),
            desired: serde_json::json!({ "name": format!("box-{number}") }),
        };
        Ok((number < self.most).then(|| step(number)).into_iter().collect())
    }
}

async fn remove(most: usize) -> (Result<(), RemovalError>, usize) {
    let (toy, growth) = (Toy::new(&[]), Growth { asked: AtomicUsize::new(0), most });
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(&home.path().join("journal"), &toy.infra_id()).unwrap();
    let options = Options {
        retry: RetryPolicy::default(),
        removal_timeout: None,
        events: Arc::new(|_: &Event| ()),
        cancel: CancellationToken::new(),
    };
    let outcome = destroy(&toy, &growth, &journal, &options).await;
    (outcome, toy.calls().len())
}

#[tokio::test]
async fn a_cluster_that_makes_machines_until_its_masters_are_gone_is_removed() {
    let (outcome, removed) = remove(3).await;
    outcome.unwrap();
    assert_eq!(removed, 3);
}

#[tokio::test]
async fn a_removal_ends_although_something_new_is_always_found() {
    let (outcome, removed) = remove(usize::MAX).await;
    let error = outcome.unwrap_err();
    let RemovalError::Growing { titles } = &error else { panic!("{error}") };
    assert_eq!((titles.as_slice(), removed), (["box 10".to_owned()].as_slice(), 10));
    assert!(error.to_string().contains("after each of 10 removals, at last box 10"), "{error}");
}
