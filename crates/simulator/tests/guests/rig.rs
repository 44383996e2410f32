//! Guests driven as a platform drives them, without one.

use std::time::{Duration, Instant as Moment};

use landfall_simulator::core::Instant;
use landfall_simulator::core::guest::{
    GuestCommand, GuestDisk, GuestEvent, GuestEvents, GuestMachine, GuestNic, GuestRuntime, UserData, UserDataFormat,
};
use landfall_simulator::guests::{GuestControl, LightGuests, LightOptions, Times};
use tokio::sync::mpsc;

use crate::network::Network;

/// What a test waits at most for anything. Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_mins(2);

/// A platform that only knows power.
pub(crate) struct Rig {
    pub(crate) guests: LightGuests,
    pub(crate) control: GuestControl,
    reported: mpsc::UnboundedReceiver<GuestEvent>,
    events: Vec<GuestEvent>,
    clock: Instant,
    machines: u32,
}

pub(crate) fn options(network: &Network) -> LightOptions {
    let times = Times { speed: 50.0, ..Times::default() };
    LightOptions { network: network.cidr().parse().unwrap(), times, ..LightOptions::default() }
}

impl Rig {
    pub(crate) fn new(network: &Network) -> Self {
        Self::with(&options(network))
    }

    pub(crate) fn with(options: &LightOptions) -> Self {
        Self::over(LightGuests::new(options))
    }

    pub(crate) fn over(mut guests: LightGuests) -> Self {
        let (sender, reported) = GuestEvents::channel();
        guests.attach(sender);
        let control = guests.control();
        Self { guests, control, reported, events: Vec::new(), clock: Instant(Duration::ZERO), machines: 0 }
    }

    /// Switches a new machine on; its id is its name.
    pub(crate) fn start(&mut self, name: &str, user_data: &str) {
        let user_data = UserData { format: UserDataFormat::Ignition, content: user_data.to_owned() };
        self.start_with(name, Some(user_data));
    }

    pub(crate) fn start_with(&mut self, name: &str, user_data: Option<UserData>) {
        self.machines += 1;
        let [.., high, low] = self.machines.to_be_bytes();
        let machine = GuestMachine {
            id: name.to_owned(),
            name: name.to_owned(),
            hostname: None,
            cpus: 4,
            memory_mib: 16384,
            serial: None,
            disks: vec![GuestDisk { id: format!("{name}-disk"), size_bytes: 1 << 36, bootable: true, image: None }],
            nics: vec![GuestNic {
                name: "nic1".to_owned(),
                mac: format!("56:6f:1a:00:{high:02x}:{low:02x}"),
                network: "ovirtmgmt".to_owned(),
                address: None,
            }],
            user_data,
            boot_script: None,
        };
        self.command(GuestCommand::Start(Box::new(machine)));
        self.pass(Duration::from_secs(20));
    }

    pub(crate) fn command(&mut self, command: GuestCommand) {
        self.guests.command(self.clock, command);
    }

    pub(crate) fn stop(&mut self, name: &str) {
        self.command(GuestCommand::Stop { id: name.to_owned() });
    }

    /// Lets simulated time pass.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.clock = Instant(self.clock.0 + time);
        self.events.extend(self.guests.advance(self.clock));
    }

    /// All events so far.
    pub(crate) fn events(&mut self) -> &[GuestEvent] {
        while let Ok(event) = self.reported.try_recv() {
            self.events.push(event);
        }
        &self.events
    }

    pub(crate) fn has_booted(&mut self, name: &str) -> bool {
        self.events().contains(&GuestEvent::Booted { id: name.to_owned() })
    }

    pub(crate) async fn until_booted(&mut self, name: &str) {
        let deadline = Moment::now() + PATIENCE;
        while !self.has_booted(name) {
            assert!(Moment::now() < deadline, "{name} did not boot: {:#?}", self.control.console(name));
            pause().await;
        }
    }

    /// Waits until a machine has printed something.
    pub(crate) async fn until_printed(&self, name: &str, text: &str) {
        until(&format!("'{text}' on the console of {name}"), async || {
            let lines = self.control.console(name);
            if lines.iter().any(|line| line.contains(text)) { Ok(()) } else { Err(format!("{lines:#?}")) }
        })
        .await;
    }
}

/// Looks until there is something to be seen, and otherwise fails with the last evidence.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let deadline = Moment::now() + PATIENCE;
    loop {
        match look().await {
            Ok(found) => return found,
            Err(evidence) => assert!(Moment::now() < deadline, "{what} did not come; at the end: {evidence}"),
        }
        pause().await;
    }
}

/// Between two looks.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}
