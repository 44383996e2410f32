//! `machines.json`: what `vms.yml` found out about the machines that it made.

use serde::{Deserialize, Serialize};

use crate::Error;

/// The machines as the engine made them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// One entry for each machine.
    pub machines: Vec<MadeMachine>,
}

/// A machine as the engine made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeMachine {
    /// Its name.
    pub name: String,
    /// The hardware address of its first network interface, in lower case.
    pub mac: String,
}

impl Made {
    /// Reads the file that the playbook wrote.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut made: Self = serde_json::from_slice(text)
            .map_err(|error| Error::Read { file: "machines.json", reason: error.to_string() })?;
        made.machines.iter_mut().for_each(|machine| machine.mac = machine.mac.to_lowercase());
        Ok(made)
    }

    /// The hardware address of a machine.
    pub fn mac(&self, name: &str) -> Option<&str> {
        self.machines.iter().find(|machine| machine.name == name).map(|machine| machine.mac.as_str())
    }
}
