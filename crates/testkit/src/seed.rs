//! Seeds of the tests that draw lots.

/// Environment variable with the one seed to run, as a failure prints it. Only this file reads it.
const VARIABLE: &str = "LANDFALL_SEED";

/// Returns the seed that is to be replayed, if one is.
///
/// # Panics
///
/// If the variable is no number: a misspelt one must not pass as none.
pub fn replayed() -> Option<u64> {
    let text = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("cannot read {VARIABLE}: {text:?} is no number")))
}

/// Returns how to run a seed again, for a failure message.
pub fn replay(seed: u64) -> String {
    format!("seed {seed}; replay with {VARIABLE}={seed}")
}

/// Numbers that a seed leads to, the same each time.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of one occasion under a seed. Occasions do not depend on each other.
    pub fn new(seed: u64, occasion: u64) -> Self {
        Self(scattered(seed).wrapping_add(occasion.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from(scattered(self.0) % limit).unwrap_or_default()
    }

    /// One of several; none of nothing.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Returns true once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Spreads numbers that follow each other (`SplitMix64`).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
