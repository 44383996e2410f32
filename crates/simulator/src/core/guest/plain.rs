//! Guests that only power up, get an address each, and obey.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::simulation::Instant;
use super::{GuestCommand, GuestEvent, GuestInterface, GuestMachine, GuestRuntime};

/// How long plain guests take, on the simulated clock.
#[derive(Clone, Copy, Debug)]
pub struct PlainTimes {
    /// From power on to booted, with addresses.
    pub boot: Duration,
    /// From the power button to powered off, or to the reboot.
    pub shutdown: Duration,
}

impl Default for PlainTimes {
    fn default() -> Self {
        Self { boot: Duration::from_secs(20), shutdown: Duration::from_secs(5) }
    }
}

/// The default runtime: every machine boots whatever is on its disks, reports one address per interface, and shuts
/// down when asked.
///
/// Addresses come from one private `/16` per network and are bound to the hardware address for good, like the leases of
/// a DHCP server.
#[derive(Debug, Default)]
pub struct PlainGuests {
    times: PlainTimes,
    state: State,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    guests: BTreeMap<String, Guest>,
    leases: Leases,
    /// Scheduled changes; the number keeps changes of the same time in the order in which they were scheduled.
    due: BTreeSet<(Instant, u64, String)>,
    scheduled: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Guest {
    next: Next,
    /// When `next` happens: a change scheduled for another time or under another number has been superseded.
    at: Option<(Instant, u64)>,
    hostname: Option<String>,
    interfaces: Vec<GuestInterface>,
}

/// What a guest is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Next {
    Boot,
    PowerOff,
    Reboot,
}

/// Which address each hardware address got, per network.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Leases {
    /// Networks in the order in which they were first seen.
    networks: Vec<String>,
    /// Addresses handed out, by `network mac`.
    bound: BTreeMap<String, Ipv4Addr>,
    /// How many were handed out, per network.
    used: BTreeMap<String, u16>,
}

impl PlainGuests {
    /// A runtime with these times.
    pub fn new(times: PlainTimes) -> Self {
        Self { times, state: State::default() }
    }

    fn start(&mut self, now: Instant, machine: GuestMachine) {
        let interfaces = machine.nics.iter().enumerate().map(|(index, nic)| GuestInterface {
            name: format!("ens{}", index + 3),
            mac: nic.mac.clone(),
            addresses: vec![nic.address.unwrap_or_else(|| self.state.leases.bind(&nic.network, &nic.mac).into())],
        });
        let interfaces = interfaces.collect();
        let hostname = machine.hostname.or(Some(machine.name));
        self.stop(&machine.id);
        self.state.guests.insert(machine.id.clone(), Guest { next: Next::Boot, at: None, hostname, interfaces });
        self.state.schedule(now, self.times.boot, &machine.id, Next::Boot);
    }

    fn stop(&mut self, id: &str) {
        if let Some(Guest { at: Some((at, number)), .. }) = self.state.guests.remove(id) {
            self.state.due.remove(&(at, number, id.to_owned()));
        }
    }

    fn happen(&mut self, at: Instant, id: &str) -> Vec<GuestEvent> {
        let own_id = || id.to_owned();
        let Some(guest) = self.state.guests.get_mut(id) else { return Vec::new() };
        guest.at = None;
        match guest.next {
            Next::Boot => {
                let (hostname, interfaces) = (guest.hostname.clone(), guest.interfaces.clone());
                vec![GuestEvent::Booted { id: own_id() }, GuestEvent::Addresses { id: own_id(), hostname, interfaces }]
            }
            Next::PowerOff => {
                self.state.guests.remove(id);
                vec![GuestEvent::PoweredOff { id: own_id() }]
            }
            Next::Reboot => {
                self.state.schedule(at, self.times.boot, id, Next::Boot);
                vec![GuestEvent::Rebooting { id: own_id() }]
            }
        }
    }
}

impl State {
    /// Lets `next` happen after `delay`, instead of whatever this guest was about to do.
    fn schedule(&mut self, now: Instant, delay: Duration, id: &str, next: Next) {
        let Some(guest) = self.guests.get_mut(id) else { return };
        self.scheduled += 1;
        let at = (Instant(now.0.saturating_add(delay)), self.scheduled);
        if let Some((at, number)) = guest.at.replace(at) {
            self.due.remove(&(at, number, id.to_owned()));
        }
        guest.next = next;
        self.due.insert((at.0, at.1, id.to_owned()));
    }
}

impl GuestRuntime for PlainGuests {
    fn command(&mut self, now: Instant, command: GuestCommand) {
        match command {
            GuestCommand::Start(machine) => self.start(now, *machine),
            GuestCommand::Shutdown { id } => self.state.schedule(now, self.times.shutdown, &id, Next::PowerOff),
            GuestCommand::Reboot { id } => self.state.schedule(now, self.times.shutdown, &id, Next::Reboot),
            GuestCommand::Stop { id } => self.stop(&id),
            // They take nothing but what comes to their own addresses.
            GuestCommand::Route { .. } => {}
        }
    }

    fn advance(&mut self, now: Instant) -> Vec<GuestEvent> {
        let mut events = Vec::new();
        while self.next_deadline().is_some_and(|at| at <= now) {
            let Some((at, _, id)) = self.state.due.pop_first() else { break };
            events.extend(self.happen(at, &id));
        }
        events
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.state.due.first().map(|(at, ..)| *at)
    }

    fn snapshot(&self) -> serde_json::Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn restore(&mut self, snapshot: serde_json::Value) -> Result<(), serde_json::Error> {
        self.state = serde_json::from_value(snapshot)?;
        Ok(())
    }
}

impl Leases {
    fn bind(&mut self, network: &str, mac: &str) -> Ipv4Addr {
        let key = format!("{network} {mac}");
        if let Some(address) = self.bound.get(&key) {
            return *address;
        }
        let place = self.networks.iter().position(|known| known == network).unwrap_or_else(|| {
            self.networks.push(network.to_owned());
            self.networks.len() - 1
        });
        let used = self.used.entry(network.to_owned()).or_default();
        // The first 257 addresses are left to routers and to addresses that people choose. A network that ran out
        // starts again: two guests with one address is what a real one does too when its range is too small.
        *used = if *used < u16::MAX - 257 { *used + 1 } else { 1 };
        let [high, low] = (*used + 256).to_be_bytes();
        let second = 64 + u8::try_from(place % 128).unwrap_or_default();
        let address = Ipv4Addr::new(10, second, high, low);
        self.bound.insert(key, address);
        address
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GuestNic, UserData, UserDataFormat};
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant(Duration::from_secs(seconds))
    }

    fn machine(id: &str, macs: &[&str]) -> GuestCommand {
        let nics = macs.iter().map(|mac| GuestNic {
            name: "nic1".into(),
            mac: (*mac).into(),
            network: "ovirtmgmt".into(),
            address: None,
        });
        GuestCommand::Start(Box::new(GuestMachine {
            id: id.into(),
            name: format!("{id}-name"),
            hostname: None,
            cpus: 1,
            memory_mib: 1024,
            serial: None,
            disks: Vec::new(),
            nics: nics.collect(),
            user_data: Some(UserData { format: UserDataFormat::Ignition, content: "{}".into() }),
            boot_script: None,
        }))
    }

    fn addresses(events: &[GuestEvent]) -> Vec<String> {
        let interfaces = events.iter().filter_map(|event| match event {
            GuestEvent::Addresses { interfaces, .. } => Some(interfaces),
            _ => None,
        });
        interfaces.flatten().flat_map(|interface| &interface.addresses).map(ToString::to_string).collect()
    }

    #[test]
    fn a_guest_boots_reports_addresses_and_obeys_the_power_button() {
        let mut guests = PlainGuests::default();
        guests.command(at(0), machine("a", &["m1", "m2"]));
        assert_eq!(guests.next_deadline(), Some(at(20)));
        assert_eq!(guests.advance(at(19)), []);
        let events = guests.advance(at(20));
        assert_eq!(events[0], GuestEvent::Booted { id: "a".into() });
        assert_eq!(addresses(&events), ["10.64.1.1", "10.64.1.2"]);
        assert_eq!(guests.next_deadline(), None);

        guests.command(at(30), GuestCommand::Shutdown { id: "a".into() });
        assert_eq!(guests.advance(at(35)), [GuestEvent::PoweredOff { id: "a".into() }]);
        guests.command(at(40), GuestCommand::Shutdown { id: "a".into() });
        assert_eq!(guests.next_deadline(), None, "a guest that is off cannot shut down again");
    }

    #[test]
    fn pulling_the_plug_silences_a_guest() {
        let mut guests = PlainGuests::default();
        guests.command(at(0), machine("a", &["m1"]));
        guests.command(at(5), GuestCommand::Stop { id: "a".into() });
        assert_eq!(guests.next_deadline(), None);
        assert_eq!(guests.advance(at(100)), []);
    }

    #[test]
    fn a_reboot_comes_up_with_the_same_addresses() {
        let mut guests = PlainGuests::default();
        guests.command(at(0), machine("a", &["m1"]));
        let first = guests.advance(at(20));
        guests.command(at(30), GuestCommand::Reboot { id: "a".into() });
        assert_eq!(guests.advance(at(35)), [GuestEvent::Rebooting { id: "a".into() }]);
        assert_eq!(guests.advance(at(55)), first);
    }

    #[test]
    fn a_restart_goes_on_where_it_was() {
        let mut guests = PlainGuests::default();
        guests.command(at(0), machine("a", &["m1"]));
        guests.command(at(1), machine("b", &["m2"]));
        guests.command(at(2), GuestCommand::Shutdown { id: "b".into() });
        let mut restored = PlainGuests::default();
        restored.restore(guests.snapshot()).unwrap();
        assert_eq!(restored.advance(at(50)), guests.advance(at(50)));
        restored.command(at(60), machine("b", &["m2"]));
        assert_eq!(addresses(&restored.advance(at(80))), ["10.64.1.2"], "the lease survived");
    }
}
