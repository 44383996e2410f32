//! Switching partitions on and off, politely first.

use landfall_platform::ErrorClass;
use serde::{Deserialize, Serialize};

use super::{Error, Host, PartitionId};
use crate::client::{Parameter, settled};

/// The partition is on already, in the words of each firmware.
const ALREADY_ON: [&str; 2] = ["HSCL3681", "PVME01042026"];
/// The partition is off already.
const ALREADY_OFF: [&str; 3] = ["HSCL1558", "PVME04000005", "PVME01050901"];
/// The operating system cannot be asked.
const UNREACHABLE: [&str; 3] = ["HSCL0DB4", "PVME01050905", "PVME01050402"];
/// When the platform takes the config drive out: minutes after the start.
const MEDIUM_MINUTES: &str = "60";

/// What power a partition is wished to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// Running.
    On,
    /// Off at once, as if its plug were pulled.
    Off,
    /// Off after its operating system was asked to end; if that does not help, as if its plug were pulled.
    ShutDown,
    /// Started afresh: the operating system is asked, and if that does not help, it is not.
    Reboot,
    /// Started afresh at once.
    Reset,
}

/// How a partition starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The name of the optical medium that is taken out when the operating system had time to read it.
    pub medium: Option<String>,
    /// Where IBM i loads itself from: `a` to `d`.
    pub ipl_source: Option<char>,
    /// How IBM i is started: `norm` or `manual`.
    pub keylock: Option<String>,
}

/// One way of switching off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The operating system is asked to end what it does.
    System,
    /// The operating system is told to end now.
    SystemNow,
    /// The virtual power button is pressed.
    Button,
    /// The virtual plug is pulled.
    Plug,
}

impl Way {
    fn parameters(self) -> Vec<(&'static str, Parameter<'static>)> {
        let operation = match self {
            Self::System | Self::SystemNow => "osshutdown",
            Self::Button | Self::Plug => "shutdown",
        };
        let mut parameters = vec![("operation", Parameter::Text(operation))];
        if matches!(self, Self::SystemNow | Self::Plug) {
            parameters.push(("immediate", Parameter::Text("true")));
        }
        parameters
    }

    fn asks_system(self) -> bool {
        matches!(self, Self::System | Self::SystemNow)
    }
}

/// Brings a partition into a state of power, and returns when it is there.
pub async fn power(host: &Host, id: &PartitionId, wish: Power) -> Result<(), Error> {
    let turn = host.turn(&format!("power {id}"));
    let _turn = turn.lock().await;
    match wish {
        Power::On => on(host, id, &Start::default()).await,
        Power::Off => off(host, id, &[Way::Plug], false).await,
        Power::ShutDown => off(host, id, &ladder(host, id).await?, false).await,
        Power::Reboot | Power::Reset if state(host, id).await? == "not activated" => {
            on(host, id, &Start::default()).await
        }
        Power::Reboot => off(host, id, &ladder(host, id).await?, true).await,
        Power::Reset => off(host, id, &[Way::Plug], true).await,
    }
}

/// Switches a partition on. That it is on is as good.
pub(super) async fn on(host: &Host, id: &PartitionId, start: &Start) -> Result<(), Error> {
    let mut parameters = Vec::new();
    if let Some(medium) = &start.medium {
        parameters.push(("remove_optical_name", Parameter::Text(medium)));
        parameters.push(("remove_optical_time", Parameter::Text(MEDIUM_MINUTES)));
    }
    let source = start.ipl_source.map(String::from);
    parameters.extend(source.iter().map(|source| ("iIPLsource", Parameter::Text(source.as_str()))));
    parameters.extend(start.keylock.iter().map(|keylock| ("keylock", Parameter::Text(keylock.as_str()))));
    let failed = |error| host.failed(format!("switching on partition {id}"), error);
    match host.client().run_job(&Host::path(id), "PowerOn", &parameters, host.jobs()).await {
        Ok(_) => Ok(()),
        Err(error) => {
            settled(Err(error), &ALREADY_ON).map_err(failed)?;
            started(host, id).await
        }
    }
}

/// Waits for a partition that somebody else has switched on, perhaps an attempt of ours whose reply was lost.
async fn started(host: &Host, id: &PartitionId) -> Result<(), Error> {
    let deadline = tokio::time::Instant::now() + host.jobs().timeout;
    while state(host, id).await? == "starting" {
        if tokio::time::Instant::now() >= deadline {
            let (what, whom) = (format!("partition {id}"), "a start that does not end".to_owned());
            return Err(Error::Busy { what, host: host.label(), whom });
        }
        tokio::time::sleep(host.jobs().interval).await;
    }
    Ok(())
}

/// Switches a partition off at once. That it is off, or not there, is as good.
pub(super) async fn unplug(host: &Host, id: &PartitionId) -> Result<(), Error> {
    match host.client().partition_state(id.as_str()).await {
        Ok(Some(state)) if state != "not activated" => pull(host, id).await,
        Ok(_) => Ok(()),
        Err(error) => Err(host.failed(format!("reading the state of partition {id}"), error)),
    }
}

/// The same, of one that is on as far as anybody knows.
pub(super) async fn pull(host: &Host, id: &PartitionId) -> Result<(), Error> {
    match off(host, id, &[Way::Plug], false).await {
        Err(error) if error.class() == ErrorClass::NotFound => Ok(()),
        outcome => outcome,
    }
}

async fn state(host: &Host, id: &PartitionId) -> Result<String, Error> {
    let state = host.client().partition_state(id.as_str()).await;
    let state = state.map_err(|error| host.failed(format!("reading the state of partition {id}"), error))?;
    state.ok_or_else(|| Error::Missing { what: format!("partition {id}"), host: host.label() })
}

/// The ways of switching a partition off, the most polite first. AIX and Linux are asked over RMC, if there is any; IBM i needs none.
async fn ladder(host: &Host, id: &PartitionId) -> Result<Vec<Way>, Error> {
    let entry = host.partition(id).await?;
    let entry = entry.ok_or_else(|| Error::Missing { what: format!("partition {id}"), host: host.label() })?;
    Ok(if entry.text("PartitionType") == "OS400" {
        vec![Way::System, Way::SystemNow, Way::Button, Way::Plug]
    } else if entry.text("ResourceMonitoringControlState") == "active" {
        vec![Way::SystemNow, Way::Button, Way::Plug]
    } else {
        vec![Way::Button, Way::Plug]
    })
}

/// Goes down the ladder until the partition is off. AIX or Linux that took too long gets no second chance: who hangs once hangs again.
/// IBM i does, for it may still be writing back what it has in memory.
async fn off(host: &Host, id: &PartitionId, ladder: &[Way], restart: bool) -> Result<(), Error> {
    let is_ibm_i = ladder.contains(&Way::System);
    let mut ways = ladder.iter().copied().peekable();
    while let Some(way) = ways.next() {
        let mut parameters = way.parameters();
        if restart {
            parameters.push(("restart", Parameter::Text("true")));
        }
        let done = host.client().run_job(&Host::path(id), "PowerOff", &parameters, host.jobs()).await;
        let error = match settled(done.map(drop), &ALREADY_OFF) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let failed = |error| host.failed(format!("switching off partition {id}"), error);
        match &error {
            crate::Error::JobTimeout { .. } if way.asks_system() && !is_ibm_i => {
                while ways.next_if(|next| *next != Way::Plug).is_some() {}
            }
            crate::Error::Job { message, .. }
                if way.asks_system() && UNREACHABLE.iter().any(|code| message.contains(code)) =>
            {
                while ways.next_if(|next| next.asks_system()).is_some() {}
            }
            crate::Error::JobTimeout { .. } | crate::Error::Job { .. } if ways.peek().is_some() => {}
            _ => return Err(failed(error)),
        }
    }
    Ok(())
}
