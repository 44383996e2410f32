//! Guests: what runs inside a simulated machine.
//!
//! A simulation knows a machine's hardware and power; what the operating system in it does is a [`GuestRuntime`]'s
//! business. The two exchange plain values, so a simulation stays synchronous and deterministic:
//!
//! ```text
//! simulation ── GuestCommand (start, shut down, …) ──► runtime
//! simulation ◄── GuestEvent (booted, addresses, powered off) ── runtime
//! ```
//!
//! The shell carries them: after every call into the simulation it takes the commands
//! ([`Simulation::take_guest_commands`](super::Simulation::take_guest_commands)) and gives them to the runtime; it delivers
//! events ([`Simulation::guest_event`](super::Simulation::guest_event)) when they are due on the simulated clock, or as
//! they come from a runtime that has tasks of its own. [`PlainGuests`] is the default.

mod plain;

use std::collections::BTreeSet;
use std::net::IpAddr;

use tokio::sync::mpsc;

use super::simulation::{Instant, Request, Response};

pub use plain::{PlainGuests, PlainTimes};

/// A machine as its guest sees it when it is switched on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GuestMachine {
    /// The platform's id of the machine; events carry it back.
    pub id: String,
    /// The platform's name of the machine.
    pub name: String,
    /// The host name that the platform hands to the guest, if it does that.
    pub hostname: Option<String>,
    /// Virtual processors.
    pub cpus: u32,
    /// Memory.
    pub memory_mib: u64,
    /// Firmware UUID or serial, as the guest can read it.
    pub serial: Option<String>,
    /// Disks in boot order.
    pub disks: Vec<GuestDisk>,
    /// Network interfaces that are plugged and linked.
    pub nics: Vec<GuestNic>,
    /// What the platform delivers to the guest at this start; `None` if it delivers nothing (any more).
    pub user_data: Option<UserData>,
    /// Where the firmware fetches an iPXE script from, on platforms that boot machines from the network. A machine whose disk
    /// has a system on it boots from that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_script: Option<String>,
}

/// A disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GuestDisk {
    /// The platform's id of the disk.
    pub id: String,
    /// Its size as the guest sees it.
    pub size_bytes: u64,
    /// Whether the machine may boot from it.
    pub bootable: bool,
    /// What its content is known to come from (a template, an image), if anything.
    pub image: Option<String>,
}

/// A network interface of a machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GuestNic {
    /// The platform's name of the interface.
    pub name: String,
    /// Its hardware address, lower case with colons.
    pub mac: String,
    /// The network it is attached to, as the platform names it; interfaces with the same name reach each other.
    pub network: String,
    /// An address the platform assigns; without one the guest gets one in its own way.
    pub address: Option<IpAddr>,
}

/// What a platform passes to a guest at its first start.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UserData {
    /// How the platform presents it.
    pub format: UserDataFormat,
    /// The content, exactly as the guest reads it.
    pub content: String,
}

/// How user data is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserDataFormat {
    /// An Ignition config.
    Ignition,
    /// Cloud-init user data.
    CloudInit,
    /// Passed on uninterpreted.
    Raw,
}

/// What a simulation tells the guest runtime.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestCommand {
    /// The machine was switched on. A machine that runs already is replaced, as if it had been stopped.
    Start(Box<GuestMachine>),
    /// The power button was pressed: the guest should shut down, and may ignore it.
    Shutdown {
        /// The machine.
        id: String,
    },
    /// The guest was asked to reboot.
    Reboot {
        /// The machine.
        id: String,
    },
    /// The plug was pulled: the guest is gone, and no event of it may arrive afterwards.
    Stop {
        /// The machine.
        id: String,
    },
    /// These addresses, besides the machine's own, now lead to the machine. Whether it takes what comes is its own matter.
    Route {
        /// The machine.
        id: String,
        /// All of them.
        addresses: BTreeSet<IpAddr>,
    },
}

/// What a guest tells its platform.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestEvent {
    /// The operating system is up and its agent, if the platform has one, talks.
    Booted {
        /// The machine.
        id: String,
    },
    /// The addresses of the guest's interfaces are now these.
    Addresses {
        /// The machine.
        id: String,
        /// The host name the guest gave itself.
        hostname: Option<String>,
        /// One entry per interface that has addresses.
        interfaces: Vec<GuestInterface>,
    },
    /// The guest began to reboot; [`GuestEvent::Booted`] follows if it comes up again.
    Rebooting {
        /// The machine.
        id: String,
    },
    /// The guest switched its machine off.
    PoweredOff {
        /// The machine.
        id: String,
    },
    /// The guest announces these addresses to the platform's routers, and no others any more.
    Announces {
        /// The machine.
        id: String,
        /// All of them.
        addresses: BTreeSet<IpAddr>,
    },
}

impl GuestEvent {
    /// The machine whose guest speaks.
    pub fn id(&self) -> &str {
        match self {
            Self::Booted { id }
            | Self::Addresses { id, .. }
            | Self::Rebooting { id }
            | Self::PoweredOff { id }
            | Self::Announces { id, .. } => id,
        }
    }
}

/// An interface as the guest reports it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GuestInterface {
    /// The name the guest gave it, for example `ens3`.
    pub name: String,
    /// Its hardware address, as in [`GuestNic::mac`].
    pub mac: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// What runs the guests of a simulator.
///
/// The shell calls it with the simulation locked, so calls are short and never block: a runtime that does real work
/// hands it to tasks of its own, which report through the [`GuestEvents`] that it was attached to.
pub trait GuestRuntime: Send + 'static {
    /// Called once before anything else. A runtime that only uses the simulated clock ignores it.
    fn attach(&mut self, events: GuestEvents) {
        drop(events);
    }

    /// Takes note of what the platform did at the time `now`.
    fn command(&mut self, now: Instant, command: GuestCommand);

    /// Takes the events that are due by `now`, in the order of their times.
    fn advance(&mut self, now: Instant) -> Vec<GuestEvent>;

    /// When the next event is due on the simulated clock, if any is.
    fn next_deadline(&self) -> Option<Instant>;

    /// Answers a request under `/admin/guests`; the path that it gets is the one after that. `None` means that there is no
    /// such call.
    fn administer(&mut self, request: &Request) -> Option<Response> {
        let _ = request;
        None
    }

    /// Fields for the line that a simulator prints when it is ready.
    fn ready(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }

    /// What a restart needs to go on with the same guests; part of the state file.
    fn snapshot(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Goes on from a [`GuestRuntime::snapshot`]; called before any command.
    fn restore(&mut self, snapshot: serde_json::Value) -> Result<(), serde_json::Error> {
        let () = serde_json::from_value(snapshot)?;
        Ok(())
    }
}

/// Where a runtime with tasks of its own reports what its guests did; the shell delivers at once.
#[derive(Clone, Debug)]
pub struct GuestEvents(mpsc::UnboundedSender<GuestEvent>);

impl GuestEvents {
    /// A pair of ends: the runtime's, and the shell's.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<GuestEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Reports an event. After the simulator stopped there is nobody to tell, and nothing happens.
    pub fn report(&self, event: GuestEvent) {
        let _ = self.0.send(event);
    }
}
