//! When the upload of an image by somebody else has come to a halt.
//!
//! A marker says who uploads an image, not that they still do. The platform's own tools wait for its end for ever, and nothing of an
//! upload can be seen from another server but one thing: units are thin, so what is written to one is taken from the pool. So a
//! marker is given up if there is nothing beside it, or if what is beside it and the room in the pool stay as they are, for longer than
//! any upload pauses. Anything else that happens in the pool only lets us wait longer.
//!
//! That may be wrong, and does no harm then: the unit that was written to is deleted before the marker is, so nobody takes it for the
//! image, and whoever still writes to it fails. What is uploaded instead is another unit.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From a marker to the unit that it announces, which follows at once if all is well.
    pub before: Duration,
    /// While the image is written.
    pub during: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { before: Duration::from_mins(10), during: Duration::from_mins(30) }
    }
}

/// What can be seen of an upload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sight {
    /// The unit that is written to.
    pub(super) unit: Option<String>,
    /// What is left of the pool.
    pub(super) free_gib: f64,
}

/// What was seen of uploads, by the ids of their markers, and since when it is so.
#[derive(Debug, Default)]
pub(in crate::compute) struct Stalls(Mutex<BTreeMap<String, (Sight, Instant)>>);

impl Stalls {
    /// How long an upload has been as it is now, if that is too long.
    pub(super) fn look(&self, marker: &str, sight: Sight, now: Instant, patience: Patience) -> Option<Duration> {
        let most = if sight.unit.is_some() { patience.during } else { patience.before };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, since) = seen.entry(marker.to_owned()).or_insert_with(|| (sight.clone(), now));
        if *last != sight {
            (*last, *since) = (sight, now);
        }
        Some(now.duration_since(*since)).filter(|unchanged| *unchanged >= most)
    }

    /// The marker is gone.
    pub(super) fn forget(&self, marker: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(marker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(unit: Option<&str>, free_gib: f64) -> Sight {
        Sight { unit: unit.map(str::to_owned), free_gib }
    }

    /// Looks once a minute; the minute in which it is too long.
    fn given_up(sights: impl IntoIterator<Item = Sight>) -> Option<u64> {
        let (stalls, begin) = (Stalls::default(), Instant::now());
        (0..).zip(sights).find_map(|(minute, sight)| {
            let now = begin + Duration::from_mins(minute);
            stalls.look("marker", sight, now, Patience::default()).map(|_| minute)
        })
    }

    #[test]
    fn a_marker_without_an_image_is_given_up_after_ten_minutes() {
        assert_eq!(given_up(std::iter::repeat_n(sight(None, 500.0), 60)), Some(10));
        // Others use the pool, which says nothing about this one, but then it may be this one.
        let shrinking = (0..60).map(|minute| sight(None, 500.0 - f64::from(minute)));
        assert_eq!(given_up(shrinking), None);
    }

    #[test]
    fn an_upload_is_given_up_when_nothing_has_been_written_for_half_an_hour() {
        assert_eq!(given_up(std::iter::repeat_n(sight(Some("unit"), 500.0), 60)), Some(30));
        // Three hours of writing, and then no more.
        let slow = (0..180).map(|minute| sight(Some("unit"), 500.0 - f64::from(minute / 20)));
        let halted = std::iter::repeat_n(sight(Some("unit"), 492.0), 60);
        assert_eq!(given_up(slow.clone()), None);
        assert_eq!(given_up(slow.chain(halted)), Some(190));
    }

    #[test]
    fn an_upload_that_begins_anew_has_all_its_time() {
        let first = std::iter::repeat_n(sight(Some("unit"), 500.0), 29);
        let second = std::iter::repeat_n(sight(Some("another"), 500.0), 60);
        assert_eq!(given_up(first.chain(second)), Some(29 + 30));
    }

    #[test]
    fn every_marker_has_a_time_of_its_own() {
        let (stalls, now) = (Stalls::default(), Instant::now());
        let patience = Patience::default();
        assert_eq!(stalls.look("one", sight(None, 1.0), now, patience), None);
        let later = now + patience.before;
        assert_eq!(stalls.look("other", sight(None, 1.0), later, patience), None);
        assert_eq!(stalls.look("one", sight(None, 1.0), later, patience), Some(patience.before));
        stalls.forget("one");
        assert_eq!(stalls.look("one", sight(None, 1.0), later, patience), None);
    }
}
