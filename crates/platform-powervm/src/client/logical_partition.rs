//! Logical partitions.

use std::fmt::Display;

use serde::Serialize;

use super::{
    UOM,
    atom::Entry,
    job::{JobLimits, Parameter},
    path::Path,
    session::Client,
};
use crate::Error;
use crate::xml::Element;

/// A logical partition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogicalPartition {
    /// Its id.
    pub id: String,
    /// Its number on its server. Numbers of deleted partitions are used again.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// `AIX/Linux`, `OS400` or `Virtual IO Server`.
    pub kind: String,
    /// In the console's word: `running`, `not activated`, ….
    pub state: String,
    /// The state of the connection to its operating system: without one that is `active`, a running partition cannot be changed.
    pub rmc: String,
    /// Memory.
    pub memory_mib: u64,
    /// Virtual processors, or whole ones if they are dedicated.
    pub processors: u32,
    /// Processing units.
    pub processing_units: f64,
    /// What runs in it, if that is known.
    pub operating_system: String,
    /// Whether this is where the console itself runs.
    pub is_management: bool,
}

impl LogicalPartition {
    /// Reads a partition of any kind.
    pub fn read(entry: &Entry) -> Self {
        let processors = |path: &str| entry.text(&format!("PartitionProcessorConfiguration/{path}"));
        let dedicated = processors("HasDedicatedProcessors") == "true";
        let (count, units) = if dedicated {
            let count = processors("DedicatedProcessorConfiguration/DesiredProcessors");
            (count.clone(), count)
        } else {
            let shared = |name: &str| processors(&format!("SharedProcessorConfiguration/{name}"));
            (shared("DesiredVirtualProcessors"), shared("DesiredProcessingUnits"))
        };
        Self {
            id: entry.id.clone(),
            number: entry.number("PartitionID").unwrap_or_default(),
            name: entry.text("PartitionName"),
            kind: entry.text("PartitionType"),
            state: entry.text("PartitionState"),
            rmc: entry.text("ResourceMonitoringControlState"),
            memory_mib: entry.number("PartitionMemoryConfiguration/DesiredMemory").unwrap_or_default(),
            processors: count.parse().unwrap_or_default(),
            processing_units: units.parse().unwrap_or_default(),
            operating_system: entry.text("OperatingSystemVersion"),
            is_management: entry.is("IsManagementPartition"),
        }
    }
}

/// A partition to be made: shared processors, uncapped.
#[derive(Clone, Debug)]
pub struct LogicalPartitionSpec {
    /// The id that it will have, which the caller chooses so that a lost reply does no harm.
    pub id: uuid::Uuid,
    /// Its name: 1 to 31 characters.
    pub name: String,
    /// Memory, a multiple of the server's region.
    pub memory_mib: u64,
    /// Virtual processors.
    pub processors: u32,
    /// Processing units.
    pub processing_units: f64,
}

impl LogicalPartitionSpec {
    /// The id as the platform writes it: upper case, the first bit clear.
    pub fn platform_id(&self) -> String {
        partition_id(self.id)
    }

    /// The document that asks for it, in the order of the schema.
    pub fn document(&self) -> Element {
        let metadata =
            Element::new("Metadata").with(Element::new("Atom").with(Element::text_of("AtomID", self.platform_id())));
        let units = format!("{:.2}", self.processing_units);
        let shared = record(
            "SharedProcessorConfiguration",
            &[
                ("DesiredProcessingUnits", &units),
                ("DesiredVirtualProcessors", &self.processors),
                ("MaximumProcessingUnits", &units),
                ("MaximumVirtualProcessors", &self.processors),
                ("MinimumProcessingUnits", &units),
                ("MinimumVirtualProcessors", &self.processors),
                ("SharedProcessorPoolID", &0),
                ("UncappedWeight", &128),
            ],
        );
        let memory = &self.memory_mib;
        Element::new("LogicalPartition")
            .with_attribute("xmlns", UOM)
            .with_attribute("schemaVersion", "V1_0")
            .with(metadata)
            .with(record("PartitionIOConfiguration", &[("MaximumVirtualIOSlots", &64)]))
            .with(record(
                "PartitionMemoryConfiguration",
                &[("DesiredMemory", memory), ("MaximumMemory", memory), ("MinimumMemory", memory)],
            ))
            .with(Element::text_of("PartitionName", &self.name))
            .with(
                record("PartitionProcessorConfiguration", &[("HasDedicatedProcessors", &false)])
                    .with(shared)
                    .with(Element::text_of("SharingMode", "uncapped")),
            )
            .with(Element::text_of("PartitionType", "AIX/Linux"))
            .with(Element::text_of("PartitionUUID", self.platform_id()))
    }
}

/// The id of a partition as the platform writes it: upper case, the first bit clear.
pub(crate) fn partition_id(id: uuid::Uuid) -> String {
    let mut bytes = *id.as_bytes();
    bytes[0] &= 0x7f;
    uuid::Uuid::from_bytes(bytes).to_string().to_uppercase()
}

/// A structure of texts, with the empty metadata that every structure begins with.
pub(crate) fn record(name: &str, fields: &[(&str, &dyn Display)]) -> Element {
    let mut element = Element::new(name)
        .with_attribute("schemaVersion", "V1_0")
        .with(Element::new("Metadata").with(Element::new("Atom")));
    for (name, value) in fields {
        element.push(Element::text_of(name, value));
    }
    element
}

impl Client {
    /// All logical partitions.
    pub async fn partitions(&self) -> Result<Vec<LogicalPartition>, Error> {
        let entries = self.feed(&Path::feed("LogicalPartition")).await?;
        Ok(entries.iter().map(LogicalPartition::read).collect())
    }

    /// The partition of a name, if there is one.
    pub async fn partition_named(&self, name: &str) -> Result<Option<LogicalPartition>, Error> {
        let found = self.search("LogicalPartition", "PartitionName", name).await?;
        Ok(found.first().map(LogicalPartition::read))
    }

    /// Makes a partition on a server.
    pub async fn create_partition(&self, system: &str, spec: &LogicalPartitionSpec) -> Result<LogicalPartition, Error> {
        let feed = Path::entry("ManagedSystem", system).child("LogicalPartition");
        Ok(LogicalPartition::read(&self.create(&feed, &spec.document()).await?))
    }

    /// Deletes a partition, which must be off. That it is not there is as good.
    pub async fn delete_partition(&self, id: &str) -> Result<(), Error> {
        self.delete(&Path::entry("LogicalPartition", id)).await
    }

    /// Switches a partition on. That it is on is as good.
    pub async fn power_on(&self, id: &str, limits: JobLimits) -> Result<(), Error> {
        let target = Path::entry("LogicalPartition", id);
        let outcome = self.run_job(&target, "PowerOn", &[], limits).await;
        settled(outcome.map(drop), &["HSCL3681", "PVME01042026"])
    }

    /// Switches a partition off at once, as if the plug were pulled. That it is off is as good.
    pub async fn power_off(&self, id: &str, limits: JobLimits) -> Result<(), Error> {
        let target = Path::entry("LogicalPartition", id);
        let parameters = [("operation", Parameter::Text("shutdown")), ("immediate", Parameter::Text("true"))];
        let outcome = self.run_job(&target, "PowerOff", &parameters, limits).await;
        settled(outcome.map(drop), &["HSCL1558", "PVME04000005", "PVME01050901"])
    }
}

/// A job that failed because there was nothing to do has succeeded. The console says so by these codes only.
pub(crate) fn settled(outcome: Result<(), Error>, codes: &[&str]) -> Result<(), Error> {
    match outcome {
        Err(Error::Job { message, .. }) if codes.iter().any(|code| message.contains(code)) => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_first_bit_clear() {
        let spec = LogicalPartitionSpec {
            id: uuid::Uuid::from_bytes([0xff; 16]),
            name: "a".to_owned(),
            memory_mib: 1024,
            processors: 1,
            processing_units: 0.1,
        };
        assert_eq!(spec.platform_id(), "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF");
        assert!(spec.document().to_string().contains("<DesiredProcessingUnits>0.10</DesiredProcessingUnits>"));
    }
}
