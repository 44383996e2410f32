//! Limits what clients without the right credential may cause: answers that say whether a guess was wrong, and lines in the log.
//!
//! Proofs have 256 bits, so guessing is hopeless anyway. A machine with the right credential is never held back: behind a balancer or
//! masquerading all machines and pods share an address, and a pod that shows wrong ones would keep them all from booting.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Mutex,
    time::{Duration, Instant},
};

/// Occasions of an address in one window.
const ALLOWED: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses that are remembered at most; beyond that the oldest window is forgotten.
const REMEMBERED: usize = 10_000;

/// Counts occasions by address.
#[derive(Default)]
pub(super) struct Throttle(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Throttle {
    /// Returns true if an address has had its occasions of late.
    pub(super) fn blocks(&self, address: IpAddr, now: Instant) -> bool {
        let counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let count = counts.get(&client(address));
        count.is_some_and(|(began, count)| now.saturating_duration_since(*began) < WINDOW && *count >= ALLOWED)
    }

    /// Counts an occasion. Returns true if it is the last of the window.
    pub(super) fn count(&self, address: IpAddr, now: Instant) -> bool {
        let address = client(address);
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if counts.len() >= REMEMBERED && !counts.contains_key(&address) {
            let oldest = counts.iter().min_by_key(|(_, (began, _))| *began).map(|(address, _)| *address);
            oldest.and_then(|address| counts.remove(&address));
        }
        let entry = counts.entry(address).or_insert((now, 0));
        if now.saturating_duration_since(entry.0) >= WINDOW {
            *entry = (now, 0);
        }
        entry.1 = entry.1.saturating_add(1);
        entry.1 == ALLOWED
    }
}

/// The address that stands for a client: a machine may use all addresses of its /64.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
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
            let last = throttle.count(guesser, now);
            assert_eq!(last, throttle.blocks(guesser, now));
        }
        assert!(throttle.blocks(guesser, now));
        assert!(!throttle.blocks(other, now));
        assert!(!throttle.blocks(guesser, now + WINDOW));
    }

    #[test]
    fn a_client_with_many_addresses_is_one_client() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..u16::try_from(ALLOWED).unwrap() {
            throttle.count(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, number).into(), now);
        }
        assert!(throttle.blocks("2001:db8:0:1:ffff::9".parse().unwrap(), now));
        assert!(!throttle.blocks("2001:db8:0:2::9".parse().unwrap(), now));
        for _ in 0..ALLOWED {
            throttle.count("::ffff:192.0.2.1".parse().unwrap(), now);
        }
        assert!(throttle.blocks("192.0.2.1".parse().unwrap(), now));
    }
}
