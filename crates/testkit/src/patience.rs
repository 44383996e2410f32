//! Deadlines by progress: a wait fails when nothing has changed for a while, not because the machine is busy.

use std::time::{Duration, Instant};

/// Waits end after this many times their limit, also if there is still some change.
const LONGEST: u32 = 10;

/// Patience of one wait. Lasts for a limit after the last change of what the waiting test sees.
#[derive(Debug)]
pub struct Patience {
    limit: Duration,
    began: Instant,
    changed: Instant,
    seen: String,
}

impl Patience {
    /// Begins a wait.
    pub fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self { limit, began: now, changed: now, seen: String::new() }
    }

    /// Notes what a look saw, such as an error message or a server's log.
    ///
    /// # Panics
    ///
    /// If there was no progress for too long. The message has what was awaited and what was seen last.
    pub fn look(&mut self, awaited: &str, seen: &str) {
        assert!(self.lasts(seen, Instant::now()), "waited in vain for {awaited}; last seen: {seen}");
    }

    fn lasts(&mut self, seen: &str, now: Instant) -> bool {
        if self.seen != seen {
            seen.clone_into(&mut self.seen);
            self.changed = now;
        }
        now - self.changed < self.limit && now - self.began < self.limit * LONGEST
    }
}

/// Looks again and again until there is something to return; a look that finds nothing returns what it saw instead. Blocks.
///
/// # Panics
///
/// If nothing changes for as long as `limit`.
pub fn until<T>(awaited: &str, limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let mut patience = Patience::new(limit);
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => patience.look(awaited, &seen),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn patience() -> (Patience, impl Fn(u64) -> Instant) {
        let patience = Patience::new(LIMIT);
        let began = patience.began;
        (patience, move |seconds| began + Duration::from_secs(seconds))
    }

    #[test]
    fn progress_is_waited_for() {
        let (mut patience, at) = patience();
        for step in 1..10 {
            assert!(patience.lasts(&format!("{step} of 10"), at(step * 9)), "{step}");
        }
        assert!(!patience.lasts("10 of 10", at(101)), "ten times the limit is the end");
    }

    #[test]
    fn a_standstill_ends_the_wait() {
        let (mut patience, at) = patience();
        assert!(patience.lasts("starting", at(1)));
        assert!(patience.lasts("starting", at(10)));
        assert!(!patience.lasts("starting", at(11)));
    }
}
