//! All that a simulated account holds.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use jiff::Timestamp;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agenda::Due;
use crate::core::guest::GuestCommand;
use crate::core::{Agenda, Instant};

/// The account and all that is in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) now: Instant,
    #[serde(skip)]
    pub(super) epoch: Timestamp,
    pub(super) seed: u64,
    pub(super) ids: u64,
    pub(super) user: String,
    pub(super) organizations: Vec<Organization>,
    pub(super) projects: Vec<Project>,
    pub(super) keys: Vec<SshKey>,
    pub(super) devices: Vec<Device>,
    pub(super) blocks: Vec<Block>,
    pub(super) vlans: Vec<Vlan>,
    pub(super) sessions: Vec<Session>,
    pub(super) reservations: Vec<Reservation>,
    pub(super) requests: Vec<SpotRequest>,
    pub(super) batches: Vec<Value>,
    pub(super) events: Vec<Event>,
    /// What places were told to be short of: `location/plan` and how many servers there are.
    pub(super) capacity: BTreeMap<String, usize>,
    /// Prices on the spot market that differ from the usual: `location/plan`.
    pub(super) prices: BTreeMap<String, f64>,
    /// Hostnames that failed once already because they were told to.
    pub(super) failed_once: BTreeSet<String>,
    pub(super) agenda: Agenda<Due>,
    pub(super) network: Ipv4Net,
    /// Which elastic addresses lead to which device, as guests were told last.
    pub(super) routes: BTreeMap<String, BTreeSet<Ipv4Addr>>,
    #[serde(skip)]
    pub(super) guest_commands: Vec<GuestCommand>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Organization {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) created: Instant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Project {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) organization: String,
    pub(super) created: Instant,
    pub(super) tags: Vec<String>,
    pub(super) customdata: Value,
    pub(super) backend_transfer: bool,
    pub(super) bgp: Option<BgpConfig>,
    pub(super) payment_method: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BgpConfig {
    pub(super) id: String,
    pub(super) deployment_type: String,
    pub(super) asn: u64,
    pub(super) md5: Option<String>,
    pub(super) status: String,
    pub(super) created: Instant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SshKey {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) key: String,
    /// Nothing for a key of the user's.
    pub(super) project: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created: Instant,
}

/// The states of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DeviceState {
    Queued,
    Provisioning,
    Active,
    Inactive,
    PoweringOn,
    PoweringOff,
    Reinstalling,
    Deprovisioning,
    Failed,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "they are what the API shows of a device")]
pub(super) struct Device {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) hostname: String,
    pub(super) description: Option<String>,
    pub(super) state: DeviceState,
    pub(super) plan: String,
    pub(super) os: String,
    pub(super) facility: String,
    pub(super) metro: String,
    /// Under which name of a place its server is counted.
    pub(super) counted: String,
    pub(super) billing_cycle: String,
    pub(super) userdata: String,
    pub(super) customdata: Value,
    pub(super) tags: Vec<String>,
    pub(super) locked: bool,
    pub(super) network_frozen: bool,
    pub(super) always_pxe: bool,
    pub(super) ipxe_script_url: Option<String>,
    pub(super) reservation: Option<String>,
    pub(super) spot: bool,
    pub(super) spot_price_max: Option<f64>,
    pub(super) spot_request: Option<String>,
    pub(super) termination: Option<Instant>,
    pub(super) ssh_keys: Vec<String>,
    pub(super) created: Instant,
    pub(super) updated: Instant,
    /// How many of its provisioning events have happened, and when.
    pub(super) provisioned: Vec<(String, Instant)>,
    pub(super) slow: u32,
    /// A device that failed on demand: nobody may see it any more.
    pub(super) hidden: bool,
    pub(super) guest_started: bool,
    pub(super) guest_up: bool,
    /// Elastic addresses that its guest announces over BGP.
    pub(super) announced: BTreeSet<Ipv4Addr>,
    pub(super) management: Vec<Management>,
    pub(super) ports: Vec<Port>,
    pub(super) root_password: String,
    pub(super) disk: String,
}

/// An address that a device has for as long as it lives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Management {
    pub(super) id: String,
    pub(super) block: String,
    pub(super) family: u8,
    pub(super) public: bool,
    pub(super) address: String,
    pub(super) network: String,
    pub(super) gateway: String,
    pub(super) cidr: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Port {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) mac: String,
    pub(super) bonded: bool,
    pub(super) network_type: String,
    pub(super) vlans: Vec<String>,
    pub(super) native: Option<String>,
}

/// A block of addresses that a project has reserved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Block {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) kind: String,
    pub(super) network: String,
    pub(super) cidr: u8,
    pub(super) facility: Option<String>,
    pub(super) metro: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) details: Option<String>,
    pub(super) customdata: Value,
    pub(super) state: String,
    pub(super) created: Instant,
    /// Made by the platform, with a device or for a project.
    pub(super) management: bool,
    pub(super) assignments: Vec<Assignment>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) id: String,
    pub(super) device: String,
    pub(super) network: String,
    pub(super) cidr: u8,
    pub(super) created: Instant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Vlan {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) vxlan: u64,
    pub(super) description: Option<String>,
    pub(super) facility: Option<String>,
    pub(super) metro: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created: Instant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) device: String,
    pub(super) family: String,
    pub(super) default_route: bool,
    pub(super) created: Instant,
}

/// Hardware that a project has reserved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reservation {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) plan: String,
    pub(super) facility: String,
    pub(super) metro: String,
    pub(super) device: Option<String>,
    pub(super) provisionable: bool,
    pub(super) created: Instant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SpotRequest {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) bid: f64,
    pub(super) metro: Option<String>,
    pub(super) facilities: Vec<String>,
    pub(super) created: Instant,
    pub(super) end_at: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) body: String,
    pub(super) device: Option<String>,
    pub(super) project: Option<String>,
    pub(super) created: Instant,
}

impl State {
    /// A new id: a true random UUID in its form.
    pub(super) fn id(&mut self) -> String {
        self.ids += 1;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.ids);
        uuid::Builder::from_random_bytes(random.random()).into_uuid().to_string()
    }

    pub(super) fn device(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == id)
    }

    pub(super) fn device_mut(&mut self, id: &str) -> Option<&mut Device> {
        self.devices.iter_mut().find(|device| device.id == id)
    }

    pub(super) fn project(&self, id: &str) -> Option<&Project> {
        self.projects.iter().find(|project| project.id == id)
    }

    /// A time of the simulated clock as the API writes it.
    pub(super) fn time(&self, at: Instant) -> String {
        let time = self.epoch.checked_add(at.0).unwrap_or(self.epoch);
        let seconds = Timestamp::from_second(time.as_second()).unwrap_or(self.epoch);
        seconds.to_string()
    }

    pub(super) fn log(&mut self, kind: &str, body: impl Into<String>, device: Option<&str>, project: Option<&str>) {
        let event = Event {
            id: self.id(),
            kind: kind.to_owned(),
            body: body.into(),
            device: device.map(str::to_owned),
            project: project.map(str::to_owned),
            created: self.now,
        };
        self.events.push(event);
    }

    /// How many servers of a plan are left at a place.
    pub(super) fn servers_left(&self, location: &str, plan: &str) -> usize {
        let total = self.capacity.get(&format!("{location}/{plan}")).copied().unwrap_or(1000);
        let taken = |device: &&Device| {
            device.plan == plan
                && device.reservation.is_none()
                && !device.hidden
                && [&device.metro, &device.facility, &device.counted].into_iter().any(|place| place == location)
        };
        total.saturating_sub(self.devices.iter().filter(taken).count())
    }
}

impl DeviceState {
    /// The API's word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Provisioning => "provisioning",
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::PoweringOn => "powering_on",
            Self::PoweringOff => "powering_off",
            Self::Reinstalling => "reinstalling",
            Self::Deprovisioning => "deprovisioning",
            Self::Failed => "failed",
        }
    }

    /// Whether it is still on its way to be usable.
    pub(super) fn is_underway(self) -> bool {
        matches!(self, Self::Queued | Self::Provisioning | Self::Reinstalling)
    }
}
