//! Which VLANs this program has added to shared Ethernet adapters. Nothing on the platform says who did, and those that people have put
//! there stay, whether somebody uses them or not.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::compute::{Error, Host};

/// A file that outlives the program. Whoever uses it has the turn of the bridges.
#[derive(Debug)]
pub(in crate::compute) struct Ledger {
    file: PathBuf,
}

/// A VLAN of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Vlan {
    pub(super) switch: u32,
    pub(super) number: u16,
}

/// What is known of a VLAN that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stay {
    /// It stays while it is used.
    Needed,
    /// It is being removed, and perhaps is. If somebody uses it after all, it has to come back.
    Leaving,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    vlan: Vlan,
    stay: Stay,
}

impl Ledger {
    pub(in crate::compute) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    pub(super) fn all(&self, host: &Host) -> Result<BTreeMap<Vlan, Stay>, Error> {
        let lines: Vec<Line> = match std::fs::read(&self.file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| self.failed(host, error.into()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(self.failed(host, error)),
        };
        Ok(lines.into_iter().map(|line| (line.vlan, line.stay)).collect())
    }

    pub(super) fn note(&self, host: &Host, vlan: Vlan, stay: Stay) -> Result<(), Error> {
        let mut all = self.all(host)?;
        if all.insert(vlan, stay) == Some(stay) { Ok(()) } else { self.write(host, all) }
    }

    pub(super) fn forget(&self, host: &Host, vlan: Vlan) -> Result<(), Error> {
        let mut all = self.all(host)?;
        if all.remove(&vlan).is_none() { Ok(()) } else { self.write(host, all) }
    }

    /// Stored when it returns: a VLAN that is noted after the call that adds it may be one that nobody removes.
    fn write(&self, host: &Host, all: BTreeMap<Vlan, Stay>) -> Result<(), Error> {
        let lines: Vec<Line> = all.into_iter().map(|(vlan, stay)| Line { vlan, stay }).collect();
        let bytes = serde_json::to_vec(&lines).map_err(|error| self.failed(host, error.into()))?;
        let written = landfall_durable::write(&self.file, bytes, landfall_durable::Access::Public);
        written.map_err(|error| self.failed(host, error))
    }

    fn failed(&self, host: &Host, source: io::Error) -> Error {
        host.failed("keeping the list of VLANs that were added", crate::Error::File { path: self.file.clone(), source })
    }
}
