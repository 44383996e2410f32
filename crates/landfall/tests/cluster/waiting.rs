//! Waiting for something to come about.

use std::time::Duration;

/// Longest time without any change before a test fails.
const PATIENCE: Duration = Duration::from_mins(5);

/// Looks again and again until there is something to return; a look that finds nothing returns what it saw instead.
pub(crate) fn until<T>(awaited: &str, look: impl FnMut() -> Result<T, String>) -> T {
    landfall_testkit::patience::until(awaited, PATIENCE, look)
}
