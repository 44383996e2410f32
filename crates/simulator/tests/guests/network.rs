//! A loopback network for one test, which no other test on this machine uses at the same time.

use std::net::{Ipv4Addr, TcpListener};

/// A loopback `/16`. It is free again when it is dropped.
pub(crate) struct Network {
    second: u8,
    _claim: TcpListener,
}

impl Network {
    /// Claims a network by listening on its first address; ports there are the same for everybody.
    pub(crate) fn claim() -> Self {
        let start = u8::try_from(std::process::id() % 100).unwrap();
        let taken = (0..100).find_map(|step| {
            let second = 100 + (start + step) % 100;
            let claim = TcpListener::bind((Ipv4Addr::new(127, second, 0, 1), 22622)).ok()?;
            Some(Self { second, _claim: claim })
        });
        taken.expect("one of a hundred loopback networks is free")
    }

    pub(crate) fn address(&self, third: u8, fourth: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, self.second, third, fourth)
    }

    pub(crate) fn cidr(&self) -> String {
        format!("{}/16", self.address(0, 0))
    }
}
