//! Waiting for something to come about.

use std::time::{Duration, Instant};

/// What a test waits at most for anything. Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_mins(5);

/// Looks again and again until there is something to return; a look that finds nothing says what it saw instead.
pub(crate) fn until<T>(awaited: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) if Instant::now() > deadline => panic!("waited in vain for {awaited}; last seen: {seen}"),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
