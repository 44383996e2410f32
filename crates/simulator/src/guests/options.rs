//! How light guests behave.

use ipnet::Ipv4Net;

use super::faults::GuestFault;
use super::times::Times;

/// How light guests behave.
#[derive(Clone, Debug)]
pub struct LightOptions {
    /// The loopback network that guests get their addresses from. Its first 256 addresses are never given away, so that
    /// virtual addresses can be chosen among them.
    pub network: Ipv4Net,
    /// How long things take.
    pub times: Times,
    /// Machines that misbehave from the beginning.
    pub faults: Vec<GuestFault>,
}

impl Default for LightOptions {
    fn default() -> Self {
        let network = Ipv4Net::new_assert([127, 66, 0, 0].into(), 16);
        Self { network, times: Times::default(), faults: Vec::new() }
    }
}
