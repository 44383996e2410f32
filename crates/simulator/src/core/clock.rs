//! The simulated clock: a multiple of real time, or moved by hand.

use std::time::{Duration, Instant as RealInstant};

use jiff::Timestamp;
use jiff::fmt::friendly::{Designator, Spacing, SpanParser, SpanPrinter};

use super::simulation::Instant;

/// How simulated time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// This many simulated seconds per real second.
    Scaled(f64),
    /// Only when somebody steps the clock.
    Stepped,
}

/// A simulated clock.
///
/// It never goes backwards. Its epoch is the time of day at which it started; a stepped clock starts at a fixed one, so
/// that two runs give the same timestamps.
#[derive(Clone, Debug)]
pub struct Clock {
    epoch: Timestamp,
    pace: Pace,
    /// The simulated time at `since`.
    base: Duration,
    since: RealInstant,
}

impl Clock {
    /// When stepped clocks begin: 2024-01-01T00:00:00Z.
    pub const STEPPED_EPOCH: Timestamp = Timestamp::constant(1_704_067_200, 0);

    /// A clock that begins now.
    pub fn start(pace: Pace) -> Self {
        let epoch = match pace {
            Pace::Stepped => Self::STEPPED_EPOCH,
            // Whole seconds: clients compare timestamps that were rendered with different precision.
            Pace::Scaled(_) => Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Self::STEPPED_EPOCH),
        };
        Self::resume(pace, epoch, Instant(Duration::ZERO))
    }

    /// A clock that goes on from a point that an earlier one reached.
    pub fn resume(pace: Pace, epoch: Timestamp, now: Instant) -> Self {
        Self { epoch, pace, base: now.0, since: RealInstant::now() }
    }

    /// The simulated time.
    pub fn now(&self) -> Instant {
        match self.pace {
            Pace::Stepped => Instant(self.base),
            Pace::Scaled(scale) => Instant(self.base + scaled(self.since.elapsed(), scale)),
        }
    }

    /// The time of day that `Instant(0)` stands for.
    pub fn epoch(&self) -> Timestamp {
        self.epoch
    }

    /// How time passes.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Moves the clock forward to `to`; a point in the past changes nothing.
    pub fn step_to(&mut self, to: Instant) {
        let now = self.now();
        if to > now {
            *self = Self::resume(self.pace, self.epoch, to);
        }
    }

    /// How much real time passes until `deadline`; `None` if only a step can get there.
    pub fn real_time_until(&self, deadline: Instant) -> Option<Duration> {
        let left = deadline.0.saturating_sub(self.now().0);
        match self.pace {
            _ if left.is_zero() => Some(Duration::ZERO),
            Pace::Stepped => None,
            Pace::Scaled(scale) => Some(scaled(left, 1.0 / scale)),
        }
    }
}

/// The time of day of a point on a clock with this epoch.
pub fn timestamp(epoch: Timestamp, at: Instant) -> Timestamp {
    epoch.checked_add(at.0).unwrap_or(Timestamp::MAX)
}

/// A multiple of a duration, without overflow.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX / 4)
}

/// Reads a duration as people write it: `250ms`, `5s`, `1h30m`; a bare number means seconds.
pub fn parse_duration(text: &str) -> Result<Duration, jiff::Error> {
    if let Ok(seconds) = text.parse::<f64>()
        && let Ok(duration) = Duration::try_from_secs_f64(seconds)
    {
        return Ok(duration);
    }
    SpanParser::new().parse_unsigned_duration(text)
}

/// Writes a duration as [`parse_duration`] reads it.
pub fn display_duration(duration: Duration) -> String {
    let printer = SpanPrinter::new().designator(Designator::Compact).spacing(Spacing::None);
    printer.unsigned_duration_to_string(&duration)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stepped_clock_moves_only_by_steps() {
        let mut clock = Clock::start(Pace::Stepped);
        assert_eq!(clock.now(), Instant(Duration::ZERO));
        assert_eq!(clock.real_time_until(Instant(Duration::from_secs(1))), None);
        clock.step_to(Instant(Duration::from_secs(90)));
        clock.step_to(Instant(Duration::from_secs(30)));
        assert_eq!(clock.now(), Instant(Duration::from_secs(90)));
        assert_eq!(timestamp(clock.epoch(), clock.now()).to_string(), "2024-01-01T00:01:30Z");
    }

    #[test]
    fn a_scaled_clock_needs_less_real_time() {
        let clock = Clock::start(Pace::Scaled(1000.0));
        let real = clock.real_time_until(Instant(clock.now().0 + Duration::from_secs(1000))).unwrap();
        assert!(real <= Duration::from_secs(1), "{real:?}");
        assert_eq!(clock.real_time_until(Instant(Duration::ZERO)), Some(Duration::ZERO));
    }

    proptest! {
        #[test]
        fn durations_are_read_as_they_are_written(nanos in 0..u64::MAX / 4) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&display_duration(duration)).unwrap(), duration);
        }
    }
}
