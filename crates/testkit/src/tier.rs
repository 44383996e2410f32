//! Tier of the tests: `gate` has every kind of check, `full` adds the repetitions. `docs/testing.md` describes both.

/// Environment variable that chooses the tier. All runners read it; in Rust this file alone does.
const VARIABLE: &str = "LANDFALL_TIER";

/// Returns true in the tier `full`.
///
/// # Panics
///
/// If the variable names no tier: a misspelt one must not pass as the smaller tier.
pub fn is_full() -> bool {
    match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("" | "gate") => false,
        Ok("full") => true,
        Ok(other) => panic!("cannot read {VARIABLE}: {other:?} is no tier; use gate or full"),
    }
}

/// Returns how much of something a test does in this tier.
pub fn choose<T>(gate: T, full: T) -> T {
    if is_full() { full } else { gate }
}
