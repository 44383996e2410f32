//! What the platform refuses, and when it is asked again: less and less often, by each machine and by all of them together.
//!
//! A machine that is refused waits for a pause of its own, which grows with each refusal of the same kind of operation, however far
//! the operation came before it failed. Where the platform has no room or asks to slow down, asking for one machine after the other
//! would only repeat the answer. So its [`Gate`] closes for all creations, and lets one at a time through, after pauses that grow too.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use landfall_platform::{ErrorClass, StepError, error_chain};
use tokio::time::Instant;

use super::operations::Kind;

/// The longest wait that a platform may ask for. One that asks for more, by mistake or because a proxy answers for it, would keep a
/// cluster without machines for years.
const LONGEST_ASKED: Duration = Duration::from_hours(1);

/// Doublings after which pauses do not grow any more.
const MOST_DOUBLINGS: u32 = 16;

/// The growing pauses of all machines.
pub(crate) struct Refusals {
    first: Duration,
    longest: Duration,
    machines: Mutex<HashMap<String, Refusal>>,
}

/// How often a machine was refused in a row, and what for.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    uid: String,
    kind: Kind,
    class: ErrorClass,
    pub(crate) text: String,
    pub(crate) failures: u32,
    until: Instant,
    /// How often the platform's gate had opened again when it was refused.
    opened: u64,
}

impl Refusal {
    /// The reason, as conditions spell it.
    pub(crate) fn reason(&self) -> &'static str {
        reason(self.class)
    }
}

fn reason(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Capacity => "OutOfCapacity",
        ErrorClass::Throttled => "Throttled",
        ErrorClass::Locked => "Locked",
        ErrorClass::Auth => "Unauthorized",
        ErrorClass::Timeout => "Timeout",
        ErrorClass::Transient => "PlatformFailed",
        ErrorClass::NotFound | ErrorClass::Invalid | ErrorClass::Bug => "Refused",
    }
}

/// What follows from a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// The pause before the next attempt.
    pub(crate) pause: Duration,
    /// Whether it is another refusal than the one before, so that it is worth a word.
    pub(crate) is_news: bool,
}

impl Refusals {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, machines: Mutex::default() }
    }

    /// Takes note that an operation on a machine was refused.
    pub(crate) fn record(&self, name: &str, uid: &str, kind: Kind, error: &StepError, gate: &Gate) -> Consequence {
        let mut machines = self.lock();
        let known = machines.get(name).filter(|known| known.uid == uid && known.kind.name() == kind.name());
        let failures = known.map_or(0, |known| known.failures) + 1;
        let is_news = known.is_none_or(|known| known.class != error.class());
        let pause = jittered(pause(self.first, self.longest, failures)).max(asked(error));
        let (uid, class, until, opened) = (uid.to_owned(), error.class(), Instant::now() + pause, gate.opened());
        let refusal = Refusal { uid, kind, class, text: error_chain(error), failures, until, opened };
        machines.insert(name.to_owned(), refusal);
        Consequence { pause, is_news }
    }

    /// Returns how long a machine must wait before the next operation of a kind, if it must. What was refused for lack of room need
    /// not wait any longer once there was room for another machine.
    pub(crate) fn rest(&self, name: &str, uid: &str, kind: Kind, gate: &Gate) -> Option<Duration> {
        let machines = self.lock();
        let known = machines.get(name).filter(|known| known.uid == uid && known.kind.name() == kind.name())?;
        let is_void = known.class == ErrorClass::Capacity && known.opened != gate.opened();
        let rest = known.until.saturating_duration_since(Instant::now());
        (!is_void && !rest.is_zero()).then_some(rest)
    }

    /// Returns the last refusal of the creation of a machine.
    pub(crate) fn of_creation(&self, name: &str, uid: &str) -> Option<Refusal> {
        self.lock().get(name).filter(|known| known.uid == uid && known.kind == Kind::Create).cloned()
    }

    /// Forgets a machine: it is gone, or what it was refused has been done.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Returns how many machines wait, by reason.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, i64> {
        let mut counts = BTreeMap::new();
        for refusal in self.lock().values() {
            *counts.entry(refusal.reason()).or_default() += 1;
        }
        counts
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Refusal>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets creations through to a platform: all while it has room, one at a time and ever more seldom while it has none.
pub(crate) struct Gate {
    first: Duration,
    longest: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Refusals, less those that successes have made up for. The gate is open while there are none.
    refusals: u32,
    /// When the next creation is let through.
    next: Option<Instant>,
    /// Whether one was let through since the last refusal, which then counts.
    probing: bool,
    /// How often it was opened a little by a success.
    opened: u64,
    /// Last answer of the platform.
    class: Option<ErrorClass>,
}

impl Gate {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, inner: Mutex::default() }
    }

    /// Lets a creation through, or returns how long it must wait.
    pub(crate) fn enter(&self) -> Result<(), Duration> {
        let mut inner = self.lock();
        if inner.refusals == 0 {
            return Ok(());
        }
        let now = Instant::now();
        if let Some(rest) = inner.next.map(|next| next.saturating_duration_since(now)).filter(|rest| !rest.is_zero()) {
            return Err(rest);
        }
        inner.probing = true;
        inner.next = Some(now + pause(self.first, self.longest, inner.refusals));
        Ok(())
    }

    /// Closes the gate if the platform has no room or asks to slow down. A lock does not: it is on one object, and a busy platform takes and
    /// gives back many while it creates a fleet, so each machine waits for its own with its own pause. Creations that were under way side by side are refused
    /// together, which counts once.
    pub(crate) fn refused(&self, error: &StepError) {
        if !matches!(error.class(), ErrorClass::Capacity | ErrorClass::Throttled) {
            return;
        }
        let mut inner = self.lock();
        inner.class = Some(error.class());
        if inner.refusals == 0 || inner.probing {
            inner.refusals += 1;
            inner.probing = false;
        }
        let pause = pause(self.first, self.longest, inner.refusals).max(asked(error));
        let next = Instant::now() + pause;
        inner.next = Some(inner.next.map_or(next, |known| known.max(next)));
    }

    /// Opens the gate by half, since a machine was made. Returns true if others wait, who may try now.
    pub(crate) fn succeeded(&self) -> bool {
        let mut inner = self.lock();
        if inner.refusals == 0 {
            return false;
        }
        inner.refusals /= 2;
        inner.probing = false;
        inner.next = None;
        inner.opened += 1;
        true
    }

    /// Returns why creations wait, as conditions spell it.
    pub(crate) fn reason(&self) -> &'static str {
        reason(self.lock().class.unwrap_or(ErrorClass::Capacity))
    }

    fn opened(&self) -> u64 {
        self.lock().opened
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pauses double, up to a longest.
fn pause(first: Duration, longest: Duration, failures: u32) -> Duration {
    first.saturating_mul(1 << failures.saturating_sub(1).min(MOST_DOUBLINGS)).min(longest)
}

/// Returns how long the platform asks to wait, within reason.
fn asked(error: &StepError) -> Duration {
    error.wait().unwrap_or_default().min(LONGEST_ASKED)
}

/// Machines that were refused together do not come back together.
fn jittered(pause: Duration) -> Duration {
    use rand::Rng as _;
    pause.mul_f64(rand::rng().random_range(0.5..=1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(2);
    const LONGEST: Duration = Duration::from_mins(5);

    fn error(class: ErrorClass) -> StepError {
        StepError::new(class, "no host has room")
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_of_a_machine_grow_however_far_it_comes_and_only_news_are_told() {
        let (refusals, gate) = (Refusals::new(FIRST, LONGEST), Gate::new(FIRST, LONGEST));
        let mut asked = 0;
        let begun = Instant::now();
        let mut news = 0;
        while begun.elapsed() < Duration::from_hours(1) {
            if let Some(rest) = refusals.rest("a", "1", Kind::Create, &gate) {
                tokio::time::sleep(rest).await;
                continue;
            }
            asked += 1;
            news += u32::from(refusals.record("a", "1", Kind::Create, &error(ErrorClass::Locked), &gate).is_news);
        }
        assert!((12..40).contains(&asked), "asked {asked} times in an hour");
        assert_eq!(news, 1);
        assert!(refusals.record("a", "1", Kind::Create, &error(ErrorClass::Capacity), &gate).is_news);
        assert_eq!(refusals.counts(), [("OutOfCapacity", 1)].into());
        // Another object of the name, and another operation, begin anew.
        assert_eq!(refusals.rest("a", "2", Kind::Create, &gate), None);
        assert_eq!(refusals.rest("a", "1", Kind::Delete, &gate), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_platform_asks_for_is_waited_for() {
        let most = Duration::from_hours(1);
        for (asked, waited) in [
            (Duration::from_mins(17), Duration::from_mins(17)),
            (most, most),
            (Duration::from_secs(u32::MAX.into()), most),
            (Duration::MAX, most),
        ] {
            let (refusals, gate) = (Refusals::new(FIRST, LONGEST), Gate::new(FIRST, LONGEST));
            let throttled = error(ErrorClass::Throttled).retry_after(Some(asked));
            assert_eq!(refusals.record("a", "1", Kind::Create, &throttled, &gate).pause, waited);
            gate.refused(&throttled);
            assert_eq!((gate.enter(), gate.reason()), (Err(waited), "Throttled"));
        }
    }

    /// Three hundred machines and no room: the platform is asked by one of them at a time, and ever more seldom.
    #[tokio::test(start_paused = true)]
    async fn a_platform_without_room_is_asked_by_one_at_a_time() {
        let gate = Gate::new(FIRST, LONGEST);
        let begun = Instant::now();
        // Twenty were under way when the first was refused.
        for _ in 0..20 {
            assert_eq!(gate.enter(), Ok(()));
        }
        for _ in 0..20 {
            gate.refused(&error(ErrorClass::Capacity));
        }
        assert_eq!(gate.enter(), Err(FIRST), "twenty that were refused together count once");
        let mut asked = 0;
        while begun.elapsed() < Duration::from_hours(1) {
            match gate.enter() {
                Ok(()) => {
                    asked += 1;
                    gate.refused(&error(ErrorClass::Capacity));
                }
                Err(rest) => tokio::time::sleep(rest).await,
            }
        }
        assert!((12..25).contains(&asked), "asked {asked} times in an hour");
    }

    #[tokio::test(start_paused = true)]
    async fn room_for_one_lets_others_try_at_once() {
        let (refusals, gate) = (Refusals::new(FIRST, LONGEST), Gate::new(FIRST, LONGEST));
        for _ in 0..4 {
            tokio::time::sleep(LONGEST).await;
            assert_eq!(gate.enter(), Ok(()));
            gate.refused(&error(ErrorClass::Capacity));
        }
        refusals.record("a", "1", Kind::Create, &error(ErrorClass::Capacity), &gate);
        assert!(refusals.rest("a", "1", Kind::Create, &gate).is_some());
        assert!(gate.succeeded(), "others wait");
        assert_eq!(refusals.rest("a", "1", Kind::Create, &gate), None);
        assert_eq!(gate.enter(), Ok(()));
        assert!(gate.enter().is_err(), "one at a time until more have succeeded");
        for _ in 0..2 {
            gate.succeeded();
        }
        assert_eq!((gate.enter(), gate.enter()), (Ok(()), Ok(())));
        assert!(!gate.succeeded());
    }

    #[test]
    fn other_failures_do_not_close_the_gate() {
        let gate = Gate::new(FIRST, LONGEST);
        for class in [ErrorClass::Locked, ErrorClass::Transient, ErrorClass::Invalid, ErrorClass::Auth] {
            gate.refused(&error(class));
        }
        assert_eq!(gate.enter(), Ok(()));
    }
}
