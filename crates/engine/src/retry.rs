//! How often and with which pauses a failed call is repeated.

use std::time::Duration;

use landfall_platform::ErrorClass;
use rand::Rng;

/// Pauses grow from `first` by doubling up to `longest`, each drawn at random from its upper half, so that many steps that
/// failed together do not come back together. There is no limit on the number: the step's own time-out ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first pause at most.
    pub first: Duration,
    /// No pause is longer, unless the platform asks for more.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(30) }
    }
}

impl RetryPolicy {
    /// The pause after the given number of failures (from 1), or `None` if trying again cannot help.
    pub fn pause(
        &self,
        class: ErrorClass,
        asked: Option<Duration>,
        failures: u32,
        rng: &mut impl Rng,
    ) -> Option<Duration> {
        if !class.is_retryable() {
            return None;
        }
        let doublings = failures.saturating_sub(1).min(16);
        let ceiling = self.first.saturating_mul(1 << doublings).min(self.longest);
        let pause = ceiling.mul_f64(rng.random_range(0.5..=1.0));
        Some(pause.max(asked.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn what_cannot_help_is_not_tried() {
        let mut rng = StdRng::seed_from_u64(1);
        for class in
            [ErrorClass::Auth, ErrorClass::Invalid, ErrorClass::Capacity, ErrorClass::NotFound, ErrorClass::Bug]
        {
            assert_eq!(RetryPolicy::default().pause(class, None, 1, &mut rng), None);
        }
    }

    proptest! {
        #[test]
        fn pauses_grow_within_bounds(failures in 1_u32.., seed: u64) {
            let policy = RetryPolicy::default();
            let pause = policy.pause(ErrorClass::Locked, None, failures, &mut StdRng::seed_from_u64(seed)).unwrap();
            prop_assert!(pause >= policy.first / 2 && pause <= policy.longest);
        }

        #[test]
        fn the_platforms_wish_is_honoured(seconds in 0_u64..4000, failures in 1_u32..30, seed: u64) {
            let asked = Duration::from_secs(seconds);
            let mut rng = StdRng::seed_from_u64(seed);
            prop_assert!(RetryPolicy::default().pause(ErrorClass::Throttled, Some(asked), failures, &mut rng).unwrap() >= asked);
        }
    }
}
