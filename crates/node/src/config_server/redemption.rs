//! Uses of credentials: a credential opens a config once, and again only to the machine that has used it.

use std::{net::IpAddr, time::Duration};

use ipnet::IpNet;
use jiff::Timestamp;
use landfall_assets::NodeFacts;
use serde::{Deserialize, Serialize};

use super::Redemption;

/// Time after its first use in which a credential may be used again, for a machine whose answer was lost; and time after its object was created in which a
/// machine may fetch its config at all. As long as a machine may take to ask for its first certificate.
pub const BOOT_TIMEOUT: Duration = Duration::from_hours(2);

/// Rule for the peers that may be the same machine: those with the same address, and behind a balancer that hides addresses all that have one of its.
#[derive(Clone, Debug, Default)]
pub struct Peers(Vec<IpNet>);

impl Peers {
    /// Returns the rule of a cluster. On PowerVS and where the user balances the load, machines ask through a balancer, which may have several addresses,
    /// usually outside the networks of machines.
    pub fn of(facts: &NodeFacts) -> Self {
        let is_balanced = facts.vips.is_none() && facts.platform != "packet";
        Self(if is_balanced { facts.networks.machine.clone() } else { Vec::new() })
    }

    fn may_be_same(&self, one: IpAddr, other: IpAddr) -> bool {
        let is_balancer = |address| !self.0.is_empty() && !self.0.iter().any(|network| network.contains(&address));
        one == other || (is_balancer(one) && is_balancer(other))
    }
}

/// The first use of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstUse {
    /// Address of the machine that used it.
    pub peer: IpAddr,
    /// When it was used.
    pub at: Timestamp,
}

impl FirstUse {
    /// Returns the first use by a peer, now.
    pub const fn new(peer: IpAddr, now: Timestamp) -> Self {
        Self { peer: peer.to_canonical(), at: now }
    }

    /// Decides about a further use.
    pub fn again(&self, peer: IpAddr, now: Timestamp, peers: &Peers) -> Redemption {
        let Self { peer: first, at } = self;
        if !peers.may_be_same(peer.to_canonical(), *first) {
            return Redemption::Refused(format!("it was used by {first} at {at}"));
        }
        if now.duration_since(*at).unsigned_abs() >= BOOT_TIMEOUT {
            return Redemption::Refused(format!("it was used at {at} and has ended"));
        }
        Redemption::Granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_lost_reply_is_given_again_to_the_same_machine_for_a_while() {
        let (now, peer, peers) = (Timestamp::UNIX_EPOCH, address("192.0.2.1"), Peers::default());
        let first = FirstUse::new(address("::ffff:192.0.2.1"), now);
        assert_eq!(first.again(peer, now, &peers), Redemption::Granted);
        assert_eq!(first.again(peer, now + BOOT_TIMEOUT - Duration::from_secs(1), &peers), Redemption::Granted);
        let ended = first.again(peer, now + BOOT_TIMEOUT, &peers);
        assert_eq!(ended, Redemption::Refused("it was used at 1970-01-01T00:00:00Z and has ended".to_owned()));
        let other = first.again(address("192.0.2.9"), now, &peers);
        assert_eq!(other, Redemption::Refused("it was used by 192.0.2.1 at 1970-01-01T00:00:00Z".to_owned()));
    }

    #[test]
    fn a_balancer_with_many_addresses_locks_no_machine_out() {
        let mut facts = crate::testing::facts("master");
        let same =
            |facts: &NodeFacts, one: &str, other: &str| Peers::of(facts).may_be_same(address(one), address(other));
        assert!(!same(&facts, "192.0.2.1", "192.0.2.2"), "machines hold the address themselves");
        facts.vips = None;
        assert!(same(&facts, "192.0.2.1", "192.0.2.2"), "neither is in the network of machines");
        assert!(!same(&facts, "198.51.100.31", "192.0.2.2") && !same(&facts, "198.51.100.31", "198.51.100.32"));
        facts.platform = "packet".to_owned();
        assert!(!same(&facts, "192.0.2.1", "192.0.2.2"), "addresses are led to machines, and public");
    }
}
