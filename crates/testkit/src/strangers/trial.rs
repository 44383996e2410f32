//! One cluster, made and removed among strangers.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use landfall_engine::{Event, Journal, Options, Phase, Plan, PlanBuilder, RetryPolicy, apply, destroy, unfound};
use landfall_platform::{Discover, StepError, StepSpec, error_chain};
use tokio_util::sync::CancellationToken;

use super::{
    ghost::{Ghost, Mood, recorded},
    judge::{Known, Things},
    second::{Errand, Second},
};
use crate::World;

/// Simulated platforms are fast.
const RETRY: RetryPolicy = RetryPolicy { first: Duration::from_millis(2), longest: Duration::from_millis(20) };
/// How long a step may take at most here, where its minutes pass in milliseconds.
const STEP: Duration = Duration::from_secs(20);
/// Runs in the hands of the stranger end within this.
const RUN: Duration = Duration::from_mins(2);

/// Installs, removes and removes once more in peace. Returns how many machines were fenced: none.
pub(super) async fn run(ghost: &Arc<Ghost>) -> u64 {
    let world = &ghost.world;
    let before = world.things();
    let home = tempfile::tempdir().expect("a directory for the journal");
    let path = home.path().join("journal.sqlite");
    let journal = Arc::new(Journal::open(&path, &world.infra_id()).expect("a journal"));
    let mut dice = ghost.dice(u64::MAX);

    ghost.be(Mood::Anything(Arc::clone(&journal)));
    for attempt in 0..=dice.below(2) as u64 {
        let second = Second::draw(ghost, u64::MAX - 10 - attempt, &[Errand::Destroy, Errand::Apply]);
        let plan = plan(world.as_ref() as &dyn World);
        let (binder, options) = (world.binder(), options(|_| ()));
        let first = apply(&plan, binder.as_ref(), &journal, &options);
        // It may fail: the stranger deletes what it needs, or has a name that it needs.
        let (made, _) = beside(ghost, first, second, &journal, home.path()).await;
        ghost.tell(&format!("the installation ended: {:?}", made.map(drop).map_err(|error| error_chain(&error))));
        ghost.assert_others_untouched(&before, "an installation");
    }
    for attempt in 0..dice.below(3) as u64 {
        let second = Second::draw(ghost, u64::MAX - 20 - attempt, &[Errand::Destroy, Errand::Destroy, Errand::Apply]);
        disturbed(ghost, &before, second, &journal, home.path()).await;
    }
    ghost.be(Mood::Absent);
    if dice.once_in(4) {
        by_the_mark_alone(ghost, &before, home.path()).await;
    }
    in_peace(ghost, &before, &journal).await;
    0
}

/// A removal under the stranger's hands.
async fn disturbed(
    ghost: &Arc<Ghost>,
    before: &Things,
    second: Option<Second>,
    journal: &Journal,
    home: &std::path::Path,
) {
    let (binder, discoverer) = (ghost.world.binder(), Watched::of(ghost));
    let options = options(|_| ());
    let known = recorded(journal).await;
    let first = destroy(binder.as_ref(), &discoverer, journal, &options);
    let (removed, other) = beside(ghost, first, second, journal, home).await;
    ghost.tell(&format!("the removal ended: {:?}", removed.as_ref().map_err(|error| error_chain(error))));
    ghost.assert_others_untouched(before, "a removal among strangers");
    let is_alone = second.is_none_or(|second| second.errand != Errand::Apply);
    let looked = discoverer.last.load(Ordering::Relaxed);
    if is_alone && removed.is_ok() {
        ghost.assert_gone(before, Known::All, looked, "a removal among strangers");
    }
    if let Some(mut ids) = other {
        // What the first is not done with is not what the other one said.
        ids.retain(|id| known.contains(id));
        ghost.tell(&format!("the other Landfall knew {} ids", ids.len()));
    }
}

/// A removal by another Landfall that has nothing but the infra id.
async fn by_the_mark_alone(ghost: &Arc<Ghost>, before: &Things, home: &std::path::Path) {
    let lost = Journal::open(&home.join("lost.sqlite"), &ghost.world.infra_id()).expect("an empty journal");
    let (binder, discoverer, options) = (ghost.world.binder(), ghost.world.discoverer(), options(|_| ()));
    let removed = timely(destroy(binder.as_ref(), discoverer.as_ref(), &lost, &options)).await;
    ghost.tell(&format!("the removal by the mark ended: {:?}", removed.as_ref().map_err(|error| error_chain(error))));
    ghost.assert_others_untouched(before, "a removal by the mark");
    if removed.is_ok() {
        ghost.assert_gone(before, Known::Recorded(&BTreeSet::new()), ghost.calls(), "a removal by the mark");
    }
}

/// A dry run, and then what it said.
async fn in_peace(ghost: &Arc<Ghost>, before: &Things, journal: &Journal) {
    let world = &ghost.world;
    let (binder, discoverer) = (world.binder(), world.discoverer());
    let listed = timely(discoverer.discover()).await.expect("what there is can be found out");
    let snapshot = journal.snapshot().await.expect("the journal can be read");
    let titles: BTreeSet<String> = listed.iter().map(|spec| spec.title.clone()).collect();
    let unfound = unfound(&snapshot, &listed);
    let ids: BTreeSet<String> = unfound.iter().filter_map(|entry| entry.outputs.as_ref()?.get("id")).collect();
    // Listed as what may be there, with what belongs to it.
    let recorded: BTreeSet<String> = unfound.iter().map(|entry| entry.spec.title.clone()).collect();
    ghost.tell(&format!("a dry run lists {titles:?}, the ids {ids:?} and as recorded {recorded:?}"));

    let there = world.things();
    let begun: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&begun);
    let options = options(move |event| {
        if let Event::Started { title, phase: Phase::Remove, .. } = event {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(title.clone());
        }
    });
    let mut removed = timely(destroy(binder.as_ref(), discoverer.as_ref(), journal, &options)).await;
    if let Err(error) = &removed {
        // What lost its mark is removed by its recorded id, beside what the stranger has put into it with the mark. The first run then says
        // that something is left, and the next one removes it.
        ghost.tell(&format!("the removal in peace ended: {}", error_chain(error)));
        removed = timely(destroy(binder.as_ref(), discoverer.as_ref(), journal, &options)).await;
    }
    removed.unwrap_or_else(|error| panic!("cannot remove what is left: {}", error_chain(&error)));
    ghost.assert_gone(before, Known::All, ghost.calls(), "the last removal");

    let strangers = ghost.strangers();
    let gone: Vec<_> =
        there.iter().filter(|(id, _)| !before.contains_key(*id) && !strangers.contains_key(*id)).collect();
    let is_listed =
        |id: &String, title: &String| titles.contains(title) || recorded.contains(title) || ids.contains(id);
    let unlisted: Vec<&String> =
        gone.iter().filter_map(|(id, thing)| thing.title.as_ref().filter(|title| !is_listed(id, title))).collect();
    assert!(unlisted.is_empty(), "the dry run did not list what was removed: {unlisted:?}");
    let removed: BTreeSet<&String> = gone.iter().filter_map(|(_, thing)| thing.title.as_ref()).collect();
    let kept: Vec<&String> = titles.iter().filter(|title| !removed.contains(title)).collect();
    assert!(kept.is_empty(), "the dry run listed what was not there to be removed: {kept:?}");
    let left: Vec<&String> = ids.iter().filter(|id| before.contains_key(*id) || strangers.contains_key(*id)).collect();
    assert!(left.is_empty(), "the dry run listed what is not the cluster's: {left:?}");
}

/// Runs something, and another Landfall beside it from its moment on, or after it if that never comes.
async fn beside<T>(
    ghost: &Arc<Ghost>,
    first: impl Future<Output = T>,
    second: Option<Second>,
    journal: &Journal,
    home: &std::path::Path,
) -> (T, super::second::Removed) {
    let Some(second) = second else { return (timely(first).await, None) };
    let ended = CancellationToken::new();
    let first = async {
        let result = timely(first).await;
        ended.cancel();
        result
    };
    let other = async {
        tokio::select! {
            () = ghost.reached(second.at) => {}
            () = ended.cancelled() => {}
        }
        timely(second.run(ghost, journal, home)).await
    };
    tokio::join!(first, other)
}

pub(super) async fn timely<T>(run: impl Future<Output = T>) -> T {
    tokio::time::timeout(RUN, run).await.unwrap_or_else(|_| panic!("a run has not ended after {RUN:?}"))
}

/// Remembers before which call it was asked last.
struct Watched {
    inner: Arc<dyn Discover>,
    ghost: Arc<Ghost>,
    last: AtomicU64,
}

impl Watched {
    fn of(ghost: &Arc<Ghost>) -> Self {
        Self { inner: ghost.world.discoverer(), ghost: Arc::clone(ghost), last: AtomicU64::default() }
    }
}

#[async_trait]
impl Discover for Watched {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        self.last.store(self.ghost.calls(), Ordering::Relaxed);
        self.inner.discover().await
    }
}

/// The plan of a world, with steps that give up early.
pub(super) fn plan(world: &dyn World) -> Plan {
    let mut builder = PlanBuilder::default();
    let plan = world.plan();
    for spec in plan.steps() {
        builder.step(StepSpec { timeout: spec.timeout.min(STEP), ..spec.clone() });
    }
    builder.build().expect("the plan is as it was but for its limits")
}

pub(super) fn options(hear: impl Fn(&Event) + Send + Sync + 'static) -> Options {
    Options { retry: RETRY, removal_timeout: Some(STEP), events: Arc::new(hear), cancel: CancellationToken::new() }
}
