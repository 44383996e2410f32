//! Slows down whoever guesses tokens.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Mutex,
    time::{Duration, Instant},
};

/// Wrong tokens that an address may show in one window.
const ALLOWED: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses that are remembered at most; beyond that the oldest window is forgotten.
const REMEMBERED: usize = 10_000;

/// Counts wrong tokens by address.
#[derive(Default)]
pub(super) struct Throttle(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Throttle {
    /// Whether an address has shown too many wrong tokens of late.
    pub(super) fn blocks(&self, address: IpAddr, now: Instant) -> bool {
        let counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        counts.get(&address).is_some_and(|(began, wrong)| now.duration_since(*began) < WINDOW && *wrong >= ALLOWED)
    }

    /// Counts a wrong token.
    pub(super) fn count(&self, address: IpAddr, now: Instant) {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if counts.len() >= REMEMBERED && !counts.contains_key(&address) {
            let oldest = counts.iter().min_by_key(|(_, (began, _))| *began).map(|(address, _)| *address);
            oldest.and_then(|address| counts.remove(&address));
        }
        let entry = counts.entry(address).or_insert((now, 0));
        if now.duration_since(entry.0) >= WINDOW {
            *entry = (now, 0);
        }
        entry.1 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_is_blocked_for_a_while_and_only_for_the_guesser() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let (guesser, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..ALLOWED {
            assert!(!throttle.blocks(guesser, now));
            throttle.count(guesser, now);
        }
        assert!(throttle.blocks(guesser, now));
        assert!(!throttle.blocks(other, now));
        assert!(!throttle.blocks(guesser, now + WINDOW));
    }
}
