//! Servers.

use serde::Serialize;

use super::{atom::Entry, path::Path, session::Client};
use crate::Error;

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedSystem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Machine type, model and serial number: `9009-42A*78A0001`.
    pub machine: String,
    /// In the console's word.
    pub state: String,
    /// Memory that partitions can have.
    pub memory_mib: u64,
    /// Memory that nobody has.
    pub free_memory_mib: u64,
    /// What memory comes in multiples of.
    pub memory_region_mib: u64,
    /// Processing units that partitions can have.
    pub processors: f64,
    /// Processing units that nobody has.
    pub free_processors: f64,
    /// Modes that partitions can run in.
    pub processor_modes: Vec<String>,
}

impl ManagedSystem {
    fn read(entry: &Entry) -> Self {
        let machine = |name: &str| entry.text(&format!("MachineTypeModelAndSerialNumber/{name}"));
        let memory =
            |name: &str| entry.number(&format!("AssociatedSystemMemoryConfiguration/{name}")).unwrap_or_default();
        let units =
            |name: &str| entry.number(&format!("AssociatedSystemProcessorConfiguration/{name}")).unwrap_or_default();
        let processors = entry.object.child("AssociatedSystemProcessorConfiguration");
        let modes = processors.into_iter().flat_map(|list| list.all("SupportedPartitionProcessorCompatibilityModes"));
        Self {
            id: entry.id.clone(),
            name: entry.text("SystemName"),
            machine: format!("{}-{}*{}", machine("MachineType"), machine("Model"), machine("SerialNumber")),
            state: entry.text("State"),
            memory_mib: memory("ConfigurableSystemMemory"),
            free_memory_mib: memory("CurrentAvailableSystemMemory"),
            memory_region_mib: memory("MemoryRegionSize"),
            processors: units("ConfigurableSystemProcessorUnits"),
            free_processors: units("CurrentAvailableSystemProcessorUnits"),
            processor_modes: modes.map(crate::xml::Element::text).collect(),
        }
    }
}

impl Client {
    /// All servers: one behind a NovaLink, several behind an HMC.
    pub async fn systems(&self) -> Result<Vec<ManagedSystem>, Error> {
        let entries = self.feed(&Path::feed("ManagedSystem")).await?;
        Ok(entries.iter().map(ManagedSystem::read).collect())
    }
}
